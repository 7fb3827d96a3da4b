import type { CommitAnswer, SplitShardSet } from "@gossip/coordination";
import type { Compare } from "@gossip/etcd-client";
import { censusChange, readCensus } from "./census.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { countChange, countGets, refuseOverQuota, findTaken, MAX_COUNT_TRIES, readCounts } from "./counts.ts";
import { encodeNewShards, encodeShard, newShardOperations } from "../layout/encoded-shards.ts";
import { Outpaced } from "../cluster/etcd-failure.ts";
import { moveOperations } from "../layout/shard-indexes.ts";
import { readRunVersion, readShardVersion, shardVersion } from "../layout/record-version.ts";
import { planTxn } from "../cluster/txn-budget.ts";
import { tallyOperations } from "../layout/tallies.ts";
import { CONFLICT } from "./update-shards.ts";

/**
 * Writes a shard and its children in one transaction.
 *
 * Reads the counts and the census first, and writes on condition that they are unchanged. If shards were created in
 * between, it does both again.
 */
export async function splitShard(cluster: Cluster, set: SplitShardSet): Promise<CommitAnswer> {
  const { layout } = cluster;
  const { shard, runGuard, created, limits } = set;
  const value = encodeShard(shard.after);
  const shards = encodeNewShards(created);
  const guard = readShardVersion(shard.guard);
  const run = readRunVersion(runGuard);
  if (guard === undefined || run === undefined) return CONFLICT;
  const { space, revision } = guard;
  const key = layout.record(space, shard.after.shard);
  const keys = created.map((record) => layout.record(space, record.shard));

  for (let tries = 0; tries < MAX_COUNT_TRIES; tries++) {
    const looked = await cluster.look([
      { get: key, keysOnly: true },
      { get: layout.head(set), keysOnly: true },
      { get: layout.census(space) },
      ...countGets(layout, set),
    ]);
    const [record, head, stored, ...rest] = looked.found;
    if (record!.kvs[0]?.modRevision !== revision || head!.kvs[0]?.modRevision !== run) return CONFLICT;
    const counts = readCounts(layout, set, rest);
    const overdrawn = refuseOverQuota(counts, created.length, limits);
    if (overdrawn !== undefined) return overdrawn;
    const taken = await findTaken(cluster, keys, looked.revision);
    if (taken !== -1) return { kind: "Exists", shard: created[taken]!.shard };

    const change = countChange(counts, created.length);
    const census = censusChange(layout.census(space), readCensus(stored!.kvs[0]), created);
    const compare: Compare[] = [
      { key, target: "MOD", is: "EQUAL", revision },
      { key: layout.head(set), target: "MOD", is: "EQUAL", revision: run },
      // While these are unchanged no shard was created, so the ids are still free.
      ...change.compare,
      ...census.compare,
    ];
    const many = [
      { put: key, value },
      ...moveOperations(layout, space, shard),
      ...tallyOperations(layout, { space, position: 0 }, shard),
      ...change.operations,
      ...census.operations,
      ...shards.flatMap((each) => newShardOperations(layout, space, each)),
    ];
    const done = await cluster.write(planTxn(cluster.maxTxnOps, { compare, few: [], many }));
    if (done.succeeded) return { kind: "Committed", version: shardVersion({ space, revision: done.revision }) };
  }
  throw new Outpaced();
}
