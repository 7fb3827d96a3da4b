import { assert } from "@gossip/stdx";

/** Assert that a value is an object, so that taking it apart cannot fail. `what` is the argument's name in the message. */
export function assertObject(value: unknown, what: string): asserts value is object {
  // Some of the callers are hot: the message, and its closure, are made only where they are needed.
  if (typeof value !== "object" || value === null) refuse(value, what);
}

function refuse(value: unknown, what: string): never {
  assert(false, `${what} must be an object, got ${value === null ? "null" : typeof value}`);
}
