import { InvariantViolation } from "./assert.ts";
import { nameType } from "./name-type.ts";

/**
 * Throws `InvariantViolation` unless `value` is an object, so that reading its fields cannot fail.
 *
 * `noun` starts the message. The message contains the type of the value and none of its content.
 */
export function assertObject(value: unknown, noun: string): asserts value is object {
  // Some callers are hot. A closure for the message here would be one allocation per call.
  if (typeof value !== "object" || value === null) refuse(value, noun);
}

function refuse(value: unknown, noun: string): never {
  throw new InvariantViolation(`${noun} must be an object, got ${nameType(value)}`);
}
