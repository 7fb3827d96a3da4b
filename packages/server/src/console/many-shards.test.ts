// A run may have a hundred thousand shards and more. A page that reads them all for every request would stop the store.
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
  ShardFilter,
  type CoordinationStore,
  type ListShardsQuery,
} from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { evenSplitPoints, planHintedSplitReplace } from "@gossip/frontier";
import { KeyAxis } from "@gossip/insight";
import { writeId } from "@gossip/protocol";
import { ok, unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { Principal } from "../auth/principal.ts";
import { GossipServer } from "../server.ts";

const ROOTS = 1000;
const SPLITS = 391;
const MAX_EXAMINED = 4096;
/** Nearly the last one. */
const PARKED = ShardId.fromRaw(990n);
const tenant = TenantId.ZERO;
const run = RunId.fromRaw(1n);

/** 1,000 initial shards, of which 391 are split into 256. */
async function fill(coordinator: Coordinator): Promise<void> {
  const keyOf = (index: number): Uint8Array => {
    const key = new Uint8Array(4);
    new DataView(key.buffer).setUint32(0, index * 4_000_000);
    return key;
  };
  const shards = Array.from({ length: ROOTS }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index + 1)),
    spec: ShardSpec.withRange({ start: keyOf(index), end: keyOf(index + 1) }),
    cursor: Cursor.initial(),
  }));
  const config = { leaseDuration: 60_000n };
  unwrap(await coordinator.createRunWithShards({ tenant, run, config, shards, opId: OpId.fromRaw(1n) }));
  for (const { shard } of shards.slice(0, SPLITS)) {
    const worker = WorkerId.fromRaw(7n);
    const session = unwrap(await coordinator.openSession({ tenant, key: { run, shard }, worker }));
    const { spec, cursor } = session;
    const points = evenSplitPoints({ start: spec.keyRangeStart, end: spec.keyRangeEnd }, 256);
    unwrap(await session.splitReplace(unwrap(planHintedSplitReplace(spec, cursor, points))));
  }
  const key = { run, shard: PARKED };
  unwrap(await unwrap(await coordinator.openSession({ tenant, key, worker: WorkerId.fromRaw(7n) })).park("Poisoned"));
}

/** A server of the runs of a store, and a function that reads what it shows of the run. */
async function serve(store: CoordinationStore, coordinator: Coordinator, clock: ManualClock) {
  const authenticate = (): Principal => new Principal("page", "read");
  // One look only: the clock of the looks is real, and the next one is an hour away.
  const insight = { store, lookEveryMs: 3_600_000 };
  const options = { coordinator, clock, listen: { port: 0 }, authenticate, isOpen: true, insight };
  const server = unwrap(await GossipServer.start(options));
  // oxlint-disable-next-line no-explicit-any -- the shapes are those of the protocol
  const get = async (path: string): Promise<any> =>
    (
      await fetch(
        `${server.url}/v1/console/runs/0000000000000001${path.startsWith("?") ? "" : "/"}${path}tenant=${tenant}`,
      )
    ).json();
  return { server, get };
}

/** Shards that begin at neighboring keys, in one of the strip's buckets. */
const [GROUPS, GROUP_SIZE] = [20, 250];
const DENSE = GROUPS * GROUP_SIZE;
const DENSE_RANGE = { start: Uint8Array.of(0), end: Uint8Array.of(255) };
const denseKey = (index: number): Uint8Array => {
  const key = new Uint8Array(4);
  new DataView(key.buffer).setUint32(0, 0x8000_0000 + index);
  return key;
};

/** One initial shard for all keys, of which 5,000 neighboring ones have a shard each. */
async function fillDensely(coordinator: Coordinator): Promise<void> {
  const shards = [{ shard: ShardId.fromRaw(1n), spec: ShardSpec.withRange(DENSE_RANGE), cursor: Cursor.initial() }];
  const config = { leaseDuration: 60_000n };
  unwrap(await coordinator.createRunWithShards({ tenant, run, config, shards, opId: OpId.fromRaw(1n) }));
  const split = async (shard: ShardId, points: readonly Uint8Array[]): Promise<readonly ShardId[]> => {
    const key = { run, shard };
    const session = unwrap(await coordinator.openSession({ tenant, key, worker: WorkerId.fromRaw(7n) }));
    unwrap(await session.splitReplace(unwrap(planSplitReplaceAtPoints(session.spec, session.cursor, points))));
    return unwrap(await coordinator.getShard({ tenant, key }))!.spawned;
  };
  const groupStarts = Array.from({ length: GROUPS }, (_, group) => denseKey(group * GROUP_SIZE));
  const groups = await split(shards[0]!.shard, groupStarts);
  for (const [group, shard] of groups.slice(1).entries()) {
    const isLast = group === GROUPS - 1;
    const points = Array.from({ length: GROUP_SIZE - 1 + Number(isLast) }, (_, index) =>
      denseKey(group * GROUP_SIZE + index + 1),
    );
    await split(shard, points);
  }
}

