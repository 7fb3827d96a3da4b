import { U64_MAX } from "@gossip/contracts";
import type { OpLogEntry } from "@gossip/coordination";
import { assert } from "@gossip/stdx";
import { assertObject, HALVES, HIGH, LOW, WHOLE } from "@gossip/stdx/internal";
import { OP_KIND, OP_RESULT, type EnumField } from "./enum-field.ts";

/** Writes an entry of a shard's log at `at`: `OP_SIZE` bytes. */
export function putOp(view: DataView, at: number, entry: OpLogEntry): void {
  assertObject(entry, "opLog entry");
  putU64(view, at, entry.opId, "opLog.opId");
  view.setUint8(at + 8, codeOf(OP_KIND, entry.kind));
  view.setUint8(at + 9, codeOf(OP_RESULT, entry.result));
  putU64(view, at + 10, entry.payloadHash, "opLog.payloadHash");
  putU64(view, at + 18, entry.executedAt, "opLog.executedAt");
}

/** Writes an integer at `at`: eight bytes. */
export function putU64(view: DataView, at: number, value: bigint, field: string): void {
  if (typeof value !== "bigint" || value < 0n || value > U64_MAX) refuseU64(value, field);
  WHOLE[0] = value;
  view.setUint32(at, HALVES[LOW]!, true);
  view.setUint32(at + 4, HALVES[HIGH]!, true);
}

/** The code of a name. */
export function codeOf<Name extends string>({ field, names, codes }: EnumField<Name>, name: Name): number {
  // There are few names, and the first is the most frequent: a lookup by name takes ten times as long.
  if (typeof name === "string") for (let code = 0; code < names.length; code++) if (names[code] === name) return code;
  return refuseName(field, Object.keys(codes));
}

// Separate from the checks, so that these stay small and create no closure for a message that is rarely needed.
function refuseName(field: string, allowed: readonly string[]): never {
  assert(false, `${field} must be one of ${allowed.join(", ")}`);
}

function refuseU64(value: unknown, field: string): never {
  assert(typeof value === "bigint", () => `${field} must be a bigint, got a value of type ${typeof value}`);
  assert(false, `${field} must be a bigint from 0 to 2^64 - 1`);
}
