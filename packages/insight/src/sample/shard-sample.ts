import { ShardId } from "@gossip/contracts";
import type { RunRecord, ShardRecord } from "@gossip/coordination";
import { isPaged } from "@gossip/coordination/internal";
import { ok, type Result } from "@gossip/stdx";

/** Reads shards by id, in the given order. `undefined` for one that does not exist. */
export type ReadShards<E> = (shards: readonly ShardId[]) => Promise<Result<readonly (ShardRecord | undefined)[], E>>;

export interface SampleOptions<E> {
  readonly run: RunRecord;
  /** Shards without children that the run has. */
  readonly leafCount: number;
  /** Most initial shards to read. Of their descendants, at most seven times as many are read. */
  readonly most: number;
  readonly read: ReadShards<E>;
}

/** A shard without children, and how many such shards it stands for. */
export interface SampledLeaf {
  readonly record: ShardRecord;
  readonly weight: number;
  /** The initial shard that it descends from. */
  readonly root: ShardId;
}

interface Node {
  readonly shard: ShardId;
  readonly root: ShardId;
}

/** The initial shards of a run. */
interface Roots {
  readonly count: number;
  readonly at: (index: number) => ShardId;
}

/** Shards that are read in all, as a multiple of `most`. A generation may take a quarter of what is left of it. */
const MOST_IN_ALL = 8;
const SHARE = 1 / 4;
/** If the sample suggests so many times as many or as few shards as there are, it does not describe the run. */
const MOST_OFF = 2;
/** Fractions of its multiples are evenly spread, and in no rhythm with numbers of shards. */
const GOLDEN = 0.618_033_988_749_895;

/**
 * Reads a sample of a run's shards. What it reads does not depend on the number of shards, and two calls choose the same
 * shards as long as none is split in between.
 *
 * Initial shards are chosen by id, at about equal distances, and their children by the ids in their parents' records. If
 * a generation has more shards than may be read, each that is chosen stands for as many more.
 *
 * Returns `undefined` if the ids of the initial shards are not known: the record of a run that was registered in pages
 * names only the last of them, and the others are found only if they are numbered from 0 or 1, as `startRun` does it.
 */
export async function sampleShards<E>(
  options: SampleOptions<E>,
): Promise<Result<readonly SampledLeaf[] | undefined, E>> {
  const { leafCount, most, read } = options;
  const roots = await findRoots(options);
  if (!roots.ok) return roots;
  let weight = Math.max(1, roots.value.count / most);
  let budget = MOST_IN_ALL * most;
  let nodes: readonly Node[] = evenIndexes(roots.value.count, most).map((index) => {
    const shard = roots.value.at(index);
    return { shard, root: shard };
  });
  const leaves: SampledLeaf[] = [];
  while (nodes.length > 0) {
    const records = await read(nodes.map(({ shard }) => shard));
    if (!records.ok) return records;
    const children: Node[] = [];
    for (const [index, { root }] of nodes.entries()) {
      const record = records.value[index];
      if (record === undefined) return ok(undefined);
      if (record.status !== "Split") leaves.push({ record, weight, root });
      for (const shard of record.spawned) children.push({ shard, root });
    }
    budget -= nodes.length;
    const kept = Math.min(most, Math.floor(budget * SHARE));
    nodes = evenIndexes(children.length, kept).map((index) => children[index]!);
    if (nodes.length > 0) weight *= children.length / nodes.length;
  }
  const suggested = leaves.reduce((sum, leaf) => sum + leaf.weight, 0);
  const isLike = suggested <= leafCount * MOST_OFF && leafCount <= suggested * MOST_OFF;
  return ok(isLike ? leaves : undefined);
}

/** Indexes below `count` in ascending order, at about equal distances: all of them, or `most`. */
function evenIndexes(count: number, most: number): number[] {
  if (count <= most) return Array.from({ length: count }, (_, index) => index);
  return Array.from({ length: most }, (_, part) => {
    const [start, end] = [Math.floor((part * count) / most), Math.floor(((part + 1) * count) / most)];
    return start + Math.floor((end - start) * (((part + 1) * GOLDEN) % 1));
  });
}

async function findRoots<E>({ run, read }: SampleOptions<E>): Promise<Result<Roots, E>> {
  const { rootShards } = run;
  if (!isPaged(run)) return ok({ count: rootShards.length, at: (index) => rootShards[index]! });
  const last = Number(rootShards.reduce((greatest, id) => (id > greatest ? id : greatest), ShardId.fromRaw(0n)));
  const zeroth = await read([ShardId.fromRaw(0n)]);
  if (!zeroth.ok) return zeroth;
  const first = zeroth.value[0] === undefined ? 1 : 0;
  return ok({ count: last - first + 1, at: (index) => ShardId.fromRaw(BigInt(first + index)) });
}
