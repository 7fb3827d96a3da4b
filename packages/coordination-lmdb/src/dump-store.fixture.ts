import type { LogicalTime, RunId, TenantId } from "@gossip/contracts";
import { ShardFilter, type CoordinationStore, type RunProgress, type RunRecord, type ShardPosition, type ShardRecord } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";

/** A run with everything that a store has of it. */
export interface DumpedRun {
  readonly run: RunRecord;
  readonly shards: readonly ShardRecord[];
  readonly progress: RunProgress;
  readonly claimable: readonly bigint[];
}

/** All that can be read from a store, through its port. */
export async function dumpStore(store: CoordinationStore, now: LogicalTime): Promise<DumpedRun[]> {
  const dumped: DumpedRun[] = [];
  let after: TenantId | undefined;
  do {
    const page = unwrap(await store.listTenants({ after, limit: 2 }));
    for (const tenant of page.items) dumped.push(...(await dumpTenant(store, tenant, now)));
    after = page.next;
  } while (after !== undefined);
  return dumped;
}

async function dumpTenant(store: CoordinationStore, tenant: TenantId, now: LogicalTime): Promise<DumpedRun[]> {
  const dumped: DumpedRun[] = [];
  let after: RunId | undefined;
  do {
    const page = unwrap(await store.listRuns({ tenant, after, limit: 3 }));
    for (const run of page.items) {
      const moment = { tenant, run: run.run, now };
      const claims = unwrap(await store.listClaimCandidates({ ...moment, limit: 10_000, spread: 0 }));
      const shards = await dumpShards(store, tenant, run.run, now);
      const claimable = claims.candidates.map(({ shard }) => shard as bigint).toSorted((a, b) => (a < b ? -1 : 1));
      dumped.push({ run, shards, progress: unwrap(await store.readProgress(moment)), claimable });
    }
    after = page.next;
  } while (after !== undefined);
  return dumped;
}

export async function dumpShards(store: CoordinationStore, tenant: TenantId, run: RunId, now: LogicalTime): Promise<ShardRecord[]> {
  const shards: ShardRecord[] = [];
  let after: ShardPosition | undefined;
  do {
    const page = unwrap(await store.listShards({ tenant, run, after, limit: 50, filter: ShardFilter.ALL, now }));
    shards.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return shards;
}
