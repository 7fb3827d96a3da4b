// A user who looks at a run of a million shards must not wait for a million reads, nor take an estimate for a count.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Coordinator, systemClock } from "@gossip/coordination";
import { openLmdbStore } from "@gossip/coordination-lmdb";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { gossipLine } from "../../commands/command-line.fixture.ts";
import { shareEstimate } from "../../progress/estimate/shared-estimate.ts";
import { DONE_EVERY, fill, keyOf, MANY, openCounted, request, WORKER } from "./large-run.fixture.ts";
import { readOverview } from "./run-overview.ts";
import { MOST_READ, readShownOverview } from "./sampled-overview.ts";

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
    expect(overview.holders).toEqual(new Set([WORKER]));
    // Half of the first shards are held, and no more of the strip is.
    const wide = overview.sample!.strip.filter(({ width }) => width > 0);
    expect(overview.sample!.strip.filter(({ state }) => state === "leased").length).toBeGreaterThanOrEqual(3);
    expect(overview.sample!.strip.some(({ state }) => state === "parked")).toBe(true);
    expect(wide.filter(({ state }) => state === "done").length / wide.length).toBeCloseTo(1 / DONE_EVERY, 1);
  });

  test("is added up without keeping its shards", async () => {
    const { opened, items, reads } = await openCounted(MANY);
    const overview = unwrap(await readOverview(opened, request));
    expect(reads()).toBe(MANY);
    expect(overview.rows).toEqual([]);
    expect(overview.states).toEqual(states);
    expect(overview.totals.items).toBe(items);
    expect(overview.holders).toEqual(new Set([WORKER]));
    expect(overview.earliestDeadline).toBe(4_600_000n);
    expect(overview.fraction).toBeUndefined();
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
