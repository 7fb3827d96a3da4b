import { U64_MAX } from "@gossip/contracts";
import { assert } from "@gossip/stdx";

/** Whether a value is a bigint of 64 bits without a sign. */
export function isU64(value: unknown): value is bigint {
  return typeof value === "bigint" && value >= 0n && value <= U64_MAX;
}

/** Asserts the same; `what` starts the message. */
export function assertU64(value: unknown, what: string): asserts value is bigint {
  if (!isU64(value)) refuse(value, what);
}

// Apart from the check, so that the check is small enough to be inlined wherever it is called.
function refuse(value: unknown, what: string): never {
  assert(false, `${what} must be a bigint from 0 to 2^64 - 1, got ${inWords(value)}`);
}

function inWords(value: unknown): string {
  if (typeof value !== "bigint") return `a value of type ${typeof value}`;
  return value < 0n ? "a negative one" : "a larger one";
}
