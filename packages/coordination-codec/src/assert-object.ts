import { assert } from "@gossip/stdx";

/** Throw unless `value` can have fields. For callers that no compiler checked. */
export function assertObject(value: unknown, what: string): asserts value is object {
  if (typeof value !== "object" || value === null) refuse(value, what);
}

// Separate from the check, so that the check creates no closure for a message that is rarely needed.
function refuse(value: unknown, what: string): never {
  assert(false, `${what} must be an object, got ${value === null ? "null" : typeof value}`);
}
