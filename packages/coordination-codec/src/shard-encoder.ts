import { SHARD_OP_LOG_CAP } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import { firstUnknown } from "@gossip/coordination/internal";
import { assert, assertBytes, assertCount } from "@gossip/stdx";
import { HALVES, LOW, WHOLE } from "@gossip/stdx/internal";
import { crc32c } from "./crc32c.ts";
import { encodeShardRecordInto } from "./encode-shard-record.ts";
import { CHECKSUM_SIZE, OP_SIZE } from "./limits.ts";
import { putOp, putU64 } from "./put-op.ts";
import { assertWritable, type RecordWriter } from "./record-writer.ts";

/** How many shards an encoder knows: more than a process works on at a time. A power of two. */
const SLOT_COUNT = 1024;

/** Larger records are rare, and are not kept. */
const MAX_KEPT_SIZE = 2048;

const U32_BOUNDS = { min: 0, max: 0xffff_ffff };
const LOG_SIZE = SHARD_OP_LOG_CAP * OP_SIZE;

/**
 * Encodes the records of shards that change again and again.
 *
 * A checkpoint changes a fifth of a record's bytes. The encoder keeps the bytes of the records that it encoded last,
 * changes those of the record before, and copies them. Without it, a checkpoint of 64 saturated sessions takes a third
 * longer on LMDB (disk in memory) and an eighth longer on PostgreSQL; decision 0062 has the measurements. A store has
 * its own.
 *
 * The bytes of `before` are used only if they are those of the same object: records are values.
 */
export class ShardEncoder {
  readonly #slots: (ShardImage | undefined)[] = Array.from({ length: SLOT_COUNT }, () => undefined);

  /**
   * Appends `after` to `out`, as `encodeShardRecordInto` does, and with the same errors. `before` is the record that it
   * replaces.
   */
  encodeInto(before: ShardRecord, after: ShardRecord, out: RecordWriter): void {
    assertWritable(after, "shard record", out);
    const slot = slotOf(after);
    const image = this.#slots[slot];
    if (image?.record === before && isCheckpointOf(before, after)) {
      image.advance(after);
      out.blob(image.bytes);
      return;
    }
    const start = out.length;
    encodeShardRecordInto(after, out);
    if (canAdvance(after) && out.length - start <= MAX_KEPT_SIZE) this.#slots[slot] = new ShardImage(after, out, start);
  }
}

/** The bytes of a record that has a full log, a lease and a last key: only these are kept. */
class ShardImage {
  /** Whose bytes these are; `undefined` while they are changed. */
  record: ShardRecord | undefined;
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  /** Where fields begin that a checkpoint changes. */
  readonly #keyAt: number;
  readonly #deadlineAt: number;
  readonly #logAt: number;

  constructor(record: ShardRecord, out: RecordWriter, start: number) {
    this.record = record;
    this.bytes = out.toOwned(start);
    this.#view = new DataView(this.bytes.buffer);
    // Counted from the end: see `encodeShardRecordInto` for the order of the fields.
    this.#logAt = this.bytes.length - CHECKSUM_SIZE - 12 - LOG_SIZE;
    const fenceAt = this.#logAt - 4 - (4 + 8 * record.spawned.length) - (record.parent === undefined ? 1 : 9) - 8;
    this.#deadlineAt = fenceAt - 16;
    const { lastKey, token } = record.cursor;
    const cursorEnd = this.#deadlineAt - 8 - 2;
    this.#keyAt = cursorEnd - (token === undefined ? 1 : 5 + token.length) - lastKey!.length;
  }

  /** Changes the bytes to those of the next record, which `isCheckpointOf` the current one. */
  advance(record: ShardRecord): void {
    const before = this.record;
    const { cursor, lease, opLog, lastTime, attempts } = record;
    // So that a record that is refused halfway leaves nothing behind.
    this.record = undefined;
    assertBytes(cursor.lastKey!, "cursor.lastKey");
    this.bytes.set(cursor.lastKey!, this.#keyAt);
    if (lease !== before!.lease) putU64(this.#view, this.#deadlineAt, lease!.deadline, "lease.deadline");
    const logEnd = this.#logAt + LOG_SIZE;
    this.bytes.copyWithin(this.#logAt, this.#logAt + OP_SIZE, logEnd);
    putOp(this.#view, logEnd - OP_SIZE, opLog[SHARD_OP_LOG_CAP - 1]!);
    putU64(this.#view, logEnd, lastTime, "lastTime");
    assertCount(attempts, "attempts", U32_BOUNDS);
    this.#view.setUint32(logEnd + 8, attempts, true);
    this.#view.setInt32(logEnd + 12, crc32c(this.#view, 0, logEnd + 12), true);
    this.record = record;
  }
}

function canAdvance({ cursor, lease, opLog, status, parkReason }: ShardRecord): boolean {
  return (
    status === "Active" &&
    parkReason === undefined &&
    lease !== undefined &&
    cursor.lastKey !== undefined &&
    opLog.length === SHARD_OP_LOG_CAP
  );
}

/** Whether `after` differs from `before`, whose bytes are kept, only in fields that `advance` writes. */
function isCheckpointOf(before: ShardRecord, after: ShardRecord): boolean {
  return (
    after.spec === before.spec &&
    after.status === before.status &&
    after.parkReason === undefined &&
    after.cursor.lastKey?.length === before.cursor.lastKey!.length &&
    after.cursor.token === before.cursor.token &&
    after.cursorSemantics === before.cursorSemantics &&
    isSameHold(before, after) &&
    after.fenceEpoch === before.fenceEpoch &&
    after.spawned === before.spawned &&
    after.parent === before.parent &&
    firstUnknown(after.opLog, before.opLog) === SHARD_OP_LOG_CAP - 1 &&
    after.shard === before.shard &&
    after.run === before.run &&
    after.tenant === before.tenant
  );
}

/** Whether the shard has the same holder, by the same acquire. */
function isSameHold({ lease: before }: ShardRecord, { lease: after }: ShardRecord): boolean {
  if (after === before) return true;
  return after !== undefined && after.owner === before!.owner && after.opId === before!.opId;
}

function slotOf({ run, shard }: ShardRecord): number {
  assert(typeof run === "bigint" && typeof shard === "bigint", "ids of a shard record must be bigints");
  WHOLE[0] = run;
  const low = HALVES[LOW]!;
  WHOLE[0] = shard;
  return (Math.imul(low, 0x9e3779b1) ^ HALVES[LOW]!) & (SLOT_COUNT - 1);
}
