import { InvariantViolation } from "@gossip/stdx";
import { nameType } from "@gossip/stdx/internal";

/**
 * Reads each item of an array once. Throws unless it is an array.
 *
 * Uses a loop, because `map` skips holes: `[, item]` would leave one in the result.
 */
export function readArray<T>(value: unknown, noun: string, readItem: (item: unknown) => T): T[] {
  const items: readonly unknown[] = assertArray(value, noun);
  const read: T[] = [];
  for (let index = 0; index < items.length; index++) read.push(readItem(items[index]));
  return read;
}

/** Throws unless `value` is an array, and returns it. */
export function assertArray(value: unknown, noun: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new InvariantViolation(`${noun} must be an array, got ${nameType(value)}`);
}
