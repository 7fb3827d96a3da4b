import type { CommitAnswer, RemoveRunSet } from "@gossip/coordination";
import { encodeDeletedRun } from "@gossip/coordination-codec";
import type { Cluster } from "../cluster/cluster.ts";
import { readCensus } from "./census.ts";
import { countChange, countGets, MAX_COUNT_TRIES, readCounts } from "./counts.ts";
import { Outpaced } from "../cluster/etcd-failure.ts";
import { pathOf, ShardKind, type Space } from "../layout/layout.ts";
import { readRunVersion, runVersion } from "../layout/record-version.ts";
import { spaceIn } from "../read/run-heads.ts";
import { newSpace } from "./staging.ts";
import { CONFLICT } from "./update-shards.ts";

/**
 * Removes a run's head, record and census, updates the counts, and leaves a deletion mark. Its shards become
 * unreachable with its head, and so do its notes. A key queues them for sweeping.
 */
export async function removeRun(cluster: Cluster, set: RemoveRunSet): Promise<CommitAnswer> {
  const { layout } = cluster;
  const mark = encodeDeletedRun({ tenant: set.tenant, run: set.run });
  const guard = readRunVersion(set.guard);
  if (guard === undefined) return CONFLICT;

  for (let tries = 0; tries < MAX_COUNT_TRIES; tries++) {
    const { revision, found } = await cluster.look([{ get: layout.head(set) }, ...countGets(layout, set)]);
    const [head, ...rest] = found;
    const present = head!.kvs[0];
    if (present?.modRevision !== guard) return CONFLICT;
    const space = spaceIn(present);
    const counted = space === undefined ? 0 : await countShards(cluster, space, revision);
    const change = countChange(readCounts(layout, set, rest), -counted);
    const done = await cluster.write({
      compare: [{ key: layout.head(set), target: "MOD", is: "EQUAL", revision: guard }, ...change.compare],
      success: [
        { delete: layout.head(set) },
        { delete: layout.run(set) },
        { delete: layout.starved(set) },
        { put: layout.deleted(set), value: mark },
        ...change.operations,
        ...(space === undefined ? [] : [{ delete: layout.census(space) }]),
        { put: layout.unswept(space ?? newSpace()), value: pathOf(set) },
      ],
    });
    if (done.succeeded) return { kind: "Committed", version: runVersion(done.revision) };
  }
  throw new Outpaced();
}

/** How many shards a run has. A page that was not finished may have left more records, which were never counted. */
async function countShards(cluster: Cluster, space: Space, revision: bigint): Promise<number> {
  const { layout } = cluster;
  const { found } = await cluster.look([
    { get: layout.census(space), revision },
    { ...layout.kind(space, ShardKind.Record), countOnly: true, revision },
  ]);
  const { census } = readCensus(found[0]!.kvs[0]);
  const stored = found[1]!.count;
  return census === undefined || census.count < 0 ? stored : Math.min(census.count, stored);
}
