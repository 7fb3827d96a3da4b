// A user who looks at a run of a million shards must not wait for a million reads, nor take an estimate for a count.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, MemoryStore, RANGE_EXHAUSTED, systemClock, type CoordinationStore } from "@gossip/coordination";
import { openLmdbStore } from "@gossip/coordination-lmdb";
import { encodeTotalsToken } from "@gossip/insight";
import { unwrap } from "@gossip/stdx";
import { seededRandom } from "@gossip/tools/effort";
import { describe, expect, test } from "vitest";
import { gossipLine } from "../../commands/command-line.fixture.ts";
import { shareEstimate } from "../../progress/estimate/shared-estimate.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { MOST_READ, readShownOverview } from "./sampled-overview.ts";

const tenant = TenantId.ZERO;
const request = { tenant, run: RunId.fromRaw(1n) };
const WORKER = WorkerId.fromRaw(7n);
const MANY = 16_000;
const PAGE = 8000;
/** Every fifth shard is done, and the first few are held, the last one is parked. */
const DONE_EVERY = 5;
const HELD = [1, 2, 3];
const NO_BYTES = new Uint8Array(0);
const keyOf = (index: number): Uint8Array => Uint8Array.of(index >> 16, (index >> 8) & 255, index & 255);

/** A run with items in its finished shards. Returns how many. */
async function fill(coordinator: Coordinator, count: number): Promise<number> {
  const random = seededRandom(1);
  unwrap(await coordinator.createRun({ ...request, config: { leaseDuration: 3_600_000n } }));
  for (let from = 0; from < count; from += PAGE) {
    const shards = Array.from({ length: Math.min(PAGE, count - from) }, (_, index) => ({
      shard: ShardId.fromRaw(BigInt(from + index + 1)),
      spec: ShardSpec.withRange({ start: keyOf(from + index), end: keyOf(from + index + 1) }),
      cursor: Cursor.initial(),
    }));
    const more = from + PAGE < count;
    unwrap(await coordinator.registerShards({ ...request, shards, opId: OpId.fromRaw(BigInt(from + 1)), more }));
  }
  const hold = async (shard: number) =>
    unwrap(
      await coordinator.openSession({
        tenant,
        key: { run: request.run, shard: ShardId.fromRaw(BigInt(shard)) },
        worker: WORKER,
      }),
    );
  let items = 0;
  await Promise.all(
    Array.from({ length: count / DONE_EVERY }, async (_, index) => {
      const shard = (index + 1) * DONE_EVERY - 1;
      const done = 10 + Math.floor(190 * random() ** 4);
      items += done;
      const session = await hold(shard);
      const token = encodeTotalsToken({ items: done, failed: 0, unreadable: 0 }, NO_BYTES);
      unwrap(await session.checkpoint(Cursor.fromParts({ lastKey: keyOf(shard - 1), token })));
      unwrap(await session.complete(RANGE_EXHAUSTED));
    }),
  );
  for (const shard of HELD) await hold(shard);
  const shards = HELD.map((shard) => ShardId.fromRaw(BigInt(shard)));
  const info = { name: "w", host: "h", pid: 1, version: "1", startedAt: 1n as never, shards, itemCount: 0 };
  unwrap(await coordinator.registerWorker({ ...request, worker: WORKER, info, ttl: 3_600_000n }));
  const parked = await hold(count);
  unwrap(await parked.park("Poisoned", { detail: { error: "it broke", attempts: 1 } }));
  return items;
}

/** A store in memory, and how many shards were read from it. */
async function openCounted(count: number) {
  const memory = new MemoryStore();
  const clock = systemClock(() => 1_000_000);
  const limits = { maxShardsPerTenant: 1_000_000 };
  const items = await fill(new Coordinator({ store: memory, clock, limits }), count);
  let reads = 0;
  const store: CoordinationStore = new Proxy(memory, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        const answer = (value as (...given: unknown[]) => unknown).apply(target, args);
        if (name === "readShard") reads++;
        if (name === "listShards") reads += unwrap(answer as ReturnType<MemoryStore["listShards"]>).items.length;
        return answer;
      };
    },
  });
  const opened = { coordinator: new Coordinator({ store, clock, limits }), clock } as unknown as OpenedStore;
  return { opened, items, reads: () => reads };
}

const states = { done: MANY / DONE_EVERY, leased: 3, waiting: MANY - MANY / DONE_EVERY - 4, parked: 1 };

