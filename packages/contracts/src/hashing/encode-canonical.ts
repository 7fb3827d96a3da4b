import type { CanonicalWriter } from "./canonical-writer.ts";
import { assertCursor, type Cursor } from "../cursors/cursor.ts";
import { assertShardKey, type ShardKey } from "../ids/shard-key.ts";
import { readShardSpec, type ShardSpecRef } from "../specs/shard-spec-ref.ts";
import { readReplacePlan, type SplitReplacePlan } from "../splits/split-replace-plan.ts";
import { readResidualPlan, type SplitResidualPlan } from "../splits/split-residual-plan.ts";
import { byStart } from "../splits/validate-split.ts";

const ABSENT = 0;
const PRESENT = 1;

/** Run, then shard. */
export function encodeShardKeyInto(key: ShardKey, out: CanonicalWriter): void {
  assertShardKey(key);
  out.u64(key.run);
  out.u64(key.shard);
}

/** Last key, then token. Each is a byte 0 if absent, else a byte 1, the length and the bytes. */
export function encodeCursorInto(cursor: Cursor, out: CanonicalWriter): void {
  assertCursor(cursor);
  encodeOptionalBytesInto(cursor.lastKey, out);
  encodeOptionalBytesInto(cursor.token, out);
}

/** Start, end, metadata, each after its length. */
export function encodeShardSpecInto(spec: ShardSpecRef, out: CanonicalWriter): void {
  const { keyRangeStart, keyRangeEnd, metadata } = readShardSpec(spec);
  out.bytes(keyRangeStart);
  out.bytes(keyRangeEnd);
  out.bytes(metadata);
}

function encodeOptionalBytesInto(bytes: Uint8Array | undefined, out: CanonicalWriter): void {
  out.u8(bytes === undefined ? ABSENT : PRESENT);
  if (bytes !== undefined) out.bytes(bytes);
}

/**
 * The number of children, then spec and cursor of each, by range start.
 *
 * Sorted, because a retry that lists the children in another order asks for the same split. Children with equal starts,
 * which no valid plan has, stay as listed.
 */
export function encodeSplitReplacePlanInto(plan: SplitReplacePlan, out: CanonicalWriter): void {
  const children = readReplacePlan(plan);
  out.u32(children.length);
  for (const { index } of byStart(children.map((child) => child.spec))) {
    const { spec, cursor } = children[index]!;
    encodeShardSpecInto(spec, out);
    encodeCursorInto(cursor, out);
  }
}

/** The parent's new spec, then the residual's. */
export function encodeSplitResidualPlanInto(plan: SplitResidualPlan, out: CanonicalWriter): void {
  const { parentNewSpec, residualSpec } = readResidualPlan(plan);
  encodeShardSpecInto(parentNewSpec, out);
  encodeShardSpecInto(residualSpec, out);
}
