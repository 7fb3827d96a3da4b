// A page shows these numbers and nothing else. They are compared with what really was done.
import {
  Cursor,
  OpId,
  planSplitReplaceAtPoints,
  RunId,
  ShardId,
  ShardSpec,
  TenantId,
  WorkerId,
} from "@gossip/contracts";
import {
  Coordinator,
  MemoryStore,
  RANGE_EXHAUSTED,
  type ShardPosition,
  type WorkerSession,
} from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { beforeEach, describe, expect, test } from "vitest";
import { KeyAxisBuilder } from "../axis/key-axis.ts";
import { encodeTotalsToken } from "../runs/item-totals.ts";
import { RunSampler, type RunSample } from "./run-sampler.ts";

const START = 1_700_000_000_000n;
const request = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const [ANN, BOB] = [WorkerId.fromRaw(1n), WorkerId.fromRaw(2n)];
const byte = (value: number): Uint8Array => Uint8Array.of(value);

let clock: ManualClock;
let store: MemoryStore;
let coordinator: Coordinator;
let sampler: RunSampler;

/** Four shards of 64 keys each. */
beforeEach(async () => {
  clock = new ManualClock(START);
  store = new MemoryStore();
  coordinator = new Coordinator({ store, clock });
  const shards = [0, 64, 128, 192].map((start, index) => ({
    shard: ShardId.fromRaw(BigInt(index + 1)),
    spec: ShardSpec.withRange({ start: byte(start), end: start === 192 ? Uint8Array.of(255, 255) : byte(start + 64) }),
    cursor: Cursor.initial(),
  }));
  const config = { leaseDuration: 1000n };
  unwrap(await coordinator.createRunWithShards({ ...request, config, shards, opId: OpId.fromRaw(1n) }));
  const builder = new KeyAxisBuilder();
  for (const record of records())
    builder.add({
      start: record.spec.keyRangeStart,
      end: record.spec.keyRangeEnd,
      isInitial: record.parent === undefined,
    });
  sampler = new RunSampler({ axis: builder.build()!, leaseMs: 1000 });
});

function records() {
  const after: ShardPosition | undefined = undefined;
  return unwrap(store.listShards({ ...request, after, limit: 1000, filter: {}, now: clock.now() })).items;
}

function look(): RunSample {
  const now = clock.now();
  for (const record of records()) sampler.visit(record, now);
  return sampler.end(now);
}

const hold = async (shard: number, worker: WorkerId): Promise<WorkerSession> =>
  unwrap(
    await coordinator.openSession({
      tenant: request.tenant,
      key: { run: request.run, shard: ShardId.fromRaw(BigInt(shard)) },
      worker,
    }),
  );

/** Finish keys up to `key`, `items` of them in all. */
const finish = async (session: WorkerSession, key: number, items: number): Promise<void> =>
  void unwrap(
    await session.checkpoint(
      Cursor.fromParts({
        lastKey: byte(key),
        token: encodeTotalsToken({ items, failed: 0, unreadable: 0 }, new Uint8Array(0)),
      }),
    ),
  );

const heatOf = ({ heat }: RunSample): { items: number; from: number; to: number } => ({
  items: [...heat.values()].reduce((sum, items) => sum + items, 0),
  from: Math.min(...heat.keys()) / 1500,
  to: (Math.max(...heat.keys()) + 1) / 1500,
});

