import { assert } from "@gossip/stdx";

/** Throw unless `value` is an object whose fields can be read. The complaint says what it is, never what is in it. */
export function assertObject(value: unknown, noun: string): asserts value is object {
  assert(typeof value === "object" && value !== null, () => `${noun} must be an object, got ${typeInWords(value)}`);
}

/** Throw unless `value` is an array. */
export function assertArray(value: unknown, noun: string): asserts value is readonly unknown[] {
  assert(Array.isArray(value), () => `${noun} must be an array, got ${typeInWords(value)}`);
}

function typeInWords(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return `a value of type ${typeof value}`;
}
