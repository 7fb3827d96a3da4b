import { assert } from "@gossip/stdx";
import { MAX_ID_LENGTH } from "./limits.ts";

/** Assert that a value can be a node id or a migration id. `what` is the argument's name in the message. */
export function assertId(value: unknown, what: string): asserts value is string {
  assert(typeof value === "string", () => `${what} must be a string, got ${value === null ? "null" : typeof value}`);
  assert(value.length <= MAX_ID_LENGTH, () => `${what} must be at most ${MAX_ID_LENGTH} long, got ${value.length}`);
}