describe("a look", () => {
  test("counts shards by state and position", async () => {
    const session = await hold(2, ANN);
    await finish(session, 96, 32);
    const done = await hold(1, ANN);
    unwrap(await done.complete(RANGE_EXHAUSTED));
    const parked = await hold(4, BOB);
    unwrap(await parked.park("Poisoned"));
    const sample = look();
    expect(sample.states).toEqual({ done: 1, leased: 1, waiting: 1, parked: 1, split: 0 });
    expect(sample.doneShare).toBeCloseTo(0.375);
    expect(sample.items).toBe(32);
    expect([...sample.holders]).toEqual([[ANN, 1]]);
    const view = sample.buckets.view({ from: 0, to: 1, count: 8 });
    expect(view.fill).toBe("dddlwwpp");
    expect([view.done, view.leased, view.waiting, view.parked]).toEqual([
      [1, 0, 0, 0, 0, 0, 0, 0],
      [0, 0, 1, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 1, 0, 0, 0],
      [0, 0, 0, 0, 0, 0, 1, 0],
    ]);
    expect(view.cursors).toEqual([0, 0, 0, 1, 0, 0, 0, 0]);
    expect(sample.buckets.countIn(0.25, 0.75)).toBe(2);
    expect(sample.initialShards).toBe(4);
    // The one that is done begins at 0, the one in progress at a quarter. A bucket less: positions are rounded.
    expect(sample.buckets.nextOf("leased", 0)).toBeCloseTo(0.25, 3);
    expect(sample.buckets.nextOf("leased", 0)).toBeLessThan(0.25);
    expect(sample.buckets.nextOf("leased", 0.3)).toBeUndefined();
    expect(sample.buckets.nextOf("done", 0)).toBe(0);
    expect(sample.buckets.view({ from: 0.25, to: 0.5, count: 2 }).fill).toBe("dl");
  });

  test("finds the items since the look before, where they are, also in a shard that was done in between", async () => {
    const session = await hold(2, ANN);
    await finish(session, 80, 10);
    expect(heatOf(look()).items).toBe(0);
    clock.advance(500n);
    await finish(session, 112, 30);
    const second = await hold(3, ANN);
    await finish(second, 160, 7);
    unwrap(await second.complete(RANGE_EXHAUSTED));
    const sample = look();
    expect(sample.newItems).toBe(27);
    expect(heatOf(sample).items).toBeCloseTo(27);
    expect(heatOf(sample).from).toBeCloseTo(80 / 256, 2);
    clock.advance(500n);
    expect(look().newItems).toBe(0);
  });

  test("counts the items of a shard that was split once", async () => {
    const session = await hold(2, ANN);
    await finish(session, 80, 10);
    look();
    clock.advance(10n);
    await finish(session, 90, 15);
    const plan = unwrap(planSplitReplaceAtPoints(session.spec, session.cursor, [byte(100), byte(110)]));
    unwrap(await session.splitReplace(plan));
    const sample = look();
    expect(sample.newItems).toBe(5);
    expect(sample.items).toBe(15);
    expect(sample.states).toMatchObject({ waiting: 6, split: 1 });
    expect(sample.changes.map(({ kind }) => kind)).toContain("ShardSplit");
  });
});

describe("changes", () => {
  test("claims, releases, losses and takeovers are found, each once", async () => {
    look();
    const first = await hold(1, ANN);
    const second = await hold(2, ANN);
    clock.advance(100n);
    expect(look().changes.map(({ kind, worker }) => [kind, worker])).toEqual([
      ["ShardAcquired", ANN],
      ["ShardAcquired", ANN],
    ]);
    unwrap(await first.release());
    clock.advance(100n);
    expect(look().changes).toMatchObject([{ kind: "ShardReleased", shard: 1n, worker: ANN }]);
    clock.advance(1000n);
    expect(look().changes).toMatchObject([{ kind: "ShardLost", shard: 2n, worker: ANN }]);
    await hold(2, BOB);
    expect(look().changes).toMatchObject([{ kind: "ShardAcquired", shard: 2n, worker: BOB }]);
    clock.advance(5000n);
    await hold(2, ANN);
    expect(look().changes).toMatchObject([{ kind: "ShardTakenOver", shard: 2n, worker: ANN }]);
    expect(look().changes).toEqual([]);
    void second;
  });

  test("an operation names the worker only if it held the shard since the look before", async () => {
    const first = await hold(1, ANN);
    look();
    unwrap(await first.release());
    const second = await hold(1, BOB);
    clock.advance(10n);
    const released = look().changes.find(({ kind }) => kind === "ShardReleased");
    expect(released).toMatchObject({ shard: 1n });
    expect(released?.worker).toBeUndefined();
    unwrap(await second.park("Poisoned"));
    clock.advance(10n);
    expect(look().changes).toMatchObject([{ kind: "ShardParked", shard: 1n, worker: BOB }]);
  });

  test("the first look shows the operations that records still have", async () => {
    const session = await hold(1, ANN);
    unwrap(await session.park("Poisoned"));
    const { changes } = look();
    expect(changes).toMatchObject([{ kind: "ShardParked", shard: 1n, reason: "Poisoned" }]);
  });
});
