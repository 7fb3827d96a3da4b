import {
  CursorSemantics,
  ParkReason,
  RunStatus,
  ShardSpec,
  ShardStatus,
  toJsonSafe,
  type InvalidField,
  type JsonCodec,
  type LogicalTime,
  type ShardId,
} from "@gossip/contracts";
import { JsonReader, readCursorJson, readShardSpecJson } from "@gossip/contracts/internal";
import { err, ok, type Result } from "@gossip/stdx";
import type { LeaseHolder } from "./lease-holder.ts";
import { Lease } from "./lease.ts";
import { OpKind } from "./op-kind.ts";
import { OpResult } from "./op-result.ts";
import { readTenantJson } from "./read-tenant-json.ts";
import type { RunConfig } from "./run-config.ts";
import { findRunFault } from "./run-fault.ts";
import { RunOpKind } from "./run-op-kind.ts";
import type { RunOpLogEntry, RunOpResult, RunRecord } from "./run-record.ts";
import { findShardFault } from "./shard-fault.ts";
import type { OpLogEntry, ShardRecord } from "./shard-record.ts";

const U32_MAX = 0xffff_ffff;

const { u64, count, optional, array, object, oneOf } = JsonReader;

/** A `JsonReader`, spelled out: public declarations cannot use types of an internal entry. */
type PublicReader<T> = (json: unknown, field: string) => Result<T, InvalidField>;

/** A whole range of keys, within its limits. */
export const readSpecJson: PublicReader<ShardSpec> = (json, field) => {
  const ref = readShardSpecJson(json, field);
  if (!ref.ok) return ref;
  const spec = ShardSpec.tryFromRef(ref.value);
  return spec.ok ? spec : err({ kind: "InvalidField", field, expected: "a range of keys within their limits" });
};

/** A whole number that fits in 32 bits. */
const u32: JsonReader<number> = (json, field) => {
  const read = count(json, field);
  if (!read.ok || read.value <= U32_MAX) return read;
  return err({ kind: "InvalidField", field, expected: "a whole number from 0 to 4294967295" });
};

const readShards: JsonReader<readonly ShardId[]> = array<ShardId>(u64);

const readHolder: JsonReader<LeaseHolder> = object<LeaseHolder>({ owner: u64, deadline: u64, opId: u64 });

const readEntry: JsonReader<OpLogEntry> = object<OpLogEntry>({
  opId: u64,
  kind: oneOf(OpKind.values),
  result: oneOf(OpResult.values),
  payloadHash: u64,
  executedAt: u64,
});

const readShardRecord: JsonReader<ShardRecord> = object<ShardRecord>({
  tenant: readTenantJson,
  run: u64,
  shard: u64,
  status: oneOf(ShardStatus.values),
  parkReason: optional(oneOf(ParkReason.values)),
  spec: readSpecJson,
  cursor: readCursorJson,
  cursorSemantics: oneOf(CursorSemantics.values),
  lease: optional(readHolder),
  fenceEpoch: u64,
  parent: optional<ShardId>(u64),
  spawned: readShards,
  opLog: array(readEntry),
  lastTime: u64,
  attempts: u32,
});

const readRunOpResult: JsonReader<RunOpResult> = (json, field) => {
  const read = object<{ readonly kind: RunOpResult["kind"]; readonly shards: readonly ShardId[] | undefined }>({
    kind: oneOf(["RegisteredShards", "Ack"]),
    shards: optional(readShards),
  })(json, field);
  if (!read.ok) return read;
  const { kind, shards = [] } = read.value;
  return ok(kind === "Ack" ? { kind } : { kind, shards });
};

const readRunEntry: JsonReader<RunOpLogEntry> = object<RunOpLogEntry>({
  opId: u64,
  kind: oneOf(RunOpKind.values),
  payloadHash: u64,
  executedAt: u64,
  result: readRunOpResult,
});

/** A run's configuration. The record's rules check that it is valid. */
export const readConfigJson: PublicReader<RunConfig> = object<RunConfig>({
  cursorSemantics: oneOf(CursorSemantics.values),
  leaseDuration: u64,
  maxShardRetries: optional(u32),
});

const readRunRecord: JsonReader<RunRecord> = object<RunRecord>({
  tenant: readTenantJson,
  run: u64,
  config: readConfigJson,
  status: oneOf(RunStatus.values),
  createdAt: u64,
  completedAt: optional<LogicalTime>(u64),
  rootShards: readShards,
  opLog: array(readRunEntry),
  lastTime: u64,
});

const readLease = object<Parameters<typeof Lease.of>[0]>({
  tenant: readTenantJson,
  run: u64,
  shard: u64,
  owner: u64,
  fence: u64,
  deadline: u64,
});

/**
 * Converts a shard's record to JSON and back. It contains keys, tokens and payload hashes: it is data, not a log line.
 */
export const shardRecordJson: JsonCodec<ShardRecord> = {
  toJson: (record) => toJsonSafe(record),
  fromJson: (json) => inOrder(readShardRecord(json, ""), findShardFault),
};

/** Converts a run's record to JSON and back. */
export const runRecordJson: JsonCodec<RunRecord> = {
  toJson: (record) => toJsonSafe(record),
  fromJson: (json) => inOrder(readRunRecord(json, ""), findRunFault),
};

/** Converts a lease to JSON and back, for a worker outside the coordinator's process. */
export const leaseJson: JsonCodec<Lease> = {
  toJson: (lease) => toJsonSafe(lease),
  fromJson: (json) => {
    const fields = readLease(json, "");
    if (!fields.ok) return fields;
    if (fields.value.fence < 1n)
      return err({ kind: "InvalidField", field: "fence", expected: "a fence of at least 1" });
    if (fields.value.deadline === 0n) return err({ kind: "InvalidField", field: "deadline", expected: "a deadline" });
    return ok(Lease.of(fields.value));
  },
};

/** Returns what was read, unless it contradicts itself. */
function inOrder<T>(
  read: Result<T, InvalidField>,
  findFault: (record: T) => string | undefined,
): Result<T, InvalidField> {
  const fault = read.ok ? findFault(read.value) : undefined;
  return fault === undefined ? read : err({ kind: "InvalidField", field: "", expected: fault });
}
