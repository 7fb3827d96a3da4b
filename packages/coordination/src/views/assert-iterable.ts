import { assert } from "@gossip/stdx";

/** Throws unless `value` is iterable. */
export function assertIterable<Item>(value: Iterable<Item>, noun: string): void {
  const isIterable = typeof value === "object" && value !== null && typeof value[Symbol.iterator] === "function";
  assert(
    isIterable,
    () => `${noun} must be iterable, got ${value === null ? "null" : `a value of type ${typeof value}`}`,
  );
}
