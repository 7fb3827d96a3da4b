// An operator leaves the page open overnight, next to other tabs. If it kept what it no longer shows, the browser would
// be out of memory in the morning.
import { RunId, ShardId, TenantId, WorkerId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { browserSkipped, type Page } from "@gossip/tools/browser";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConsoleWorld } from "./console-world.fixture.ts";
import { seedRun } from "./seed-run.fixture.ts";

const skipped = browserSkipped();
const tenant = TenantId.ZERO;
const SHARDS = 1_000;
/** Rounds until everything that is bounded is full, and rounds after that. Each has two events for every shard. */
const [FIRST_ROUNDS, MORE_ROUNDS] = [2, 6];
/** An event takes several hundred bytes in the page, so what the later rounds bring is about 5 MB. */
const MOST_GROWTH_BYTES = 2_000_000;
const VISITS = 12;
let world: ConsoleWorld;

beforeAll(async () => {
  if (skipped !== undefined) return;
  world = await ConsoleWorld.start();
});
afterAll(() => world?.stop());

interface Used {
  readonly bytes: number;
  readonly nodes: number;
  readonly listeners: number;
}

/** What the page uses after all garbage is collected. */
async function used(page: Page): Promise<Used> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  // What is reachable only from a collected object is found by the second collection.
  for (let count = 0; count < 2; count++) await session.send("HeapProfiler.collectGarbage");
  await session.send("Performance.enable");
  const { metrics } = (await session.send("Performance.getMetrics")) as {
    readonly metrics: readonly { readonly name: string; readonly value: number }[];
  };
  await session.detach();
  const valueOf = (name: string): number => metrics.find((metric) => metric.name === name)!.value;
  return { bytes: valueOf("JSHeapUsedSize"), nodes: valueOf("Nodes"), listeners: valueOf("JSEventListeners") };
}

/** Claim every shard of a run and give it back. Returns when an open page shows it. */
async function makeEvents(run: RunId, page: Page, worker: bigint): Promise<void> {
  const open = (index: number) =>
    world.coordinator.openSession({
      tenant,
      key: { run, shard: ShardId.fromRaw(BigInt(index + 1)) },
      worker: WorkerId.fromRaw(worker),
    });
  const sessions = await Promise.all(Array.from({ length: SHARDS }, (_, index) => open(index)));
  await page
    .locator("tbody tr", { hasText: `Shard claimed` })
    .filter({ hasText: nameOf(worker) })
    .first()
    .waitFor();
  for (const released of await Promise.all(sessions.map((session) => unwrap(session).release()))) unwrap(released);
  await page
    .locator("tbody tr", { hasText: "Shard given back" })
    .filter({ hasText: nameOf(worker) })
    .first()
    .waitFor();
}

const nameOf = (worker: bigint): string => worker.toString(16).padStart(8, "0");

test("events come and go, and the page does not grow", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const run = await seedRun(world.coordinator, { run: 0x0fe2n, shardCount: SHARDS });
  const page = await world.open("#/events");
  await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
  let worker = 0xa0n;
  for (let round = 0; round < FIRST_ROUNDS; round++) await makeEvents(run, page, worker++);
  const before = await used(page);
  for (let round = 0; round < MORE_ROUNDS; round++) await makeEvents(run, page, worker++);
  const after = await used(page);
  expect(after.bytes - before.bytes).toBeLessThan(MOST_GROWTH_BYTES);
  expect(after.nodes).toBeLessThan(1.2 * before.nodes);
  expect(after.listeners).toBeLessThan(1.2 * before.listeners);
  expect(world.complaints).toEqual([]);
  await page.context().close();
});

test("a page that was left leaves nothing behind", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const run = RunId.format(await seedRun(world.coordinator, { run: 0x0fe3n, shardCount: 40 }));
  const page = await world.open("#/runs");
  const visit = async (): Promise<void> => {
    await page.goto(`${world.url}#/runs/${run}`);
    await page.getByText("Table: 40 shards in this part").click();
    await page.locator("details[open] tbody tr").first().waitFor();
    await page.goto(`${world.url}#/workers`);
    await page.getByRole("heading", { name: "Workers", level: 1 }).waitFor();
    await page.goto(`${world.url}#/scopes`);
    await page.getByText("One node owns everything").waitFor();
  };
  for (let count = 0; count < 3; count++) await visit();
  const before = await used(page);
  for (let count = 0; count < VISITS; count++) await visit();
  const after = await used(page);
  expect(after.bytes - before.bytes).toBeLessThan(MOST_GROWTH_BYTES);
  expect(after.nodes).toBeLessThan(1.2 * before.nodes);
  expect(after.listeners).toBeLessThan(1.2 * before.listeners);
  await page.context().close();
});
