// A page that an operator leaves open must show what is in the store, whatever dies meanwhile: a worker, or the server.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { OpId, RunId, TenantId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { browserSkipped, type Page } from "@gossip/tools/browser";
import { effort } from "@gossip/tools/effort";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { GossipProcess } from "../../processes/gossip-process.fixture.ts";
import { makeTree } from "../file-tree.fixture.ts";
import { ConsoleWorld } from "./console-world.fixture.ts";
import { screenshot } from "./screenshot.fixture.ts";
import { seedRun, splitAll } from "./seed-run.fixture.ts";

const skipped = browserSkipped();
const FILES = 300;
/** Longest wait for very many shards, which are made, then counted. */
const MANY_MS = effort({ usual: 300_000, exploring: 1_800_000 });
let world: ConsoleWorld;

beforeAll(async () => {
  if (skipped !== undefined) return;
  world = await ConsoleWorld.start();
});
afterAll(() => world?.stop());

test("a run is watched from its start to its end while workers are killed", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const page = await world.open("#/runs");
  await page.getByText("No runs yet").waitFor();

  makeTree(join(world.folder, "data"), FILES);
  // One item in ten waits until a worker was killed.
  const hold = "case {} in *5) until [ -e go ] || ! [ -d data ]; do sleep 0.1; done;; esac";
  const args = [
    "run",
    "--source",
    "fs:data",
    "--exec",
    `${hold}; cksum < {}`,
    "--out",
    "sums.ndjson",
    "--workers",
    "2",
    "--lease",
    "2",
    "--json",
  ];
  const start = (): Promise<GossipProcess> => world.gossip(...args);
  const [victim, survivor] = [await start(), await start()];
  await page.getByRole("link", { name: /data/ }).click();
  await page.getByRole("heading", { name: /data/, level: 1 }).waitFor();
  await tile(page, "Workers", /^[1-9]/);
  await victim.heard(/"kind":"progress".*"held":[1-9]/);
  await victim.kill();
  // Its leases lapse, and the other process takes its shards over.
  await page
    .getByRole("region", { name: "Leases" })
    .getByText(/^Table: the newest/)
    .click();
  await expect.poll(() => timelineHas(page, /lost|taken over|took over/), { timeout: 180_000 }).toBe(true);
  writeFileSync(join(world.folder, "go"), "");
  expect((await survivor.ended).code).toBe(0);

  await page.locator(".page-head .pill", { hasText: "done" }).waitFor();
  const { items } = unwrap(await world.coordinator.listRuns({ tenant: TenantId.ZERO }));
  const run = items[0]!.run;
  const progress = unwrap(await world.coordinator.getRunProgress({ tenant: TenantId.ZERO, run }));
  expect(page.url()).toContain(RunId.format(run));
  await tile(page, "Progress", /^100%/);
  await tile(page, "Items done", new RegExp(`^${FILES.toLocaleString("en")}`));
  await tile(page, "Shards parked", new RegExp(`^0of ${progress.done} · ${progress.done} done`));
  await page.getByText(`Table: ${progress.done} shards in this part`).click();
  const pills = page.getByRole("region", { name: "Keyspace" }).locator("details .pill");
  await pills.first().waitFor();
  const states = await pills.allTextContents();
  expect(states).toEqual(Array.from({ length: progress.done }, () => "done"));
  expect(world.complaints).toEqual([]);
  await page.context().close();
});

/** Wait until a figure of the run reads like this. */
async function tile(page: Page, name: string, pattern: RegExp): Promise<void> {
  const shown = page.locator(".tile", { has: page.locator("dt", { hasText: name }) }).locator("dd");
  await expect.poll(async () => (await shown.allTextContents()).join(""), { timeout: 60_000 }).toMatch(pattern);
}

async function timelineHas(page: Page, words: RegExp): Promise<boolean> {
  return words.test((await page.getByRole("region", { name: "Leases" }).locator("tbody").allTextContents()).join(" "));
}

test("a lost connection is shown, and everything is read again when the server is back", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const run = await seedRun(world.coordinator, { run: 0xbeefn, shardCount: 8 });
  const page = await world.open(`#/runs/${RunId.format(run)}`);
  await page.getByText("Table: 8 shards in this part").waitFor();
  await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
  await world.killServer();
  await page.getByRole("alert").getByText("Connection lost").waitFor();
  // What was shown stays.
  expect(await page.getByText("Table: 8 shards in this part").isVisible()).toBe(true);
  await screenshot(page, "lost-connection-light");
  unwrap(await world.coordinator.cancelRun({ tenant: TenantId.ZERO, run, opId: OpId.fromRaw(7n) }));
  await page.getByRole("button", { name: "Try now" }).click();
  await world.serve();
  await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
  await page.locator(".page-head .pill", { hasText: "canceled" }).waitFor();
  expect(await page.getByText("Connection lost").count()).toBe(0);
  await page.context().close();
});

const [ROOTS, CHILDREN] = [effort({ usual: 400, exploring: 4000 }), 250];
const MANY = (ROOTS * CHILDREN).toLocaleString("en");

test(
  `${MANY} shards: the strip has all of them, and zooming in shows single ones`,
  { timeout: MANY_MS },
  async (context) => {
    context.skip(skipped !== undefined, skipped);
    const [shardCount, children] = [ROOTS, CHILDREN];
    const run = await seedRun(world.coordinator, { run: 0xb16n, shardCount });
    await splitAll(world.coordinator, run, { shardCount, children });
    const page = await world.open(`#/runs/${RunId.format(run)}`);
    // While they are counted, the rest of the page is there.
    await page.getByRole("heading", { name: "About this run" }).waitFor();
    const summary = page.getByText(/Table: [\d,]+ shards in \d+ parts/);
    await expect.poll(() => summary.textContent(), { timeout: MANY_MS }).toContain(`${MANY} shards`);
    await page.getByText(/Table: [\d,]+ shards in \d+ parts/).click();
    await page.locator("details[open] tbody tr").first().waitFor();
    const waiting = await page
      .locator("details[open] tbody tr")
      .evaluateAll((rows) => rows.map((row) => Number(row.children[3]!.textContent!.replaceAll(",", ""))));
    expect(waiting.reduce((sum, count) => sum + count, 0)).toBe(shardCount * children);
    const strip = page.getByRole("application", { name: /^Keyspace strip/ });
    await strip.focus();
    for (let count = 0; count < 14; count++) await page.keyboard.press("+");
    await page.getByText(/Table: \d+ shards? in this part/).waitFor();
    const elements = await page.evaluate<number>("document.querySelectorAll('*').length");
    expect(elements).toBeLessThan(3_000);
    await page.context().close();
  },
);
