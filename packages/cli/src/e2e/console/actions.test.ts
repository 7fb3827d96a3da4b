// An action of an operator changes the store, once, and exactly as its dialog says.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { RunId, ShardId, TenantId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { browserSkipped, type Page } from "@gossip/tools/browser";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ConsoleWorld } from "./console-world.fixture.ts";
import { seedRun, workOn } from "./seed-run.fixture.ts";

const skipped = browserSkipped();
const SHARDS = 24;
const tenant = TenantId.ZERO;
let world: ConsoleWorld;
let next = 0x10n;
let run: RunId;
let page: Page;

beforeAll(async () => {
  if (skipped !== undefined) return;
  world = await ConsoleWorld.start();
  page = await world.open("#/runs");
});
afterAll(() => world?.stop());

beforeEach(async () => {
  if (skipped !== undefined) return;
  run = await seedRun(world.coordinator, { run: next++, shardCount: SHARDS });
});

async function openRun(): Promise<void> {
  await page.goto(`${world.url}#/runs/${RunId.format(run)}`);
  await page.getByText(`Table: ${SHARDS} shards in this part`).waitFor();
}

async function openShard(index: number): Promise<void> {
  await page.goto(`${world.url}#/runs/${RunId.format(run)}/shards/${ShardId.format(shardOf(index))}`);
  await page.getByText("Range and progress").waitFor();
}

const shardOf = (index: number): ShardId => ShardId.fromRaw(BigInt(index + 1));
const statusOf = async (index: number): Promise<string | undefined> =>
  unwrap(await world.coordinator.getShard({ tenant, key: { run, shard: shardOf(index) } }))?.status;

