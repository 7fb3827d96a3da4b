// An operator sees estimates for as long as a million shards are counted. They must be in the right places, and add up.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, MemoryStore, type ShardRecord } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { KeyAxis } from "../axis/key-axis.ts";
import { EvenSample, StripSketch } from "./strip-sketch.ts";

describe("an even sample", () => {
  test.each([0, 1, 7, 8, 9, 16, 17, 100, 1000, 1025])("of %i items", (count) => {
    const sample = new EvenSample<number>(8);
    for (let item = 0; item < count; item++) sample.add(item);
    const { items, seen } = sample;
    expect(seen).toBe(count);
    expect(items.length).toBeLessThanOrEqual(8);
    expect(items.length).toBeGreaterThanOrEqual(Math.min(count, 4));
    const every = (items[1] ?? 1) - (items[0] ?? 0);
    expect(items).toEqual(items.map((_, index) => index * every));
    // No part at the end is left out.
    expect(items.length * every).toBeGreaterThanOrEqual(count);
  });
});

const request = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const WORKER = WorkerId.fromRaw(7n);
const SHARDS = 16;

/** Shards of 16 keys each: those of the first half are done, and the eleventh is held. */
async function makeShards() {
  const clock = new ManualClock(1000n);
  const store = new MemoryStore();
  const coordinator = new Coordinator({ store, clock });
  const keyOf = (index: number): Uint8Array => (index === SHARDS ? Uint8Array.of(255, 255) : Uint8Array.of(index * 16));
  const shards = Array.from({ length: SHARDS }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index + 1)),
    spec: ShardSpec.withRange({ start: keyOf(index), end: keyOf(index + 1) }),
    cursor: Cursor.initial(),
  }));
  const config = { leaseDuration: 1000n };
  unwrap(await coordinator.createRunWithShards({ ...request, config, shards, opId: OpId.fromRaw(1n) }));
  const hold = async (index: number) => {
    const key = { run: request.run, shard: ShardId.fromRaw(BigInt(index + 1)) };
    return unwrap(await coordinator.openSession({ tenant: request.tenant, key, worker: WORKER }));
  };
  for (let index = 0; index < SHARDS / 2; index++)
    unwrap(await (await hold(index)).complete(Cursor.withLastKey(keyOf(index))));
  await hold(10);
  const query = { ...request, after: undefined, limit: 100, filter: {}, now: clock.now() };
  const records: readonly ShardRecord[] = unwrap(store.listShards(query)).items;
  const axis = new KeyAxis(
    shards.map(({ spec }) => spec.keyRangeStart),
    keyOf(SHARDS),
  );
  return { records, axis, now: clock.now() };
}

test("each shard of the sample stands for those up to the next, and the counts add up", async () => {
  const { records, axis, now } = await makeShards();
  const sample = records.filter((_, index) => index % 4 === 1);
  const sketch = new StripSketch({ axis, leafCount: 1003, sampleCount: sample.length });
  for (const record of sample) sketch.add(record, now);
  sketch.end();
  const { fill, done, waiting } = sketch.buckets.view({ from: 0, to: 1, count: SHARDS });
  // The second and the sixth shard are done, and the tenth is where the third part begins.
  expect(fill).toBe("dddddddddwwwwwww");
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  expect(sum(done) + sum(waiting)).toBe(1003);
  expect(Math.abs(sum(done) - sum(waiting))).toBeLessThanOrEqual(1);
  // What begins at or below a position is a shard that exists.
  expect(sketch.buckets.startBefore(0.9)).toBeLessThanOrEqual(13 / SHARDS);
});

test("a shard that a worker holds is shown although the sample has none, and one that it no longer holds is not", async () => {
  const { records, axis, now } = await makeShards();
  const sketch = new StripSketch({ axis, leafCount: SHARDS, sampleCount: 1 });
  sketch.add(records[12]!, now);
  sketch.end();
  for (const index of [2, 10, 14]) sketch.addHeld(records[index]!, now);
  const { fill, leased } = sketch.buckets.view({ from: 0, to: 1, count: SHARDS });
  expect(fill).toBe("wwwwwwwwwwlwwwww");
  expect(leased).toEqual(Array.from({ length: SHARDS }, (_, index) => (index === 10 ? 1 : 0)));
});
