import { ShardId, type LogicalTime } from "@gossip/contracts";
import type { Coordinator, ShardPosition, ShardRecord } from "@gossip/coordination";
import {
  EvenSample,
  KeyAxisBuilder,
  NO_LABEL,
  readRunLabel,
  StripSketch,
  type AxisBuckets,
  type KeyAxis,
  type RunLabel,
} from "@gossip/insight";
import { visitPositions, visitShards, type ShardPassOptions } from "./shard-pass.ts";

/** Where the keys of a run lie, and what it is for. */
export interface RunPlan {
  readonly axis: KeyAxis;
  readonly label: RunLabel;
  /** Positions at equal distances in key order. */
  readonly sample: readonly ShardPosition[];
}

/** More samples than a strip has pixels show nothing more. */
const SAMPLES = 2048;
/** Fewer shards are counted in a second. */
export const SKETCH_FROM = 20_000;
/** Shards that are read for one of the sample: the first may be split. */
const SAMPLE_READS = [2, 32] as const;
const MAX_WORKERS = 200;
const MAX_HELD = 1000;

/** Find out where the shards of a run lie. `undefined` if it has none, or the store failed. */
export async function planRun(options: ShardPassOptions): Promise<RunPlan | undefined> {
  return (await planFromPositions(options)) ?? planFromShards(options);
}

async function planFromPositions(options: ShardPassOptions): Promise<RunPlan | undefined> {
  const { store, request } = options;
  const builder = new KeyAxisBuilder();
  const sample = new EvenSample<ShardPosition>(SAMPLES);
  let last: ShardPosition | undefined;
  const isComplete = await visitPositions(options, (positions) => {
    for (const position of positions) {
      if (!ShardId.isDerived(position.shard)) builder.addInitial(position.keyRangeStart);
      sample.add(position);
    }
    last = positions.at(-1) ?? last;
  });
  const [first] = sample.items;
  if (!isComplete || first === undefined || last === undefined) return undefined;
  const read = async ({ shard }: ShardPosition): Promise<ShardRecord | undefined> => {
    const found = await store.readShard(request.tenant, { run: request.run, shard });
    return found.ok ? found.value.shard?.record : undefined;
  };
  const [firstShard, lastShard] = [await read(first), await read(last)];
  // The last shard by key has the greatest end: the ranges of shards without children do not overlap.
  if (lastShard !== undefined) builder.addEnd(lastShard.spec.keyRangeEnd);
  const axis = builder.build();
  if (axis === undefined) return undefined;
  const label = firstShard === undefined ? NO_LABEL : readRunLabel(firstShard.spec);
  return { axis, label, sample: sample.seen < SKETCH_FROM ? [] : sample.items };
}

async function planFromShards(options: ShardPassOptions): Promise<RunPlan | undefined> {
  const builder = new KeyAxisBuilder();
  let label: RunLabel | undefined;
  const isComplete = await visitShards(options, (records) => {
    for (const { spec, parent } of records) {
      label ??= readRunLabel(spec);
      builder.add({ start: spec.keyRangeStart, end: spec.keyRangeEnd, isInitial: parent === undefined });
    }
  });
  const axis = isComplete ? builder.build() : undefined;
  return axis === undefined ? undefined : { axis, label: label ?? NO_LABEL, sample: [] };
}

/** What a strip shows until all shards are counted: estimates from a sample, and the shards that workers hold. */
export async function sketchRun(
  options: ShardPassOptions,
  { axis, sample, leafCount }: RunPlan & { readonly leafCount: number },
  coordinator: Coordinator,
): Promise<AxisBuckets | undefined> {
  const { clock, pace, isClosed } = options;
  const sketch = new StripSketch({ axis, leafCount, sampleCount: sample.length });
  const now = await clock.now();
  for (const position of sample) {
    const leaf = await pace.step(async () => leafAfter(options, position, now));
    if (isClosed()) return undefined;
    if (leaf !== undefined) sketch.add(leaf, now);
    await pace.rest();
  }
  sketch.end();
  for (const record of await heldShards(options, coordinator)) sketch.addHeld(record, now);
  return sketch.buckets;
}

/** The first shard without children after a position, if it is near. */
async function leafAfter(
  { store, request }: ShardPassOptions,
  after: ShardPosition,
  now: LogicalTime,
): Promise<ShardRecord | undefined> {
  for (const limit of SAMPLE_READS) {
    const page = await store.listShards({ ...request, after, limit, filter: {}, now });
    const leaf = page.ok ? page.value.items.find(({ status }) => status !== "Split") : undefined;
    if (leaf !== undefined || !page.ok || page.value.next === undefined) return leaf;
  }
  return undefined;
}

/** The shards that registered workers say they hold. */
async function heldShards({ store, request }: ShardPassOptions, coordinator: Coordinator): Promise<ShardRecord[]> {
  const workers = await coordinator.listWorkers({ ...request, limit: MAX_WORKERS });
  const ids = (workers.ok ? workers.value.items : []).flatMap(({ shards }) => shards).slice(0, MAX_HELD);
  const held: ShardRecord[] = [];
  for (const shard of ids) {
    const read = await store.readShard(request.tenant, { run: request.run, shard });
    if (read.ok && read.value.shard !== undefined) held.push(read.value.shard.record);
  }
  return held;
}
