import {
  MAX_KEY_SIZE,
  MAX_METADATA_SIZE,
  MAX_SPAWNED_PER_SHARD,
  MAX_TOKEN_SIZE,
  validateShardSpec,
} from "@gossip/contracts";
import type { LeaseHolder, ShardRecord } from "@gossip/coordination";
import { assert } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { CURSOR_SEMANTICS, PARK_REASON, STATUS } from "./enum-field.ts";
import { assertWritable, encodeAlone, type RecordWriter } from "./record-writer.ts";
import { findStoredShardFault } from "./stored-faults.ts";

/**
 * Encodes a shard's record in the newest version.
 *
 * Throws `InvariantViolation` if the record breaks a rule: no decoder would ever return it.
 */
export function encodeShardRecord(record: ShardRecord): Uint8Array {
  const bytes = encodeAlone(record, encodeShardRecordInto);
  assert(validateShardSpec(record.spec).ok, "spec must hold a key between its bounds");
  const fault = findStoredShardFault(record);
  assert(fault === undefined, () => `shard record is not in order: ${fault}`);
  return bytes;
}

/**
 * Appends a shard's record to `out`.
 *
 * Throws `InvariantViolation`, and leaves `out` as before, if a field has the wrong type. Does not check the fields
 * against each other: the kernel does so before it returns a record, and it takes longer than encoding.
 */
export function encodeShardRecordInto(record: ShardRecord, out: RecordWriter): void {
  assertWritable(record, "shard record", out);
  out.begin("Shard");
  out.tenant(record.tenant);
  out.u64(record.run, "run");
  out.u64(record.shard, "shard");
  out.code(STATUS, record.status);
  out.bool(record.parkReason !== undefined);
  if (record.parkReason !== undefined) out.code(PARK_REASON, record.parkReason);
  writeSpec(record, out);
  writeCursor(record, out);
  out.code(CURSOR_SEMANTICS, record.cursorSemantics);
  out.bool(record.lease !== undefined);
  if (record.lease !== undefined) writeLease(record.lease, out);
  out.u64(record.fenceEpoch, "fenceEpoch");
  out.bool(record.parent !== undefined);
  if (record.parent !== undefined) out.u64(record.parent, "parent");
  out.ids(record.spawned, "spawned", MAX_SPAWNED_PER_SHARD);
  out.opLog(record.opLog);
  out.u64(record.lastTime, "lastTime");
  out.u32(record.attempts, "attempts");
  out.seal();
}

function writeSpec({ spec }: ShardRecord, out: RecordWriter): void {
  assertObject(spec, "spec");
  out.bytes(spec.keyRangeStart, "spec.keyRangeStart", MAX_KEY_SIZE);
  out.bytes(spec.keyRangeEnd, "spec.keyRangeEnd", MAX_KEY_SIZE);
  out.bytes(spec.metadata, "spec.metadata", MAX_METADATA_SIZE);
}

function writeCursor({ cursor }: ShardRecord, out: RecordWriter): void {
  assertObject(cursor, "cursor");
  // Otherwise the bytes of a key, passed instead of a cursor, would be stored as no progress.
  assert("lastKey" in cursor, "cursor must be a Cursor, got an object without a last key");
  const { lastKey, token } = cursor;
  out.bool(lastKey !== undefined);
  if (lastKey !== undefined) {
    out.bytes(lastKey, "cursor.lastKey", MAX_KEY_SIZE);
    assert(lastKey.length > 0, "cursor.lastKey must not be empty");
  }
  out.bool(token !== undefined);
  if (token === undefined) return;
  out.bytes(token, "cursor.token", MAX_TOKEN_SIZE);
  assert(token.length > 0, "cursor.token must not be empty");
  assert(lastKey !== undefined, "cursor.token must not be there without a last key");
}

function writeLease(lease: LeaseHolder, out: RecordWriter): void {
  assertObject(lease, "lease");
  out.u64(lease.owner, "lease.owner");
  out.u64(lease.deadline, "lease.deadline");
  out.u64(lease.opId, "lease.opId");
}
