import {
  CursorSemantics,
  ParkReason,
  RunStatus,
  ShardStatus,
  toJsonSafe,
  type JsonCodec,
  type LogicalTime,
  type RunId,
  type ShardId,
} from "@gossip/contracts";
import { JsonReader, readCursorJson } from "@gossip/contracts/internal";
import type { CapacityHint } from "../records/capacity-hint.ts";
import { readTenantJson } from "../records/read-tenant-json.ts";
import { readConfigJson, readSpecJson } from "../records/record-json.ts";
import type { RunProgress } from "./run-progress.ts";
import type { RunSummary } from "./run-summary.ts";
import type { ShardSnapshot } from "./shard-snapshot.ts";
import type { ShardSummary } from "./shard-summary.ts";

const { u64, bytes, count, flag, optional, array, object, oneOf } = JsonReader;

function codecOf<T>(read: JsonReader<T>): JsonCodec<T> {
  return { toJson: (view) => toJsonSafe(view), fromJson: (json) => read(json, "") };
}

/** A run as JSON can carry it, and back, without what its log remembers. */
export const runSummaryJson: JsonCodec<RunSummary> = /* @__PURE__ */ codecOf(
  object<RunSummary>({
    tenant: readTenantJson,
    run: u64<RunId>,
    status: oneOf(RunStatus.values),
    config: readConfigJson,
    createdAt: u64<LogicalTime>,
    completedAt: optional<LogicalTime>(u64),
    rootShards: array<ShardId>(u64),
  }),
);

/** What a list tells of a shard, as JSON can carry it, and back. Keys are in it: it is data, not a log line. */
export const shardSummaryJson: JsonCodec<ShardSummary> = /* @__PURE__ */ codecOf(
  object<ShardSummary>({
    shard: u64<ShardId>,
    status: oneOf(ShardStatus.values),
    parkReason: optional(oneOf(ParkReason.values)),
    isLeased: flag,
    leaseDeadline: optional<LogicalTime>(u64),
    acquireCount: count,
    lastKey: optional(bytes),
    keyRangeStart: bytes,
    keyRangeEnd: bytes,
    parent: optional<ShardId>(u64),
    spawnedCount: count,
  }),
);

/** What a worker is given with its lease, as JSON can carry it, and back. Keys are in it. */
export const shardSnapshotJson: JsonCodec<ShardSnapshot> = /* @__PURE__ */ codecOf(
  object<ShardSnapshot>({
    status: oneOf(ShardStatus.values),
    spec: readSpecJson,
    cursor: readCursorJson,
    cursorSemantics: oneOf(CursorSemantics.values),
    parent: optional<ShardId>(u64),
    spawned: array<ShardId>(u64),
  }),
);

/** How a run stands, as JSON can carry it, and back, the watermark included. */
export const runProgressJson: JsonCodec<RunProgress> = /* @__PURE__ */ codecOf(
  object<RunProgress>({
    total: count,
    active: count,
    done: count,
    split: count,
    parked: count,
    leased: count,
    watermark: optional(bytes),
  }),
);

/** What a worker is told of its run in passing, as JSON can carry it, and back. */
export const capacityHintJson: JsonCodec<CapacityHint> = /* @__PURE__ */ codecOf(
  object<CapacityHint>({ availableCount: count, earliestDeadline: optional<LogicalTime>(u64), isStarved: flag }),
);
