import type { LogicalTime, ShardId } from "@gossip/contracts";
import { RunProgress, type RunMoment } from "@gossip/coordination";
import { compareBytes } from "@gossip/stdx";
import type { Cluster } from "../cluster/cluster.ts";
import { deadlineIn } from "../claim/held-leases.ts";
import { ShardKind, shardOf, type RunAddress, type Space } from "../layout/layout.ts";
import { danglingEntry, readShardAt, type RunHeads } from "./run-heads.ts";

/**
 * Reads the progress of a run.
 *
 * etcd counts the keys without reading their values. Only the records of started, unfinished shards are read, for their
 * cursors.
 */
export async function readProgress(cluster: Cluster, heads: RunHeads, moment: RunMoment): Promise<RunProgress> {
  const { layout } = cluster;
  const look = await heads.lookWith(moment, (space) => {
    if (space === undefined) return [];
    const count = (kind: ShardKind) => ({ ...layout.kind(space, kind), countOnly: true });
    return [
      count(ShardKind.Record),
      count(ShardKind.Fresh),
      count(ShardKind.Begun),
      count(ShardKind.Held),
      count(ShardKind.Parked),
      count(ShardKind.Split),
    ];
  });
  const space = look?.run.space;
  if (look === undefined || space === undefined) return RunProgress.NONE;
  const [total, fresh, begun, held, parked, split] = look.found.map(({ count }) => count) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const active = fresh + begun + held;
  const started: ShardId[] = [];
  let leased = 0;
  for await (const page of cluster.walk(look.revision, { ...layout.kind(space, ShardKind.Begun), keysOnly: true })) {
    started.push(...page.map(({ key }) => shardOf(key)));
  }
  for await (const page of cluster.walk(look.revision, layout.kind(space, ShardKind.Held))) {
    started.push(...page.map(({ key }) => shardOf(key)));
    leased += page.filter((kv) => isHeldAt(deadlineIn(kv), moment.now)).length;
  }
  const watermark = await findWatermark(cluster, moment, { space, revision: look.revision, started });
  return { total, active, done: total - active - parked - split, split, parked, leased, watermark };
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
