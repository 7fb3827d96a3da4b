import { assert } from "./assert.ts";
import { nameType } from "./name-type.ts";

/** The whole numbers that a count, size or index may be, both ends included. */
export interface CountBounds {
  readonly min: number;
  readonly max: number;
}

/**
 * Assert that a value is a whole number within bounds.
 *
 * `what` is the argument's name in the message.
 */
export function assertCount(value: unknown, what: string, bounds: CountBounds): asserts value is number {
  if (Number.isInteger(value) && (value as number) >= bounds.min && (value as number) <= bounds.max) return;
  assert(false, `${what} must be a whole number from ${bounds.min} to ${bounds.max}, got ${nameType(value)}`);
}
