import {
  Cursor,
  FenceEpoch,
  LogicalTime,
  OpId,
  RunId,
  ShardId,
  ShardKey,
  ShardSpec,
  SplitReplacePlan,
  SplitResidualPlan,
  TenantId,
  WorkerId,
  type InitialShardInput,
} from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import type { LeaseHolder } from "../records/lease-holder.ts";
import { Lease } from "../records/lease.ts";
import { RunConfig } from "../records/run-config.ts";
import { newRunRecord, type RunRecord } from "../records/run-record.ts";
import { newShardRecord, type ShardRecord } from "../records/shard-record.ts";

// One run with one shard [a, z), as the specification's traces have it.

export const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(1));
export const STRANGER = TenantId.fromBytes(new Uint8Array(32).fill(2));
export const RUN = RunId.fromRaw(1n);
export const SHARD = ShardId.fromRaw(10n);
export const KEY = ShardKey.of(RUN, SHARD);
export const LEASE_DURATION = 100n;

export const time = (raw: number | bigint) => LogicalTime.fromRaw(BigInt(raw));
export const op = (raw: number | bigint) => OpId.fromRaw(BigInt(raw));
export const worker = (raw: number | bigint) => WorkerId.fromRaw(BigInt(raw));
export const fence = (raw: number | bigint) => FenceEpoch.fromRaw(BigInt(raw));
export const shardId = (raw: number | bigint) => ShardId.fromRaw(BigInt(raw));

export const text = (value: string) => new TextEncoder().encode(value);
export const at = (key: string, token?: string) =>
  Cursor.fromParts({ lastKey: text(key), token: token === undefined ? undefined : text(token) });
export const range = (start: string, end: string, metadata = "") =>
  ShardSpec.withRangeAndMetadata({ start: text(start), end: text(end), metadata: text(metadata) });
export const initial = (id: number, start: string, end: string): InitialShardInput => ({
  shard: shardId(id),
  spec: range(start, end),
  cursor: Cursor.initial(),
});
export const replacePlan = (...children: { start: string; end: string; cursor?: Cursor }[]) =>
  unwrap(
    SplitReplacePlan.tryNew(
      children.map(({ start, end, cursor }) => ({ spec: range(start, end), cursor: cursor ?? Cursor.initial() })),
    ),
  );
export const residualPlan = (start: string, point: string, end: string) =>
  unwrap(SplitResidualPlan.tryNew({ parentNewSpec: range(start, point), residualSpec: range(point, end) }));

export const CONFIG = unwrap(RunConfig.tryNew({ leaseDuration: LEASE_DURATION }));

export function makeRun(fields: Partial<RunRecord> = {}): RunRecord {
  const record = newRunRecord({ tenant: TENANT, run: RUN, config: CONFIG, now: time(1) });
  return { ...record, status: "Active", rootShards: [SHARD], ...fields };
}

export function makeShard(fields: Partial<ShardRecord> = {}): ShardRecord {
  const record = newShardRecord({
    tenant: TENANT,
    key: KEY,
    spec: range("a", "z"),
    cursor: Cursor.initial(),
    cursorSemantics: "Completed",
    parent: undefined,
    now: time(1),
  });
  return { ...record, ...fields };
}

/** A holder: worker 1 by op 1000 until 110, unless told otherwise. */
export function holder(fields: Partial<LeaseHolder> = {}): LeaseHolder {
  return { owner: worker(1), deadline: time(110), opId: op(1000), ...fields };
}

/** A shard that worker 1 holds with fence 2 until 110. */
export function makeHeldShard(fields: Partial<ShardRecord> = {}): ShardRecord {
  return makeShard({ lease: holder(), fenceEpoch: fence(2), attempts: 1, lastTime: time(10), ...fields });
}

/** The lease that the holder of a record has. */
export function leaseOf(record: ShardRecord, fields: Partial<Lease> = {}): Lease {
  const { tenant, run, shard, fenceEpoch, lease } = record;
  const { owner, deadline } = lease ?? holder();
  return Lease.of({ tenant, run, shard, owner, fence: fenceEpoch, deadline, ...fields });
}
