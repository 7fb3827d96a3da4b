// A sample that is not like the run shows a wrong number of items to everyone who looks at a large run.
import { ShardId } from "@gossip/contracts";
import { ok, unwrap } from "@gossip/stdx";
import { seededRandom } from "@gossip/tools/effort";
import { describe, expect, test } from "vitest";
import { decodeTotalsToken } from "../runs/item-totals.ts";
import { LargeRun, NOW, type LargeRunOptions } from "./large-run.fixture.ts";
import { sampleTotal, weighSample } from "./sample-totals.ts";
import { sampleShards, type ReadShards } from "./shard-sample.ts";

const MOST = 2048;
const MOST_IN_ALL = 8 * MOST;
const itemsOf = (record: Parameters<Parameters<typeof sampleTotal>[2]>[0]): number =>
  decodeTotalsToken(record.cursor.token)?.items ?? 0;

/** Samples a run, and counts what is read. */
async function sample(world: LargeRun, known: readonly ShardId[] = []) {
  let reads = 0;
  const read: ReadShards<never> = (ids) => {
    reads += ids.length;
    return Promise.resolve(ok(ids.map((id) => world.shards.get(id))));
  };
  const { counts } = world;
  const leafCount = counts.done + counts.leased + counts.waiting + counts.parked;
  const leaves = unwrap(await sampleShards({ run: world.record, leafCount, most: MOST, read }));
  if (leaves === undefined) return { reads, leaves: undefined, items: undefined, weighed: [] };
  const weighed = weighSample({ leaves, known: known.map((id) => world.shards.get(id)!), counts, now: NOW });
  return { reads, leaves, weighed, items: sampleTotal(weighed, counts, itemsOf) };
}

/** Many shards have few items, some have very many, and neighbors are alike. */
function skewed(random: () => number): (index: number) => number {
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let local = 0;
  return () => {
    local = 0.95 * local + 0.3 * normal();
    return Math.round(100 * Math.exp(local + 0.5 * normal()));
  };
}

function sumOf(world: LargeRun): number {
  return world.leaves.reduce((sum, record) => sum + itemsOf(record), 0);
}

const WORLDS: Readonly<Record<string, (random: () => number) => Omit<LargeRunOptions, "random" | "itemsOf">>> = {
  "100,000 initial shards, half of them done": (random) => ({ roots: 100_000, isDone: () => random() < 0.5 }),
  "30,000 initial shards, all done": () => ({ roots: 30_000, isDone: () => true, firstId: 0 }),
  "10,000 initial shards, a tenth of them split into 2 to 100": (random) => ({
    roots: 10_000,
    isPaged: false,
    isDone: () => random() < 0.7,
    childrenOf: (depth) => (depth === 0 && random() < 0.1 ? 2 + Math.floor(random() * 99) : 0),
  }),
  "32 initial shards, split and split again": (random) => ({
    roots: 32,
    isPaged: false,
    isDone: () => random() < 0.4,
    childrenOf: (depth) => (depth < 10 ? 2 : random() < 0.1 ? 3 : 0),
  }),
};

describe.each(Object.entries(WORLDS))("%s", (_name, optionsOf) => {
  test.each([1, 2, 3])("a bounded sample estimates the items within its own error (seed %i)", async (stream) => {
    const random = seededRandom(stream);
    const world = new LargeRun({ ...optionsOf(random), random, itemsOf: skewed(random) });
    const { reads, items, weighed, leaves } = await sample(world);
    expect(reads).toBeLessThan(MOST_IN_ALL);
    expect(new Set(leaves!.map(({ record }) => record.shard)).size).toBe(leaves!.length);
    const truth = sumOf(world);
    expect(items!.error).toBeGreaterThan(0);
    expect(items!.error! / truth).toBeLessThan(0.12);
    expect(Math.abs(items!.total - truth)).toBeLessThan(5 * items!.error!);
    expect(Math.abs(items!.total / truth - 1)).toBeLessThan(0.3);
    // The counts by state are exact.
    const sum = (state: string): number =>
      weighed.filter((leaf) => leaf.state === state).reduce((all, { weight }) => all + weight, 0);
    expect(sum("done")).toBeCloseTo(world.counts.done, 3);
    expect(sum("waiting")).toBeCloseTo(world.counts.waiting, 3);
  });
});

test("a run of a hundred times as many shards costs no more", async () => {
  const random = seededRandom(4);
  const readsOf = async (roots: number): Promise<number> =>
    (await sample(new LargeRun({ roots, random, isDone: () => false, itemsOf: () => 1 }))).reads;
  expect(await readsOf(200_000)).toBe(await readsOf(2048));
});

test("two samples choose the same shards", async () => {
  const random = seededRandom(5);
  const world = new LargeRun({ roots: 50_000, random, isDone: () => random() < 0.5, itemsOf: skewed(random) });
  expect((await sample(world)).leaves).toEqual((await sample(world)).leaves);
});

test("shards that workers hold are counted although the sample has none", async () => {
  const random = seededRandom(6);
  const world = new LargeRun({ roots: 50_000, random, isDone: () => true, itemsOf: () => 10, heldCount: 3 });
  const held = [1n, 2n, 3n].map((id) => ShardId.fromRaw(id));
  const { weighed, items } = await sample(world, held);
  expect(weighed.filter(({ state }) => state === "leased").map(({ weight }) => weight)).toEqual([1, 1, 1]);
  expect(items).toMatchObject({ total: expect.closeTo(10 * (50_000 - 3), 3) as number });
});

test("a run whose initial shards cannot be named is not sampled", async () => {
  const random = seededRandom(7);
  const gap = new LargeRun({ roots: 50_000, random, isDone: () => false, itemsOf: () => 1, firstId: 1000 });
  expect((await sample(gap)).leaves).toBeUndefined();
  // A record that names a few shards of many.
  const few = new LargeRun({ roots: 50_000, random, isDone: () => false, itemsOf: () => 1, isPaged: false });
  const world = Object.assign(Object.create(LargeRun.prototype) as LargeRun, few, {
    record: { ...few.record, rootShards: few.record.rootShards.slice(0, 1) },
  });
  expect((await sample(world)).leaves).toBeUndefined();
});
