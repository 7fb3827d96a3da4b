import { InvariantViolation } from "@gossip/stdx";
import { nameType } from "@gossip/stdx/internal";

/** Throw unless `value` is an object whose fields can be read. */
export function assertObject(value: unknown, noun: string): asserts value is object {
  // Out of line, so that the common case makes no message.
  if (typeof value !== "object" || value === null) refuse(value, noun);
}

function refuse(value: unknown, noun: string): never {
  throw new InvariantViolation(`${noun} is an object, got ${nameType(value)}`);
}
