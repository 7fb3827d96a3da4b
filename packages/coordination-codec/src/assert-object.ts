import { assert } from "@gossip/stdx";

/** Throw unless `value` can have fields. For callers that no compiler checked. */
export function assertObject(value: unknown, what: string): asserts value is object {
  assert(typeof value === "object" && value !== null, () => `${what} must be an object, got ${value === null ? "null" : typeof value}`);
}