test("more shards than a strip shows one by one, in one bucket, are single ones further in", async () => {
  const [store, clock] = [new MemoryStore(), new ManualClock(1_000n)];
  const coordinator = new Coordinator({ store, clock });
  await fillDensely(coordinator);
  const { server, get } = await serve(store, coordinator, clock);
  try {
    let strip = await get("strip?");
    while (!strip.isCounted) strip = await get("strip?");
    expect(strip.shardCount).toBe(DENSE + 2);
    expect(strip.shards).toBeUndefined();
    const axis = new KeyAxis([DENSE_RANGE.start], DENSE_RANGE.end);
    const positionOf = (index: number): number =>
      (axis.position(denseKey(Math.floor(index))) + axis.position(denseKey(Math.ceil(index)))) / 2;
    const part = await get(`strip?from=${positionOf(2000.5)}&to=${positionOf(2100.5)}&`);
    expect(part.shards?.length).toBe(101);
    expect(part.shardCount).toBe(101);
    const starts = part.shards.map(({ start }: { start: { text: string } }) => start.text);
    expect(starts[0]).toContain(Buffer.from(denseKey(2000)).toString("hex"));
    expect(starts.at(-1)).toContain(Buffer.from(denseKey(2100)).toString("hex"));
    // Left of them is one large shard, and it is found from inside.
    const left = await get(`strip?from=0.3&to=0.30001&`);
    expect(left.shards?.length).toBe(1);
    expect(left.shards[0].start.size).toBe(1);
    // More than can be shown one by one.
    const wide = await get(`strip?from=${positionOf(1000)}&to=${positionOf(3000)}&`);
    expect(wide.shards).toBeUndefined();
    expect(wide.buckets.fill).toMatch(/^w+$/);
  } finally {
    await server.close();
  }
});

test("the strip of 100,000 shards is exact, and a request reads a bounded number of them", async () => {
  const clock = new ManualClock(1_700_000_000_000n);
  const memory = new MemoryStore();
  const limits = { maxShardsPerTenant: 1_000_000 };
  await fill(new Coordinator({ store: memory, clock, limits }));
  let isCounting = false;
  let read = 0;
  const store: CoordinationStore = new Proxy(memory, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "listShards") return value.bind(target) as unknown;
      return (query: ListShardsQuery) => {
        if (isCounting) read += query.limit;
        if (query.filter.status !== "Parked") return target.listShards(query);
        // Like the stores, a page does not look through all shards for a match.
        const page = unwrap(target.listShards({ ...query, filter: ShardFilter.ALL, limit: MAX_EXAMINED }));
        const items = page.items.filter((record) => ShardFilter.matches(query.filter, record, query.now));
        return ok({ ...page, items });
      };
    },
  });
  const coordinator = new Coordinator({ store, clock, limits });
  const { server, get } = await serve(store, coordinator, clock);
  try {
    let strip = await get("strip?");
    while (!strip.isCounted) strip = await get("strip?");
    isCounting = true;
    const leaves = ROOTS - SPLITS + SPLITS * 256;
    strip = await get("strip?buckets=1500&");
    expect(strip.shardCount).toBe(leaves);
    expect(strip.buckets.waiting.length).toBe(1500);
    expect(strip.buckets.waiting.reduce((sum: number, each: number) => sum + each, 0)).toBe(leaves - 1);
    expect(strip.buckets.fill).toMatch(/^w{1400,}p+w+$/);
    expect(read).toBe(0);
    // One initial shard that was split: each of its children.
    const part = await get("strip?from=0.2&to=0.201&");
    expect(part.shards.length).toBe(256);
    const list = await get("shards?limit=50&");
    expect(list.shards.length).toBe(50);
    expect((await get(`shards?limit=50&after=${list.next}&`)).shards[0].shard).not.toBe(list.shards[0].shard);
    expect((await get("shards?state=done&")).shards).toEqual([]);
    // The one that is parked is found at once, though a hundred thousand shards are before it.
    const parked = await get("shards?state=parked&");
    expect(parked.shards.map(({ shard }: { shard: string }) => shard)).toEqual([writeId(PARKED)]);
    expect(parked.next).toBeUndefined();
    expect((await get("?")).run.initialShards).toBe(ROOTS);
    const tree = await get("tree?limit=200&");
    expect(tree.nodes.length).toBeGreaterThan(0);
    expect(read).toBeLessThan(10_000);
  } finally {
    await server.close();
  }
});
