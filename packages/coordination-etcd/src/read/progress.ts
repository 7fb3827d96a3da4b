import type { LogicalTime, ShardId } from "@gossip/contracts";
import { RunProgress, type RunMoment } from "@gossip/coordination";
import type { StatusCounts } from "@gossip/coordination-fsck";
import { compareBytes } from "@gossip/stdx";
import type { Cluster } from "../cluster/cluster.ts";
import { deadlineIn } from "../claim/held-leases.ts";
import { ShardKind, shardOf, type KeyRange, type RunAddress, type Space } from "../layout/layout.ts";
import { isCounted, sumTallies, tallyRange } from "../layout/tallies.ts";
import { readCensus } from "../write/census.ts";
import { danglingEntry, readShardAt, type RunHeads } from "./run-heads.ts";

/**
 * Reads the progress of a run.
 *
 * Only started, unfinished shards are read: the leases of held ones, and the records of all for their cursors. The rest
 * comes from the census and the status counts. The shards of a run without them are counted, which etcd does without
 * reading values.
 */
export async function readProgress(cluster: Cluster, heads: RunHeads, moment: RunMoment): Promise<RunProgress> {
  const { layout } = cluster;
  const look = await heads.lookWith(moment, (space) =>
    space === undefined ? [] : [{ get: layout.census(space) }, tallyRange(layout, space)],
  );
  const space = look?.run.space;
  if (look === undefined || space === undefined) return RunProgress.NONE;
  const { revision, found } = look;
  const { census } = readCensus(found[0]!.kvs[0]);
  const isKnown = isCounted(space) && census !== undefined && census.count >= 0;
  const total = isKnown ? census.count : await countKeys(cluster, revision, layout.kind(space, ShardKind.Record));
  const counts = isKnown ? sumTallies(found[1]!.kvs) : await countStatuses(cluster, { space, revision, total });
  const { Done: done, Split: split, Parked: parked } = counts;
  const started: ShardId[] = [];
  let leased = 0;
  for await (const page of cluster.walk(revision, { ...layout.kind(space, ShardKind.Begun), keysOnly: true })) {
    started.push(...page.map(({ key }) => shardOf(key)));
  }
  for await (const page of cluster.walk(revision, layout.kind(space, ShardKind.Held))) {
    started.push(...page.map(({ key }) => shardOf(key)));
    leased += page.filter((kv) => isHeldAt(deadlineIn(kv), moment.now)).length;
  }
  const watermark = await findWatermark(cluster, moment, { space, revision, started });
  return { total, active: total - done - split - parked, done, split, parked, leased, watermark };
}

/** Counts the shards that are not active. */
async function countStatuses(
  cluster: Cluster,
  { space, revision, total }: { readonly space: Space; readonly revision: bigint; readonly total: number },
): Promise<StatusCounts> {
  const { layout } = cluster;
  const kinds = [ShardKind.Fresh, ShardKind.Begun, ShardKind.Held, ShardKind.Parked, ShardKind.Split] as const;
  const counts = await Promise.all(kinds.map((kind) => countKeys(cluster, revision, layout.kind(space, kind))));
  const [fresh, begun, held, Parked, Split] = counts as [number, number, number, number, number];
  return { Done: total - fresh - begun - held - Parked - Split, Split, Parked };
}

async function countKeys(cluster: Cluster, revision: bigint, range: KeyRange): Promise<number> {
  const { found } = await cluster.look([{ ...range, countOnly: true, revision }]);
  return found[0]!.count;
}

interface StartedShards {
  readonly space: Space;
  readonly revision: bigint;
  readonly started: readonly ShardId[];
}

/** The least key that any of these shards has reached. */
async function findWatermark(
  cluster: Cluster,
  address: RunAddress,
  { space, revision, started }: StartedShards,
): Promise<Uint8Array | undefined> {
  const records = await cluster.readAt(
    revision,
    started.map((shard) => cluster.layout.record(space, shard)),
  );
  let least: Uint8Array | undefined;
  for (const kv of records) {
    if (kv === undefined) throw danglingEntry();
    const { lastKey } = readShardAt(address, space, kv).record.cursor;
    if (lastKey !== undefined && (least === undefined || compareBytes(lastKey, least) < 0)) least = lastKey;
  }
  return least;
}

function isHeldAt(deadline: LogicalTime, now: LogicalTime): boolean {
  return deadline > now;
}
