import type { ShardId } from "@gossip/contracts";
import { decodeShardRecord } from "@gossip/coordination-codec";
import type { RebuiltIndexes } from "@gossip/coordination-fsck";
import type { Compare, KeyValue, TxnOperation } from "@gossip/etcd-client";
import { addCensus } from "../write/census.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { storedCount } from "../write/counts.ts";
import { indexEntries } from "../layout/encoded-shards.ts";
import { Outpaced } from "../cluster/etcd-failure.ts";
import { findKeys, findOrphans, namedBy } from "./inspected-keys.ts";
import { INDEX_KINDS, ShardKind, shardOf, type Space } from "../layout/layout.ts";
import { correctStatusCounts } from "./status-counts.ts";

/** How often to retry after concurrent changes. */
const MAX_TRIES = 16;
/** Maximum number of operations to repair one shard. */
const OPS_PER_FIX = 4;
const MAX_FIXES_PER_TXN = 32;

/** The operations that repair the entries of one shard, provided its record is unchanged. */
interface Fix {
  readonly key: string;
  readonly revision: bigint;
  readonly operations: readonly TxnOperation[];
}

/**
 * Rebuilds indexes and counts from the records, one run at a time, while other processes work. Runs without a census
 * get one.
 *
 * A shard's entries change only with its record, so each repair is made on condition that the record is unchanged;
 * otherwise the run is read again. The entries of an unreadable shard stay as they are.
 */
export async function rebuildIndexes(cluster: Cluster): Promise<RebuiltIndexes> {
  const rebuilt = { removedEntries: 0, addedEntries: 0, correctedCounts: 0, addedCensuses: 0 };
  const fixesPerTxn = Math.max(1, Math.min(MAX_FIXES_PER_TXN, cluster.maxTxnOps - OPS_PER_FIX));
  for (const space of await findSpaces(cluster)) {
    for (let tries = 0; ; tries++) {
      if (tries === MAX_TRIES) throw new Outpaced();
      const fixes = await findFixes(cluster, space);
      const isMended = await Promise.all(inPiecesOf(fixesPerTxn, fixes).map((some) => mend(cluster, some, rebuilt)));
      if (isMended.every(Boolean)) break;
    }
  }
  rebuilt.correctedCounts = await correctCounts(cluster);
  for (const space of await findNamedSpaces(cluster)) {
    rebuilt.correctedCounts += await correctStatusCounts(cluster, space);
    if (await addCensus(cluster, space)) rebuilt.addedCensuses++;
  }
  return rebuilt;
}

async function findSpaces(cluster: Cluster): Promise<Space[]> {
  const { revision } = await cluster.look([{ get: cluster.layout.format }]);
  const keys = await findKeys(cluster, revision);
  return [...keys.runs.flatMap(({ head }) => namedBy(head) ?? []), ...(await findOrphans(cluster, revision, keys))];
}

/** The spaces of runs. */
async function findNamedSpaces(cluster: Cluster): Promise<Space[]> {
  const { revision } = await cluster.look([{ get: cluster.layout.format }]);
  const { runs } = await findKeys(cluster, revision);
  return runs.flatMap(({ head }) => namedBy(head) ?? []);
}

async function findFixes(cluster: Cluster, space: Space): Promise<Fix[]> {
  const { layout } = cluster;
  const { revision } = await cluster.look([{ get: layout.format }]);
  const actual = new Map<ShardId, KeyValue[]>();
  for (const kind of INDEX_KINDS) {
    for await (const page of cluster.walk(revision, { ...layout.kind(space, kind), pageSize: 400 })) {
      for (const kv of page) actual.set(shardOf(kv.key), [...(actual.get(shardOf(kv.key)) ?? []), kv]);
    }
  }
  const fixes: Fix[] = [];
  for await (const page of cluster.walk(revision, { ...layout.kind(space, ShardKind.Record), pageSize: 64 })) {
    for (const { key, value, modRevision } of page) {
      const shard = shardOf(key);
      const entries = actual.get(shard) ?? [];
      actual.delete(shard);
      const record = decodeShardRecord(value);
      if (!record.ok || record.value.shard !== shard) continue;
      fixes.push(
        ...fixesOf({ key, revision: modRevision, entries, expected: indexEntries(layout, space, record.value) }),
      );
    }
  }
  // Entries of shards that do not exist.
  for (const [shard, entries] of actual)
    fixes.push(...fixesOf({ key: layout.record(space, shard), revision: 0n, entries, expected: [] }));
  return fixes;
}

