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

/** Converts a run to JSON and back, without its log. */
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

/** Converts a shard's summary to JSON and back. It contains keys: it is data, not a log line. */
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

/** Converts a worker's snapshot of a shard to JSON and back. It contains keys. */
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

/** Converts the progress of a run to JSON and back, including the watermark. */
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

/** Converts a capacity hint to JSON and back. */
export const capacityHintJson: JsonCodec<CapacityHint> = /* @__PURE__ */ codecOf(
  object<CapacityHint>({ availableCount: count, earliestDeadline: optional<LogicalTime>(u64), isStarved: flag }),
);
