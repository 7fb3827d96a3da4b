import type { ShardId } from "@gossip/contracts";
import { RunCensus } from "@gossip/coordination-fsck";
import type { Compare, KeyValue, TxnOperation } from "@gossip/etcd-client";
import type { Cluster } from "../cluster/cluster.ts";
import { Outpaced } from "../cluster/etcd-failure.ts";
import { ShardKind, shardOf, type Layout, type Space } from "../layout/layout.ts";

/** How often to count again after other processes created shards meanwhile. */
const MAX_TRIES = 16;

/** A run's census as it was read. A missing one has revision 0. */
export interface StoredCensus {
  readonly census: RunCensus | undefined;
  readonly revision: bigint;
}

/** The census of a run without shards, which has no key. */
export const NO_SHARDS: StoredCensus = { census: RunCensus.NONE, revision: 0n };

/** Reads a census. A malformed value gets an impossible count, so that `fsck` reports it. */
export function readCensus(kv: KeyValue | undefined): StoredCensus {
  if (kv === undefined) return { census: undefined, revision: 0n };
  return { census: RunCensus.tryFromBytes(kv.value) ?? { count: -1, digest: 0n }, revision: kv.modRevision };
}

/**
 * Adds new shards to a run's census, provided it is unchanged.
 *
 * A run created by an older version has no census, and gets none here: it would lack the earlier shards. An unreadable
 * census stays as it is.
 */
export function censusChange(
  key: string,
  { census, revision }: StoredCensus,
  created: readonly { readonly shard: ShardId }[],
): { readonly compare: Compare[]; readonly operations: TxnOperation[] } {
  if (created.length === 0) return { compare: [], operations: [] };
  const compare: Compare[] = [{ key, target: "MOD", is: "EQUAL", revision }];
  if (census === undefined || census.count < 0) return { compare, operations: [] };
  const sum = RunCensus.sum(census, RunCensus.of(created.map(({ shard }) => shard)));
  return { compare, operations: [{ put: key, value: RunCensus.toBytes(sum) }] };
}

/** Writes the census of a run that has none, from its records. Returns whether it had none. */
export async function addCensus(cluster: Cluster, space: Space): Promise<boolean> {
  const { layout } = cluster;
  const key = layout.census(space);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { revision, found } = await cluster.look([{ get: key, keysOnly: true }, { get: layout.totalCount }]);
    if (found[0]!.kvs.length > 0) return false;
    const census = RunCensus.of(await shardsIn(cluster, layout, { space, revision }));
    const { succeeded } = await cluster.write({
      compare: [
        { key, target: "CREATE", is: "EQUAL", revision: 0n },
        // The total changes whenever a shard is created or removed. If it did, count again.
        { key: layout.totalCount, target: "MOD", is: "EQUAL", revision: found[1]!.kvs[0]?.modRevision ?? 0n },
      ],
      success: [{ put: key, value: RunCensus.toBytes(census) }],
    });
    if (succeeded) return true;
  }
  throw new Outpaced();
}

async function shardsIn(
  cluster: Cluster,
  layout: Layout,
  { space, revision }: { readonly space: Space; readonly revision: bigint },
): Promise<ShardId[]> {
  const shards: ShardId[] = [];
  for await (const page of cluster.walk(revision, { ...layout.kind(space, ShardKind.Record), keysOnly: true }))
    shards.push(...page.map(({ key }) => shardOf(key)));
  return shards;
}
