import { assert } from "./assert.ts";
import { nameType } from "./name-type.ts";

/** Asserts that a value is iterable. `what` is the argument's name in the message. */
export function assertIterable(value: unknown, what: string): asserts value is Iterable<unknown> {
  assert(isIterable(value), () => `${what} must be iterable, got ${nameType(value)}`);
}

function isIterable(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  return typeof (value as Partial<Iterable<unknown>>)[Symbol.iterator] === "function";
}
