import { Cursor, LogicalTime, ShardId } from "@gossip/contracts";
import { assert, unwrap } from "@gossip/stdx";
import { newRunRecord, type RunRecord } from "../../records/run-record.ts";
import { newShardRecord, type ShardRecord } from "../../records/shard-record.ts";
import type { CommitAnswer } from "../../store/commit-answer.ts";
import type { ShardRead, StoreVersion, Versioned } from "../../store/store-reads.ts";
import type { PutRunSet, ShardLimits, UpdateShardSet, WriteSet } from "../../store/write-set.ts";
import { range, RUN, SHARD, TENANT, type World } from "./world.ts";

// Direct reads and writes, without a coordinator.

export const LIMITS: ShardLimits = { maxShardsPerTenant: 1000, maxShardsTotal: 1000 };
export const now = LogicalTime.fromRaw(5n);
const config = { cursorSemantics: "Completed", leaseDuration: 100n, maxShardRetries: undefined } as const;

export const makeRun = (fields: Partial<RunRecord> = {}): RunRecord => ({
  ...newRunRecord({ tenant: TENANT, run: RUN, config, now }),
  status: "Active",
  rootShards: [SHARD],
  ...fields,
});
export const makeShard = (id: bigint = SHARD, fields: Partial<ShardRecord> = {}): ShardRecord => ({
  ...newShardRecord({
    tenant: TENANT,
    key: { run: RUN, shard: ShardId.fromRaw(id) },
    spec: range("a", "z"),
    cursor: Cursor.initial(),
    cursorSemantics: "Completed",
    parent: undefined,
    now,
  }),
  ...fields,
});
export const putRun = (fields: Partial<PutRunSet> = {}): PutRunSet => {
  const after = fields.after ?? makeRun();
  const base = { kind: "PutRun", tenant: after.tenant, run: after.run, guard: undefined, after } as const;
  return { ...base, created: [makeShard()], limits: LIMITS, noShardsIn: [], ...fields };
};
export const update = (
  read: Versioned<ShardRecord>,
  changes: Partial<ShardRecord>,
  fields: Partial<UpdateShardSet> = {},
): UpdateShardSet => ({
  kind: "UpdateShard",
  tenant: read.record.tenant,
  run: read.record.run,
  shard: { guard: read.version, before: read.record, after: { ...read.record, ...changes } },
  runGuard: undefined,
  hintAt: undefined,
  ...fields,
});

export async function commit(world: World, set: WriteSet): Promise<CommitAnswer> {
  const answers = await world.store.commit([set]);
  world.expect(answers.length).toBe(1);
  return answers[0]!;
}

export async function mustCommit(world: World, set: WriteSet): Promise<StoreVersion> {
  const answer = await commit(world, set);
  assert(answer.kind === "Committed", "the write must be made");
  return answer.version;
}

export async function read(
  world: World,
  id: bigint = SHARD,
  run = RUN,
): Promise<Required<{ [Part in keyof ShardRead]: NonNullable<ShardRead[Part]> }>> {
  const found = unwrap(await world.store.readShard(TENANT, { run, shard: ShardId.fromRaw(id) }));
  assert(found.run !== undefined && found.shard !== undefined, "the shard and its run must be there");
  return { run: found.run, shard: found.shard };
}