interface ShardIndexes {
  readonly key: string;
  readonly revision: bigint;
  readonly entries: readonly KeyValue[];
  readonly expected: ReturnType<typeof indexEntries>;
}

function fixesOf({ key, revision, entries, expected }: ShardIndexes): Fix[] {
  const wanted = new Map(expected.map((entry) => [entry.key, entry.value]));
  const operations: TxnOperation[] = entries.filter((kv) => !wanted.has(kv.key)).map((kv) => ({ delete: kv.key }));
  for (const [name, value] of wanted) {
    const present = entries.find((kv) => kv.key === name);
    if (present === undefined || !present.value.equals(Buffer.from(value))) operations.push({ put: name, value });
  }
  return inPiecesOf(OPS_PER_FIX, operations).map((some) => ({ key, revision, operations: some }));
}

function inPiecesOf<Item>(size: number, items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** Returns whether all repairs were applied. */
async function mend(
  cluster: Cluster,
  fixes: readonly Fix[],
  rebuilt: { removedEntries: number; addedEntries: number },
): Promise<boolean> {
  const { results } = await cluster.write({
    compare: [],
    success: fixes.map(({ key, revision, operations }) => ({
      txn: { compare: [{ key, target: "MOD", is: "EQUAL", revision }], success: operations },
    })),
  });
  let isWhole = true;
  for (const [index, { operations }] of fixes.entries()) {
    const result = results[index];
    if (result?.kind !== "Txn" || !result.succeeded) {
      isWhole = false;
      continue;
    }
    for (const operation of operations) rebuilt["delete" in operation ? "removedEntries" : "addedEntries"]++;
  }
  return isWhole;
}

/** Corrects wrong counts. Returns how many there were. */
async function correctCounts(cluster: Cluster): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { compare, success } = await findWrongCounts(cluster);
    if (success.length === 0) return 0;
    const { succeeded } = await cluster.write({ compare, success });
    // The next pass finds what did not fit into this transaction.
    if (succeeded) return success.length + (await correctCounts(cluster));
  }
  throw new Outpaced();
}

async function findWrongCounts(
  cluster: Cluster,
): Promise<{ readonly compare: Compare[]; readonly success: TxnOperation[] }> {
  const { layout, maxTxnOps } = cluster;
  const { revision, found } = await cluster.look([{ get: layout.totalCount }, layout.family("count/tenant")]);
  const stored = new Map([...found[0]!.kvs, ...found[1]!.kvs].map((kv) => [kv.key, kv]));
  const counted = await countShards(cluster, revision);
  const wrong = [...new Set([...stored.keys(), ...counted.keys()])].filter((key) => {
    const kv = stored.get(key);
    return (kv === undefined ? 0 : storedCount(kv)) !== (counted.get(key) ?? 0);
  });
  const some = wrong.slice(0, maxTxnOps - 1);
  return {
    // Creating or removing shards changes the total. If it did, count again.
    compare: [...new Set([layout.totalCount, ...some])].map((key) => ({
      key,
      target: "MOD",
      is: "EQUAL",
      revision: stored.get(key)?.modRevision ?? 0n,
    })),
    success: some.map((key) => {
      const count = counted.get(key) ?? 0;
      return count === 0 ? { delete: key } : { put: key, value: String(count) };
    }),
  };
}

/** The number of shards, by the count keys that should hold them. */
async function countShards(cluster: Cluster, revision: bigint): Promise<Map<string, number>> {
  const { layout } = cluster;
  const { runs } = await findKeys(cluster, revision);
  const counted = new Map<string, number>();
  const add = (key: string, count: number): void => void counted.set(key, (counted.get(key) ?? 0) + count);
  for (const { address, head } of runs) {
    const space = namedBy(head);
    if (space === undefined) continue;
    const { found } = await cluster.look([{ ...layout.kind(space, ShardKind.Record), countOnly: true, revision }]);
    add(layout.totalCount, found[0]!.count);
    add(layout.tenantCount(address.tenant), found[0]!.count);
  }
  return counted;
}
