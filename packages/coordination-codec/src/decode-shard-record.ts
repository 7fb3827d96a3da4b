import {
  Cursor,
  LogicalTime,
  MAX_SPAWNED_PER_SHARD,
  SHARD_OP_LOG_CAP,
  ShardSpec,
  validateShardSpec,
  type FenceEpoch,
  type OpId,
  type RunId,
  type ShardId,
  type ShardSpecRef,
  type WorkerId,
} from "@gossip/contracts";
import type { LeaseHolder, OpLogEntry, PayloadHash, ShardRecord } from "@gossip/coordination";
import { err, ok, type Result } from "@gossip/stdx";
import type { CodecVersion } from "./blob-kind.ts";
import type { CodecError, StoredCursorError } from "./codec-error.ts";
import { CURSOR_SEMANTICS, OP_KIND, OP_RESULT, PARK_REASON, STATUS } from "./enum-field.ts";
import { FieldReader, readShardId, type ListField } from "./field-reader.ts";
import { OP_SIZE } from "./limits.ts";
import { findStoredShardFault } from "./stored-faults.ts";
import { completeShardV1, UNKNOWN_OP } from "./version-1.ts";

const SPAWNED: ListField = { field: "spawned", maxCount: MAX_SPAWNED_PER_SHARD, itemSize: 8 };
const OP_LOG: ListField = { field: "opLog", maxCount: SHARD_OP_LOG_CAP, itemSize: OP_SIZE };

/**
 * Decodes a shard's record of any version.
 *
 * The record owns its data, so `bytes` may be reused. Whatever they are, the result is a valid record or an error.
 * Throws `InvariantViolation` if the argument is not a byte array.
 */
export function decodeShardRecord(bytes: Uint8Array): Result<ShardRecord, CodecError> {
  return decodeShardIn(new FieldReader(bytes));
}

/** The record from `start` up to `end` of what `fields` reads: all of it by default. */
export function decodeShardIn(fields: FieldReader, start?: number, end?: number): Result<ShardRecord, CodecError> {
  const read = fields.blob("Shard", readShard, start, end);
  if (!read.ok) return read;
  const detail = findStoredShardFault(read.value);
  return detail === undefined ? read : err({ kind: "InvariantViolation", blob: "Shard", detail });
}

/** Read in the order of the bytes: the literal's fields are evaluated from first to last. */
function readShard(fields: FieldReader, version: CodecVersion): ShardRecord {
  const record = {
    tenant: fields.tenant(),
    run: fields.u64() as RunId,
    shard: fields.u64() as ShardId,
    status: fields.name(STATUS),
    parkReason: fields.bool("parkReason") ? fields.name(PARK_REASON) : undefined,
    spec: readSpec(fields),
    cursor: readCursor(fields),
    cursorSemantics: fields.name(CURSOR_SEMANTICS),
    lease: fields.bool("lease") ? readLease(fields, version) : undefined,
    fenceEpoch: fields.u64() as FenceEpoch,
    parent: fields.bool("parent") ? (fields.u64() as ShardId) : undefined,
    spawned: fields.list(SPAWNED, readShardId),
    opLog: fields.list(OP_LOG, readEntry),
    lastTime: version === 1 ? LogicalTime.ZERO : (fields.u64() as LogicalTime),
    attempts: version === 1 ? 0 : fields.u32(),
  };
  return version === 1 ? completeShardV1(record) : record;
}

function readSpec(fields: FieldReader): ShardSpec {
  // Like `ShardSpec.tryFromRef`, but the bytes are owned already and need no views.
  const spec = Object.freeze({
    keyRangeStart: fields.ownBytes("spec.keyRangeStart"),
    keyRangeEnd: fields.ownBytes("spec.keyRangeEnd"),
    metadata: fields.ownBytes("spec.metadata"),
  });
  const checked = validateShardSpec(spec);
  if (checked.ok) return spec as ShardSpecRef as ShardSpec;
  fields.fail({ kind: "InvalidSpec", reason: checked.error });
  return ShardSpec.unbounded();
}

function readCursor(fields: FieldReader): Cursor {
  const lastKey = fields.bool("cursor.lastKey") ? fields.bytes("cursor.lastKey") : undefined;
  const token = fields.bool("cursor.token") ? fields.bytes("cursor.token") : undefined;
  const cursor = makeCursor(lastKey, token);
  if (cursor.ok) return cursor.value;
  fields.fail({ kind: "InvalidCursor", reason: cursor.error });
  return Cursor.initial();
}

function makeCursor(lastKey: Uint8Array | undefined, token: Uint8Array | undefined): Result<Cursor, StoredCursorError> {
  if (lastKey === undefined) return token === undefined ? ok(Cursor.initial()) : err({ kind: "TokenWithoutKey" });
  const cursor = Cursor.tryFromParts({ lastKey, token });
  return cursor.ok && token?.length === 0 ? err({ kind: "EmptyToken" }) : cursor;
}

function readLease(fields: FieldReader, version: CodecVersion): LeaseHolder {
  return {
    owner: fields.u64() as WorkerId,
    deadline: fields.u64() as LogicalTime,
    opId: version === 1 ? UNKNOWN_OP : (fields.u64() as OpId),
  };
}

function readEntry(fields: FieldReader): OpLogEntry {
  return {
    opId: fields.u64() as OpId,
    kind: fields.name(OP_KIND),
    result: fields.name(OP_RESULT),
    payloadHash: fields.u64() as PayloadHash,
    executedAt: fields.u64() as LogicalTime,
  };
}