describe("a run of very many shards", () => {
  test("is estimated from a bounded number of shards, with exact counts", async () => {
    const { opened, items, reads } = await openCounted(MANY);
    const overview = unwrap(await readShownOverview(opened, request));
    expect(reads()).toBeLessThan(1100);
    expect(overview.states).toEqual(states);
    expect(overview.sample!.itemsError! / items).toBeLessThan(0.1);
    expect(Math.abs(overview.totals.items - items)).toBeLessThan(4 * overview.sample!.itemsError!);
    expect(overview.earliestDeadline).toBe(4_600_000n);
    // Half of the first shards are held, and no more of the strip is.
    const wide = overview.sample!.strip.filter(({ width }) => width > 0);
    expect(overview.sample!.strip.filter(({ state }) => state === "leased").length).toBeGreaterThanOrEqual(3);
    expect(overview.sample!.strip.some(({ state }) => state === "parked")).toBe(true);
    expect(wide.filter(({ state }) => state === "done").length / wide.length).toBeCloseTo(1 / DONE_EVERY, 1);
  });

  test("has the fraction of what its source counted, or of the mean shard", async () => {
    const { opened, items } = await openCounted(MANY);
    const about = async (): Promise<number> => unwrap(await readShownOverview(opened, request)).fraction!;
    expect(await about()).toBeCloseTo(1 / DONE_EVERY, 2);
    const spans = [{ start: keyOf(0), end: keyOf(MANY), items: 2 * items }];
    await shareEstimate(opened, request, { spans, isExact: true });
    const { sample } = unwrap(await readShownOverview(opened, request));
    expect(Math.abs((await about()) - 0.5)).toBeLessThan((4 * sample!.itemsError!) / (2 * items));
    // Statistics say that all shards are equally large.
    await shareEstimate(opened, request, { spans: [{ ...spans[0]!, items: DONE_EVERY * items }] });
    expect(Math.abs((await about()) - 1 / DONE_EVERY)).toBeLessThan(0.03);
  });

  test("is read completely if that is wanted", async () => {
    const { opened, items, reads } = await openCounted(MANY);
    const overview = unwrap(await readShownOverview(opened, request, { isExact: true }));
    expect(overview).toMatchObject({ states, totals: { items } });
    expect(overview.sample).toBeUndefined();
    expect(reads()).toBe(MANY);
  });
});

test("a run that is not larger is exact", async () => {
  const { opened, items, reads } = await openCounted(MOST_READ);
  const overview = unwrap(await readShownOverview(opened, request));
  expect(overview.sample).toBeUndefined();
  expect(overview.rows).toHaveLength(MOST_READ);
  expect(overview.totals.items).toBe(items);
  expect(reads()).toBe(MOST_READ);
});

test("status and runs say what is an estimate", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gossip-sampled-"));
  try {
    const store = unwrap(await openLmdbStore({ path: join(folder, "store"), durability: "Written" }));
    const items = await fill(new Coordinator({ store, clock: systemClock(Date.now) }), MANY);
    await store.close();
    const at = async (...argv: string[]): Promise<string> => {
      const said = await gossipLine([...argv, "--store", "store"], { cwd: folder });
      expect(said).toMatchObject({ code: 0, stderr: "" });
      return said.stdout;
    };
    const shown = await at("status");
    expect(shown).toMatch(/^items +about [0-9]{3},000 done$/m);
    expect(shown).toMatch(/^shards +3,200 done, 3 in work, 12,796 waiting, 1 parked$/m);
    expect(shown).toMatch(
      /^sample +items and keys are estimates from 1,0[0-9]{2} of 16,000 shards: --exact reads them all$/m,
    );
    expect(shown).toMatch(/^parked +16000 {2}it broke/m);
    const json = JSON.parse(await at("status", "--json")) as {
      items: number;
      estimate: { shards: number; itemsError: number };
      parked: unknown[];
    };
    expect(Math.abs(json.items - items)).toBeLessThan(4 * json.estimate.itemsError);
    expect(json.parked).toHaveLength(1);
    expect(await at("runs")).toMatch(/ about [0-9]{3},000 /);
    expect(JSON.parse(await at("runs", "--json"))).toMatchObject({ items: json.items, estimate: json.estimate });
    const exact = await at("status", "--exact");
    expect(exact).toContain(`items    ${items.toLocaleString("en")} done\n`);
    expect(exact).not.toMatch(/sample|about [0-9]{3},/);
    for (const command of ["status", "runs"]) {
      const printed = JSON.parse(await at(command, "--exact", "--json")) as object;
      expect(printed).toMatchObject({ items });
      expect(printed).not.toHaveProperty("estimate");
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
