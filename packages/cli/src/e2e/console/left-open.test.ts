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
/**
 * An event takes 200 bytes in the page: if they were kept, the later rounds would bring 2.4 MB. What the browser compiles
 * meanwhile takes up to 1.3 MB on a busy machine, however many rounds there are.
 */
const MOST_GROWTH_BYTES = 1_800_000;
const VISITS = 12;
/** The same for a page that is read again. If it kept what it read, the later rounds would double its objects. */
const [FIRST_READS, MORE_READS] = [8, 48];
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
  /** Objects and arrays of scripts. Unlike bytes, they do not depend on what the browser compiles. */
  readonly objects: number;
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
  const prototype = (await session.send("Runtime.evaluate", { expression: "Object.prototype" })).result;
  const { objects } = await session.send("Runtime.queryObjects", { prototypeObjectId: prototype.objectId! });
  const counted = await session.send("Runtime.callFunctionOn", {
    objectId: objects.objectId!,
    functionDeclaration: "function () { return this.length; }",
  });
  await session.send("Runtime.releaseObject", { objectId: objects.objectId! });
  await session.detach();
  const valueOf = (name: string): number => metrics.find((metric) => metric.name === name)!.value;
  return {
    bytes: valueOf("JSHeapUsedSize"),
    nodes: valueOf("Nodes"),
    listeners: valueOf("JSEventListeners"),
    objects: counted.result.value as number,
  };
}

/** Claim every shard of a run. Call the result to give them back. */
async function claimAll(run: RunId, worker: bigint): Promise<() => Promise<void>> {
  const open = (index: number) =>
    world.coordinator.openSession({
      tenant,
      key: { run, shard: ShardId.fromRaw(BigInt(index + 1)) },
      worker: WorkerId.fromRaw(worker),
    });
  const sessions = await Promise.all(Array.from({ length: SHARDS }, (_, index) => open(index)));
  return async () => {
    for (const released of await Promise.all(sessions.map((session) => unwrap(session).release()))) unwrap(released);
  };
}

/** Claim every shard of a run and give it back. Returns when an open page shows it. */
async function makeEvents(run: RunId, page: Page, worker: bigint): Promise<void> {
  const shows = (what: string) =>
    page
      .locator("tbody tr", { hasText: what })
      .filter({ hasText: nameOf(worker) })
      .first()
      .waitFor();
  const release = await claimAll(run, worker);
  await shows("Shard claimed");
  await release();
  await shows("Shard given back");
}

/** What the page has now must be what it had before, but for what is noise. */
function expectNoGrowth(before: Used, after: Used): void {
  expect(after.bytes - before.bytes).toBeLessThan(MOST_GROWTH_BYTES);
  expect(after.nodes).toBeLessThan(1.2 * before.nodes);
  expect(after.listeners).toBeLessThan(1.2 * before.listeners);
  // What was shown last may be there once more, until something else takes its place.
  expect(after.objects).toBeLessThan(1.6 * before.objects);
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
  expectNoGrowth(before, await used(page));
  expect(world.complaints).toEqual([]);
  await page.context().close();
});

test("the page of a run is read again and again, and does not grow", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const run = await seedRun(world.coordinator, { run: 0x0fe4n, shardCount: SHARDS });
  const page = await world.open(`#/runs/${RunId.format(run)}`);
  const round = async (): Promise<void> => {
    const inProgress = (count: number) => page.getByText(`${count.toLocaleString("en")} shards in progress`).waitFor();
    const release = await claimAll(run, 0xb0n);
    await inProgress(SHARDS);
    await page.getByRole("application", { name: /^Keyspace strip/ }).press("Shift+ArrowRight");
    await release();
    await inProgress(0);
  };
  for (let count = 0; count < FIRST_READS; count++) await round();
  const before = await used(page);
  for (let count = 0; count < MORE_READS; count++) await round();
  const after = await used(page);
  expectNoGrowth(before, after);
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
  expectNoGrowth(before, await used(page));
  await page.context().close();
});
