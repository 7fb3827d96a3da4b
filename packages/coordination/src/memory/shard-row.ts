import {
  Cursor,
  type CursorSemantics,
  type FenceEpoch,
  type LogicalTime,
  type ParkReason,
  type ShardId,
  type ShardStatus,
} from "@gossip/contracts";
import type { ByteSlot } from "@gossip/stdx";
import type { LeaseHolder } from "../records/lease-holder.ts";
import type { OpLog } from "../records/op-log.ts";
import type { RunHead } from "../records/run-record.ts";
import type { OpLogEntry, ShardRecord } from "../records/shard-record.ts";
import type { PackedCursor, PackedSpec, ShardBytes } from "./shard-bytes.ts";

/** Which list of the claim index a row is in. */
export type ClaimList = "none" | "available" | "lapsed" | "leased";

/**
 * A shard as the store keeps it: the record's small fields, the position of its bytes in the slab, and its slot in the
 * claim index.
 *
 * The packed spec and cursor are spread into the row's own fields. An object for each would add a tenth to the memory
 * of an idle shard.
 */
export class ShardRow implements PackedSpec {
  readonly shard: ShardId;
  readonly parent: ShardId | undefined;
  readonly cursorSemantics: CursorSemantics;
  version: number;
  status: ShardStatus;
  parkReason: ParkReason | undefined;
  lease: LeaseHolder | undefined;
  fenceEpoch: FenceEpoch;
  spawned: readonly ShardId[];
  opLog: OpLog<OpLogEntry>;
  lastTime: LogicalTime;
  attempts: number;

  slot: ByteSlot;
  startSize: number;
  endSize: number;
  cursorSlot: ByteSlot;
  keySize: number;

  claimList: ClaimList = "none";
  /** The index in that list. */
  claimIndex = 0;

  constructor(record: ShardRecord, spec: PackedSpec, cursor: PackedCursor, version: number) {
    this.shard = record.shard;
    this.parent = record.parent;
    this.cursorSemantics = record.cursorSemantics;
    this.version = version;
    this.status = record.status;
    this.parkReason = record.parkReason;
    this.lease = record.lease;
    this.fenceEpoch = record.fenceEpoch;
    this.spawned = record.spawned;
    this.opLog = record.opLog;
    this.lastTime = record.lastTime;
    this.attempts = record.attempts;
    this.slot = spec.slot;
    this.startSize = spec.startSize;
    this.endSize = spec.endSize;
    this.cursorSlot = cursor.slot;
    this.keySize = cursor.keySize;
  }

  /** Copies the fields of the next state that are not bytes. */
  adopt(record: ShardRecord, version: number): void {
    this.version = version;
    this.status = record.status;
    this.parkReason = record.parkReason;
    this.lease = record.lease;
    this.fenceEpoch = record.fenceEpoch;
    this.spawned = record.spawned;
    this.opLog = record.opLog;
    this.lastTime = record.lastTime;
    this.attempts = record.attempts;
  }

  adoptSpec(spec: PackedSpec): void {
    this.slot = spec.slot;
    this.startSize = spec.startSize;
    this.endSize = spec.endSize;
  }

  adoptCursor(cursor: PackedCursor): void {
    this.cursorSlot = cursor.slot;
    this.keySize = cursor.keySize;
  }

  /** Returns the record with its own copy of the bytes. */
  toRecord(run: RunHead, bytes: ShardBytes): ShardRecord {
    const cursor =
      this.keySize === 0 ? Cursor.initial() : bytes.readCursor({ slot: this.cursorSlot, keySize: this.keySize });
    return this.toRecordWith(run, { spec: bytes.readSpec(this), cursor });
  }

  /** Returns the record with the given bytes. */
  toRecordWith(run: RunHead, { spec, cursor }: Pick<ShardRecord, "spec" | "cursor">): ShardRecord {
    return {
      tenant: run.tenant,
      run: run.run,
      shard: this.shard,
      status: this.status,
      parkReason: this.parkReason,
      spec,
      cursor,
      cursorSemantics: this.cursorSemantics,
      lease: this.lease,
      fenceEpoch: this.fenceEpoch,
      parent: this.parent,
      spawned: this.spawned,
      opLog: this.opLog,
      lastTime: this.lastTime,
      attempts: this.attempts,
    };
  }

  isLeasedAt(now: LogicalTime): boolean {
    return this.lease !== undefined && now < this.lease.deadline;
  }
}
