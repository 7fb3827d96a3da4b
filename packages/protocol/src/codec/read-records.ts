import {
  ShardSpec,
  type CursorSemantics,
  type FenceEpoch,
  type LogicalTime,
  type OpId,
  type RunId,
  type ShardId,
  type WorkerId,
} from "@gossip/contracts";
import type {
  CapacityHint,
  OpKind,
  OpLogEntry,
  OpResult,
  PayloadHash,
  RunConfig,
  RunOpKind,
  RunOpLogEntry,
  RunProgress,
  RunRecord,
  ShardRecord,
  ShardSnapshot,
  ShardSummary,
} from "@gossip/coordination";
import type {
  CapacityWire,
  ConfigWire,
  LoggedOpWire,
  ProgressWire,
  RangeWire,
  RunWire,
  ShardSummaryWire,
  ShardWire,
  SnapshotWire,
} from "../schema/records.ts";
import type { WireReader } from "./wire-reader.ts";

// What a client reads out of responses. Each takes the reader that remembers the first fault.

export function readSpec(read: WireReader, wire: RangeWire, field: string): ShardSpec {
  const spec = ShardSpec.tryFromRef(read.range(wire, field));
  if (spec.ok) return spec.value;
  read.fail(field, "a range of keys within their limits");
  return ShardSpec.unbounded();
}

export function readCapacity(read: WireReader, wire: CapacityWire): CapacityHint {
  const { available, earliestDeadline, isStarved } = wire;
  return { availableCount: available, earliestDeadline: optionalTime(read, earliestDeadline), isStarved };
}

export function readSnapshot(read: WireReader, wire: SnapshotWire): ShardSnapshot {
  return {
    status: wire.status,
    spec: readSpec(read, wire.range, "range"),
    cursor: read.cursor(wire.cursor, "cursor"),
    cursorSemantics: wire.cursorSemantics,
    parent: optionalId<ShardId>(read, wire.parent),
    spawned: wire.spawned.map((id) => read.id<ShardId>(id)),
  };
}

export function readConfig(read: WireReader, wire: ConfigWire): RunConfig {
  const { leaseDuration, cursorSemantics = "Completed" as CursorSemantics, maxShardRetries } = wire;
  return { leaseDuration: read.u64(leaseDuration, "config.leaseDuration"), cursorSemantics, maxShardRetries };
}

export function readRun(read: WireReader, wire: RunWire): RunRecord {
  return {
    tenant: read.tenant(wire.tenant),
    run: read.id<RunId>(wire.run),
    status: wire.status,
    config: readConfig(read, wire.config),
    createdAt: read.u64<LogicalTime>(wire.createdAt, "createdAt"),
    completedAt: optionalTime(read, wire.completedAt),
    rootShards: wire.rootShards.map((id) => read.id<ShardId>(id)),
    opLog: (wire.log ?? []).map((op) => readRunOp(read, op)),
    lastTime: read.u64<LogicalTime>(wire.lastTime, "lastTime"),
  };
}

export function readShard(read: WireReader, wire: ShardWire): ShardRecord {
  const { holder } = wire;
  return {
    tenant: read.tenant(wire.tenant),
    run: read.id<RunId>(wire.run),
    shard: read.id<ShardId>(wire.shard),
    parkReason: wire.parkReason,
    lease:
      holder === undefined
        ? undefined
        : {
            owner: read.id<WorkerId>(holder.worker),
            deadline: read.u64<LogicalTime>(holder.deadline, "holder.deadline"),
            opId: read.id<OpId>(holder.opId),
          },
    fenceEpoch: read.u64<FenceEpoch>(wire.fence, "fence"),
    ...readSnapshot(read, wire),
    opLog: (wire.log ?? []).map((op) => readOp(read, op)),
    lastTime: read.u64<LogicalTime>(wire.lastTime, "lastTime"),
    attempts: wire.attempts,
  };
}

export function readSummary(read: WireReader, wire: ShardSummaryWire): ShardSummary {
  const { keyRangeStart, keyRangeEnd } = read.range(wire.range, "range");
  return {
    shard: read.id<ShardId>(wire.shard),
    status: wire.status,
    parkReason: wire.parkReason,
    isLeased: wire.isLeased,
    leaseDeadline: optionalTime(read, wire.leaseDeadline),
    acquireCount: wire.acquireCount,
    lastKey: read.bytes(wire.key, wire.key64, "key"),
    keyRangeStart,
    keyRangeEnd,
    parent: optionalId<ShardId>(read, wire.parent),
    spawnedCount: wire.spawnedCount,
  };
}

export function readProgress(read: WireReader, wire: ProgressWire): RunProgress {
  const { total, active, done, split, parked, leased, watermark, watermark64 } = wire;
  return {
    total,
    active,
    done,
    split,
    parked,
    leased,
    watermark: read.bytes(watermark, watermark64, "watermark"),
  };
}

export function optionalTime(read: WireReader, text: string | undefined): LogicalTime | undefined {
  return text === undefined ? undefined : read.u64<LogicalTime>(text, "a time");
}

function optionalId<Id extends bigint>(read: WireReader, text: string | undefined): Id | undefined {
  return text === undefined ? undefined : read.id<Id>(text);
}

function readOp(read: WireReader, { opId, kind, result, payloadHash, executedAt }: LoggedOpWire): OpLogEntry {
  return {
    opId: read.id<OpId>(opId),
    kind: kind as OpKind,
    result: (result ?? "Completed") as OpResult,
    payloadHash: read.id<PayloadHash>(payloadHash),
    executedAt: read.u64<LogicalTime>(executedAt, "executedAt"),
  };
}

function readRunOp(read: WireReader, { opId, kind, shards, payloadHash, executedAt }: LoggedOpWire): RunOpLogEntry {
  return {
    opId: read.id<OpId>(opId),
    kind: kind as RunOpKind,
    result:
      shards === undefined
        ? { kind: "Ack" }
        : { kind: "RegisteredShards", shards: shards.map((id) => read.id<ShardId>(id)) },
    payloadHash: read.id<PayloadHash>(payloadHash),
    executedAt: read.u64<LogicalTime>(executedAt, "executedAt"),
  };
}
