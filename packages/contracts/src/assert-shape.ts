import { InvariantViolation } from "@gossip/stdx";

/** Throw unless `value` is an object whose fields can be read. The complaint says what it is, never what is in it. */
export function assertObject(value: unknown, noun: string): asserts value is object {
  // The complaint is made elsewhere: a closure for it here would be an allocation a call.
  if (typeof value !== "object" || value === null) refuse(value, `${noun} must be an object`);
}

/**
 * Read each item of an array once, and throw unless it is an array.
 *
 * A loop, because `map` steps over holes: `[, item]` would leave one behind for a
 * later line to trip over.
 */
export function readArray<T>(value: unknown, noun: string, readItem: (item: unknown) => T): T[] {
  const items: readonly unknown[] = assertArray(value, noun);
  const read: T[] = [];
  for (let index = 0; index < items.length; index++) read.push(readItem(items[index]));
  return read;
}

/** Throw unless `value` is an array, and return it. */
export function assertArray(value: unknown, noun: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(value, `${noun} must be an array`);
}

function refuse(value: unknown, rule: string): never {
  throw new InvariantViolation(`${rule}, got ${typeInWords(value)}`);
}

function typeInWords(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return `a value of type ${typeof value}`;
}
