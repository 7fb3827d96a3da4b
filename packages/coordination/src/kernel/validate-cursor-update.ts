import { MAX_KEY_SIZE, MAX_TOKEN_SIZE, type Cursor } from "@gossip/contracts";
import { coordError, type CoordError } from "@gossip/coordination-errors";
import { compareBytes, err, ok, type Result } from "@gossip/stdx";
import { isInRange } from "../records/is-in-range.ts";
import type { ShardRecord } from "../records/shard-record.ts";

/** The ways in which a cursor can be refused. */
export type CursorRefusal = CoordError<
  "CheckpointMissingKey" | "CursorKeyTooLarge" | "CursorTokenTooLarge" | "CursorRegression" | "CursorOutOfBounds"
>;

/**
 * Check that a cursor may take the place of the record's.
 *
 * In this order, which names first what the caller can best act on: there is a key;
 * key and token are not too large; the key does not go back, over the whole life of
 * the shard; the key lies in the range. The same key again is no step back: that is how
 * a connector stores a new token.
 */
export function validateCursorUpdate(record: ShardRecord, cursor: Cursor): Result<void, CursorRefusal> {
  const move = judgeCursorUpdate(record, cursor);
  return move.ok ? ok() : move;
}

// Shared by all that succeed, which then allocate nothing.
const FURTHER: Result<boolean, never> = /* @__PURE__ */ Object.freeze({ ok: true, value: true });
const NO_FURTHER: Result<boolean, never> = /* @__PURE__ */ Object.freeze({ ok: true, value: false });

/** `validateCursorUpdate`, and whether the cursor lies further than the record's. The same key again is no advance. */
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
