import { U64_MAX } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import { HALVES, HIGH, LOW, WHOLE } from "@gossip/stdx/internal";
import type { EnumField } from "./enum-field.ts";

/** Put the eight bytes of an integer at `at`. What is no u64 is an `InvariantViolation`, and nothing is put. */
export function putU64(view: DataView, at: number, value: bigint, field: string): void {
  if (typeof value !== "bigint" || value < 0n || value > U64_MAX) refuseU64(value, field);
  WHOLE[0] = value;
  view.setUint32(at, HALVES[LOW]!, true);
  view.setUint32(at + 4, HALVES[HIGH]!, true);
}

/** The number of a name. What is none of the field's names is an `InvariantViolation`. */
export function codeOf<Name extends string>({ field, names, codes }: EnumField<Name>, name: Name): number {
  // They are a handful, and the first is nearly always the one: a property that is looked up by a name takes ten times as long.
  if (typeof name === "string") for (let code = 0; code < names.length; code++) if (names[code] === name) return code;
  return refuseName(field, Object.keys(codes));
}

// Apart from the checks, so that those are small enough to be inlined wherever they are called, and make no closure for a
// message that is hardly ever told.
function refuseName(field: string, allowed: readonly string[]): never {
  assert(false, `${field} must be one of ${allowed.join(", ")}`);
}

function refuseU64(value: unknown, field: string): never {
  assert(typeof value === "bigint", () => `${field} must be a bigint, got a value of type ${typeof value}`);
  assert(false, `${field} must be a bigint from 0 to 2^64 - 1`);
}
