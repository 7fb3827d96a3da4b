import { compareBytes } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { assertCursor, type Cursor } from "./cursor.ts";
import { readShardSpec, type ShardSpecRef } from "../specs/shard-spec-ref.ts";

/**
 * How a cursor moved.
 *
 * - `Forward`     — to a greater key, to the same key, or from no key to any.
 * - `Regression`  — to a smaller key.
 * - `ResetToNone` — from a key to none.
 */
export type CursorAdvance = "Forward" | "Regression" | "ResetToNone";

/** Where a cursor's key lies in a range, which includes its start and excludes its end. `NoKey` is never out of bounds. */
export type CursorBounds = "NoKey" | "InBounds" | "BelowRange" | "AboveRange";

/** Returns how the cursor moved. Ignores tokens. */
export function checkCursorAdvance(move: { readonly current: Cursor; readonly next: Cursor }): CursorAdvance {
  assertObject(move, "cursor move");
  assertCursor(move.current);
  assertCursor(move.next);
  const currentKey = move.current.lastKey;
  const nextKey = move.next.lastKey;

  if (currentKey === undefined) return "Forward";
  if (nextKey === undefined) return "ResetToNone";
  return compareBytes(nextKey, currentKey) < 0 ? "Regression" : "Forward";
}

/** Returns where the cursor lies relative to the range of `spec`. */
export function checkCursorBounds(cursor: Cursor, spec: ShardSpecRef): CursorBounds {
  assertCursor(cursor);
  const read = readShardSpec(spec);
  return cursor.lastKey === undefined ? "NoKey" : locateKey(cursor.lastKey, read);
}

/** Where a key lies in the range of a spec that `readShardSpec` returned. */
export function locateKey(key: Uint8Array, spec: ShardSpecRef): CursorBounds {
  const { keyRangeStart: start, keyRangeEnd: end } = spec;
  if (compareBytes(key, start) < 0) return "BelowRange";
  return end.length > 0 && compareBytes(key, end) >= 0 ? "AboveRange" : "InBounds";
}
