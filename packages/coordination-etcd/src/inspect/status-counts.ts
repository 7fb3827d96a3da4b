import { decodeShardRecord } from "@gossip/coordination-codec";
import type { ShardStatus } from "@gossip/contracts";
import { StatusCounts } from "@gossip/coordination-fsck";
import type { KeyValue } from "@gossip/etcd-client";
import type { Cluster } from "../cluster/cluster.ts";
import { Outpaced } from "../cluster/etcd-failure.ts";
import { ShardKind, shardOf, type Space } from "../layout/layout.ts";
import { baseKey, baseValue, isCounted, sumTallies, tallyRange } from "../layout/tallies.ts";

/** How often to count again after other processes changed a status meanwhile. */
const MAX_TRIES = 16;

/** The status counts of a space at a revision; `undefined` if it has none. */
export async function readStatusCounts(
  cluster: Cluster,
  revision: bigint,
  space: Space,
): Promise<StatusCounts | undefined> {
  return isCounted(space) ? sumTallies(await readTallies(cluster, revision, space)) : undefined;
}

/** Makes the status counts of a space those of its records. Returns how many were wrong. */
export async function correctStatusCounts(cluster: Cluster, space: Space): Promise<number> {
  const { layout } = cluster;
  if (!isCounted(space)) return 0;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { revision } = await cluster.look([{ get: layout.format }]);
    const counted = await countRecords(cluster, revision, space);
    const tallies = await readTallies(cluster, revision, space);
    const stored = sumTallies(tallies);
    if (counted === undefined || StatusCounts.isEqual(stored, counted)) return 0;
    const base = tallies.find(({ key }) => key === baseKey(layout, space));
    const others = sumTallies(tallies.filter((kv) => kv !== base));
    const { get: key, end } = tallyRange(layout, space);
    const done = await cluster.write({
      // No status was changed since.
      compare: [{ key, end, target: "MOD", is: "LESS", revision: revision + 1n }],
      success: [{ put: baseKey(layout, space), value: baseValue(StatusCounts.minus(counted, others)) }],
    });
    if (done.succeeded) return StatusCounts.differences(stored, counted);
  }
  throw new Outpaced();
}

async function readTallies(cluster: Cluster, revision: bigint, space: Space): Promise<KeyValue[]> {
  const tallies: KeyValue[] = [];
  for await (const page of cluster.walk(revision, tallyRange(cluster.layout, space))) tallies.push(...page);
  return tallies;
}

/** `undefined` if a record cannot be read. */
async function countRecords(cluster: Cluster, revision: bigint, space: Space): Promise<StatusCounts | undefined> {
  const statuses: { readonly status: ShardStatus }[] = [];
  const range = { ...cluster.layout.kind(space, ShardKind.Record), pageSize: 64 };
  for await (const page of cluster.walk(revision, range)) {
    for (const { key, value } of page) {
      const record = decodeShardRecord(value);
      if (!record.ok || record.value.shard !== shardOf(key)) return undefined;
      statuses.push({ status: record.value.status });
    }
  }
  return StatusCounts.of(statuses);
}
