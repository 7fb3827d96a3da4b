// A look at a million shards takes a minute. If every request waited for it, a page would take long to show anything.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, MemoryStore, type CoordinationStore, type ListShardsQuery } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { ConsoleEventLog } from "./console-event-log.ts";
import { RunView } from "./run-view.ts";

const request = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const SHARDS = 1000;
/** So many that they are shown from a sample first. */
const VERY_MANY = 24_000;
const keyOf = (index: number): Uint8Array => Uint8Array.of(index >> 8, index & 255);

/** Most shards of one registration. */
const PAGE = 10_000;

/** A view of a run whose shards are listed only when `open` is called, and what it slept and counted. */
async function slowView({ shardCount = SHARDS, freePages = 1 } = {}) {
  const clock = new ManualClock(1_000n);
  const memory = new MemoryStore();
  const shards = Array.from({ length: shardCount }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index + 1)),
    spec: ShardSpec.withRange({ start: keyOf(index), end: keyOf(index + 1) }),
    cursor: Cursor.initial(),
  }));
  let progressReads = 0;
  let pages = 0;
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const store: CoordinationStore = new Proxy(memory, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name === "readProgress") progressReads++;
      if (name !== "listShards") return value.bind(target) as unknown;
      return async (query: ListShardsQuery) => {
        // The first pages come at once.
        if (pages++ >= freePages) await opened;
        return target.listShards(query);
      };
    },
  });
  const coordinator = new Coordinator({ store, clock });
  unwrap(await coordinator.createRun({ ...request, config: { leaseDuration: 60_000n } }));
  for (let from = 0; from < shardCount; from += PAGE) {
    const page = { shards: shards.slice(from, from + PAGE), more: from + PAGE < shardCount };
    unwrap(await coordinator.registerShards({ ...request, ...page, opId: OpId.fromRaw(BigInt(from + 1)) }));
  }
  progressReads = 0;
  let nowMs = 0;
  const slept: number[] = [];
  const events = new ConsoleEventLog("test");
  const view = new RunView(unwrap(await coordinator.getRun(request)), {
    store,
    coordinator,
    clock,
    events,
    isHiding: false,
    everyMs: 1000,
    isReadOnly: true,
    writer: "test",
    nowMs: () => nowMs,
    sleep: async (ms) => {
      slept.push(ms);
      // The store gets to answer what it can.
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      nowMs += ms;
    },
    admit: () => () => {},
  });
  return { view, slept, open, coordinator, events, pages: () => pages, progressReads: () => progressReads };
}

test("requests wait together, and no longer once the first look has taken three seconds", async () => {
  const { view, slept, open } = await slowView();
  await view.fresh();
  expect(slept).toEqual([3000]);
  expect(view.counted).toBeUndefined();
  await view.fresh();
  await view.fresh();
  expect(slept).toEqual([3000]);
  open();
  await view.closed();
});

test("the first look says how far it is, and the store counts once meanwhile", async () => {
  const { view, open, progressReads } = await slowView();
  expect(view.countedShare).toBe(0);
  await view.fresh();
  // One page of 100, of 1,000 shards.
  expect(view.countedShare).toBe(0.1);
  const counts = await Promise.all([view.progress(), view.progress()]);
  expect(counts.map((each) => each?.total)).toEqual([SHARDS, SHARDS]);
  expect(progressReads()).toBeLessThanOrEqual(2);
  open();
  await expect.poll(() => view.counted?.sample.initialShards).toBe(SHARDS);
  expect(view.countedShare).toBe(1);
  await view.closed();
});

test("very many shards are shown from a sample until they are counted", async () => {
  const { view, slept, open, coordinator, events, pages } = await slowView({ shardCount: VERY_MANY, freePages: 2100 });
  const hold = (index: number) => {
    const key = { run: request.run, shard: ShardId.fromRaw(BigInt(index + 1)) };
    return coordinator.openSession({ tenant: request.tenant, key, worker: WorkerId.fromRaw(7n) });
  };
  // The first half is done.
  for (let index = 0; index < VERY_MANY / 2; index++)
    unwrap(await unwrap(await hold(index)).complete(Cursor.withLastKey(keyOf(index))));
  const told: number[] = [];
  events.listen(({ kind, atMs }) => kind === "Counted" && told.push(atMs));
  await view.fresh();
  // A request does not wait for so many.
  expect(slept).not.toContain(3000);
  await expect.poll(() => view.buckets, { timeout: 60_000 }).toBeDefined();
  expect(view.counted).toBeUndefined();
  // A page that is open shows it at once. Times are those of the coordinator's clock.
  await expect.poll(() => told).toEqual([1000]);
  // A sample is read, not all shards.
  expect(pages()).toBeLessThan(2100);
  const strip = view.buckets!.view({ from: 0, to: 1, count: 100 });
  expect(strip.fill).toMatch(/^d{49,50}w{50,51}$/);
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  expect(sum(strip.done) + sum(strip.waiting)).toBe(VERY_MANY);
  expect(Math.abs(sum(strip.done) - VERY_MANY / 2)).toBeLessThan(VERY_MANY / 100);
  open();
  await expect.poll(() => view.counted?.sample.states, { timeout: 60_000 }).toMatchObject({ done: VERY_MANY / 2 });
  const exact = view.buckets!.view({ from: 0, to: 1, count: 100 });
  expect([sum(exact.done), sum(exact.waiting)]).toEqual([VERY_MANY / 2, VERY_MANY / 2]);
  await view.closed();
});
