import { assert } from "@gossip/stdx";

/** Assert that a value is an object, so that taking it apart cannot fail. `what` is the argument's name in the message. */
export function assertObject(value: unknown, what: string): asserts value is object {
  assert(typeof value === "object" && value !== null, () => `${what} must be an object, got ${value === null ? "null" : typeof value}`);
}
