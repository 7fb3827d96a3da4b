import { MAX_KEY_SIZE, MAX_TOKEN_SIZE, type Cursor } from "@gossip/contracts";
import { coordError, type CoordError } from "@gossip/coordination-errors";
import { compareBytes, err, ok, type Result } from "@gossip/stdx";
import { isInRange } from "../records/is-in-range.ts";
import type { ShardRecord } from "../records/shard-record.ts";

/** Why a cursor can be refused. */
export type CursorRefusal = CoordError<
  "CheckpointMissingKey" | "CursorKeyTooLarge" | "CursorTokenTooLarge" | "CursorRegression" | "CursorOutOfBounds"
>;

/**
 * Checks that a cursor may replace that of the record.
 *
 * Checks, in this order, from what the caller can act on best: there is a key; key and token are not too large; the key
 * does not go back, over the whole life of the shard; the key lies in the range. Repeating the key is allowed: that is
 * how a connector stores a new token.
 */
export function validateCursorUpdate(record: ShardRecord, cursor: Cursor): Result<void, CursorRefusal> {
  const move = judgeCursorUpdate(record, cursor);
  return move.ok ? ok() : move;
}

// Shared, so that a success allocates nothing.
const FURTHER: Result<boolean, never> = /* @__PURE__ */ Object.freeze({ ok: true, value: true });
const NO_FURTHER: Result<boolean, never> = /* @__PURE__ */ Object.freeze({ ok: true, value: false });

/** Like `validateCursorUpdate`, and returns whether the key is greater than that of the record. */
export function judgeCursorUpdate(record: ShardRecord, cursor: Cursor): Result<boolean, CursorRefusal> {
  const { lastKey, token } = cursor;
  if (lastKey === undefined) return err(coordError("CheckpointMissingKey"));
  if (lastKey.length > MAX_KEY_SIZE) {
    return err(coordError("CursorKeyTooLarge", { size: lastKey.length, max: MAX_KEY_SIZE }));
  }
  if (token !== undefined && token.length > MAX_TOKEN_SIZE) {
    return err(coordError("CursorTokenTooLarge", { size: token.length, max: MAX_TOKEN_SIZE }));
  }
  const oldKey = record.cursor.lastKey;
  const distance = oldKey === undefined ? 1 : compareBytes(lastKey, oldKey);
  if (distance < 0) return err(coordError("CursorRegression", { oldKey: oldKey!.length, newKey: lastKey.length }));
  if (isInRange(lastKey, record.spec)) return distance > 0 ? FURTHER : NO_FURTHER;
  const { keyRangeStart, keyRangeEnd } = record.spec;
  return err(
    coordError("CursorOutOfBounds", {
      lastKey: lastKey.length,
      specStart: keyRangeStart.length,
      specEnd: keyRangeEnd.length,
    }),
  );
}