/** Confirm the open question, and wait for what the page says then. */
async function confirm(button: string, said: string): Promise<void> {
  await page.getByRole("dialog").getByRole("button", { name: button, exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  // The same sentence about an earlier action may still be there.
  await page.getByRole("status").getByText(said).last().waitFor();
}

test("park and unpark", async (context) => {
  context.skip(skipped !== undefined, skipped);
  await openShard(3);
  await page.getByRole("button", { name: "Park …" }).click();
  await confirm("Park", "The shard is parked.");
  expect(await statusOf(3)).toBe("Parked");
  await page.getByRole("button", { name: "Unpark …" }).click();
  await confirm("Unpark", "The shard can be claimed again.");
  expect(await statusOf(3)).toBe("Active");
});

test("split where the strip was clicked", async (context) => {
  context.skip(skipped !== undefined, skipped);
  await openRun();
  const strip = page.getByRole("application", { name: /^Keyspace strip/ });
  const box = (await strip.boundingBox())!;
  await strip.click({ position: { x: (box.width * 7.5) / SHARDS, y: 20 } });
  await page.getByRole("button", { name: "Split here …" }).click();
  await page
    .getByRole("dialog")
    .getByText(/^Cuts the shard at/)
    .waitFor();
  await confirm("Split", "The shard was split into 2 shards.");
  const { items } = unwrap(await world.coordinator.listShards({ tenant, run }));
  expect(items).toHaveLength(SHARDS + 2);
  expect(await statusOf(7)).toBe("Split");
  await page.getByText(`Table: ${SHARDS + 1} shards in this part`).waitFor();
});

test("pause, resume and the rate", async (context) => {
  context.skip(skipped !== undefined, skipped);
  await openRun();
  const settings = async () => unwrap(await world.coordinator.getRunSettings({ tenant, run }));
  await page.getByRole("button", { name: "Pause …" }).click();
  await confirm("Pause", "The run is paused.");
  expect(await settings()).toMatchObject({ paused: true });
  await page.getByRole("button", { name: "Resume …" }).click();
  await confirm("Resume", "The run goes on.");
  await page.getByRole("button", { name: "Change the rate …" }).click();
  const field = page.getByRole("dialog").getByRole("textbox", { name: "Items per second" });
  await field.fill("fast");
  expect(await page.getByRole("dialog").getByRole("button", { name: "Change the rate" }).isDisabled()).toBe(true);
  await field.fill("250");
  await confirm("Change the rate", "The rate is changed.");
  expect(await settings()).toMatchObject({ paused: false, itemsPerSecond: 250 });
  await page.getByText("limit 250/s").waitFor();
});

test("cancel, then delete after its name was typed", async (context) => {
  context.skip(skipped !== undefined, skipped);
  await openRun();
  await page.getByRole("button", { name: "Cancel …" }).click();
  await confirm("Cancel the run", "The run is canceled.");
  expect(unwrap(await world.coordinator.getRun({ tenant, run })).status).toBe("Cancelled");
  await page.getByRole("button", { name: "Delete …" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill("something else");
  expect(await dialog.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
  await dialog.getByRole("textbox").fill(RunId.format(run));
  await confirm("Delete", "The run is deleted.");
  expect(await world.coordinator.getRun({ tenant, run })).toMatchObject({ ok: false, error: { kind: "RunNotFound" } });
  await page.waitForURL(/#\/runs$/);
});

test("retry what failed", async (context) => {
  context.skip(skipped !== undefined, skipped);
  writeFileSync(join(world.folder, "rows"), "good\nbad\nworse\n");
  const exec = "[ -e fixed ] || [ {} = good ] || { echo it is broken >&2; exit 1; }";
  const args = ["run", "--source", "lines:rows", "--exec", exec, "--lease", "5", "--json"];
  await (
    await world.gossip(...args)
  ).ended;
  await page.goto(`${world.url}#/runs?status=Done`);
  await page.getByRole("link", { name: /rows/ }).click();
  await page.getByText("it is broken").first().waitFor();
  writeFileSync(join(world.folder, "fixed"), "");
  await page.getByRole("button", { name: "Retry 2 …" }).click();
  await confirm("Retry 2", "The retry has started.");
  await page.getByText("No item has failed").waitFor();
});

test("an answer that is lost is tried again with the same op id, and done once", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const opIds: string[] = [];
  await openShard(5);
  await page.route("**/park", async (route) => {
    opIds.push((route.request().postDataJSON() as { opId: string }).opId);
    if (opIds.length > 1) return route.continue();
    await route.fetch();
    return route.abort();
  });
  await page.getByRole("button", { name: "Park …" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Park", exact: true }).click();
  await dialog.getByText("It may have been done").waitFor();
  await confirm("Try again", "The shard is parked.");
  await page.unroute("**/park");
  expect(opIds).toHaveLength(2);
  expect(opIds[0]).toBe(opIds[1]);
  expect(await statusOf(5)).toBe("Parked");
});

test("a refusal is shown in its dialog, and changes nothing", async (context) => {
  context.skip(skipped !== undefined, skipped);
  await workOn(world.coordinator, run, SHARDS);
  await openShard(8);
  await page.getByRole("button", { name: "Park …" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Park", exact: true }).click();
  await page.getByRole("dialog").getByRole("alert").waitFor();
  expect(await statusOf(8)).toBe("Active");
  await page.keyboard.press("Escape");
});

test("actions appear in the events, which can be filtered and paused", async (context) => {
  context.skip(skipped !== undefined, skipped);
  // A page begins with the newest events of all runs.
  const other = await world.open(`#/events?run=${RunId.format(run)}`);
  await other.getByRole("status").getByText("Live", { exact: true }).waitFor();
  await openShard(2);
  await page.getByRole("button", { name: "Park …" }).click();
  await confirm("Park", "The shard is parked.");
  const parked = other.getByRole("cell", { name: /^Shard parked/ });
  await parked.first().waitFor();
  const count = await parked.count();
  await other.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Unpark …" }).click();
  await confirm("Unpark", "The shard can be claimed again.");
  await other.getByText(/[1-9]\d* new events? since then/).waitFor();
  expect(await other.getByRole("cell", { name: /^Shard unparked/ }).count()).toBe(0);
  await other.getByRole("button", { name: "Go on" }).click();
  await other
    .getByRole("cell", { name: /^Shard unparked/ })
    .first()
    .waitFor();
  await other.getByLabel("What").selectOption("ShardParked");
  await other
    .getByRole("cell", { name: /^Shard unparked/ })
    .first()
    .waitFor({ state: "detached" });
  expect(await parked.count()).toBe(count);
  await other.context().close();
});

test("without the role of an operator there is nothing to click", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const reader = await ConsoleWorld.start({ canOperate: false });
  try {
    const seeded = await seedRun(reader.coordinator, { run: 1n, shardCount: 4 });
    const looking = await reader.open(`#/runs/${RunId.format(seeded)}`);
    await looking.getByText("Table: 4 shards in this part").waitFor();
    for (const name of [/^Pause/, /^Cancel/, /^Delete/, /rate/])
      expect(await looking.getByRole("button", { name }).count()).toBe(0);
    expect(reader.complaints).toEqual([]);
  } finally {
    await reader.stop();
  }
});
