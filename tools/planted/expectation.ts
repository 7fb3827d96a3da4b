// As much of `expect` as the conformance kit asks for: the tool runs it in a bare process, many times over.
import { inspect } from "node:util";
import type { Expect } from "../../packages/coordination/src/testing/conformance/test-runner.ts";

/** Throws where something is not as expected. */
export const expectation: Expect = (actual) => ({
  toBe: (expected) => require(Object.is(actual, expected), actual, expected),
  toEqual: (expected) => require(matches(actual, expected, { isExact: true }), actual, expected),
  toMatchObject: (expected) => require(matches(actual, expected, { isExact: false }), actual, expected),
  toBeGreaterThan: (expected) => require((actual as number | bigint) > expected, actual, expected),
});

function require(isAsExpected: boolean, actual: unknown, expected: unknown): void {
  if (!isAsExpected)
    throw new Error(`expected ${inspect(expected, { depth: 4 })}, got ${inspect(actual, { depth: 4 })}`);
}

/** Whether two values say the same. What is undefined is as good as absent; what `isExact` leaves out may also be there. */
function matches(actual: unknown, expected: unknown, how: { readonly isExact: boolean }): boolean {
  if (Object.is(actual, expected)) return true;
  if (typeof actual !== "object" || typeof expected !== "object" || actual === null || expected === null) return false;
  if (isList(actual) || isList(expected)) return matchesList(actual, expected, how);
  if (expected instanceof Map || expected instanceof Set) {
    return (
      actual.constructor === expected.constructor && matchesList([...(actual as Set<unknown>)], [...expected], how)
    );
  }
  const keys = new Set([...Object.keys(expected), ...(how.isExact ? Object.keys(actual) : [])]);
  return [...keys].every((key) => matches(read(actual, key), read(expected, key), how));
}

function matchesList(actual: object, expected: object, how: { readonly isExact: boolean }): boolean {
  const isSameSort =
    Array.isArray(actual) === Array.isArray(expected) && ArrayBuffer.isView(actual) === ArrayBuffer.isView(expected);
  if (!isSameSort || read(actual, "length") !== read(expected, "length")) return false;
  return Object.keys(expected).every((index) => matches(read(actual, index), read(expected, index), how));
}

function isList(value: object): boolean {
  return ArrayBuffer.isView(value) || Array.isArray(value);
}

function read(value: object, key: string): unknown {
  return (value as Record<string, unknown>)[key];
}
