import { assert } from "@gossip/stdx";
import { MAX_ID_LENGTH } from "./limits.ts";

/** Assert that a value can be a node id or a migration id. `what` is the argument's name in the message. */
export function assertId(value: unknown, what: string): asserts value is string {
  // Every route calls this, so the message is built only on failure.
  if (typeof value !== "string" || value.length > MAX_ID_LENGTH) refuse(value, what);
}

function refuse(value: unknown, what: string): never {
  if (typeof value === "string") assert(false, `${what} must be at most ${MAX_ID_LENGTH} long, got ${value.length}`);
  assert(false, `${what} must be a string, got ${value === null ? "null" : typeof value}`);
}
