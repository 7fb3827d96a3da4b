import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/**
 * Expect two values to be the same throughout, fields that are `undefined` included.
 *
 * `toEqual` takes a millisecond for each large key; it is asked only for the
 * difference, once there is one.
 */
export function expectSame(actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  expect(actual).toEqual(expected);
  expect.fail("the values differ in a field that is undefined in one of them, or in a prototype");
}
