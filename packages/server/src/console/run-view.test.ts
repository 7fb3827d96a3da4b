// A look at a million shards takes a minute. If every request waited for it, a page would take long to show anything.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore, type CoordinationStore, type ListShardsQuery } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { ConsoleEventLog } from "./console-event-log.ts";
import { RunView } from "./run-view.ts";

const request = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const SHARDS = 1000;
const keyOf = (index: number): Uint8Array => Uint8Array.of(index >> 8, index & 255);

/** A view of a run whose shards are listed only when `open` is called, and what it slept and counted. */
async function slowView() {
  const clock = new ManualClock(1_000n);
  const memory = new MemoryStore();
  const shards = Array.from({ length: SHARDS }, (_, index) => ({
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
        // The first page comes at once.
        if (pages++ > 0) await opened;
        return target.listShards(query);
      };
    },
  });
  const coordinator = new Coordinator({ store, clock });
  const config = { leaseDuration: 60_000n };
  unwrap(await coordinator.createRunWithShards({ ...request, config, shards, opId: OpId.fromRaw(1n) }));
  progressReads = 0;
  let nowMs = 0;
  const slept: number[] = [];
  const view = new RunView(unwrap(await coordinator.getRun(request)), {
    store,
    coordinator,
    clock,
    events: new ConsoleEventLog("test"),
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
  return { view, slept, open, progressReads: () => progressReads };
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
  // One page of 500, of 1,000 shards that are read twice.
  expect(view.countedShare).toBe(0.25);
  const counts = await Promise.all([view.progress(), view.progress()]);
  expect(counts.map((each) => each?.total)).toEqual([SHARDS, SHARDS]);
  expect(progressReads()).toBeLessThanOrEqual(2);
  open();
  await expect.poll(() => view.counted?.sample.initialShards).toBe(SHARDS);
  expect(view.countedShare).toBe(1);
  await view.closed();
});
