// Who owns what, and what is moving, is what an operator of a cluster looks for when a tenant waits. A page that named the
// wrong node, or showed a move that is over, would send them to the wrong machine.
import { GossipClient } from "@gossip/client";
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { axeFindings, browserSkipped, type Page } from "@gossip/tools/browser";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ServiceCluster, type NodeName } from "../service-cluster.fixture.ts";
import { ConsoleWorld } from "./console-world.fixture.ts";
import { screenshot } from "./screenshot.fixture.ts";
import { keyOf } from "./seed-run.fixture.ts";

const skipped = browserSkipped();
const TENANT = unwrap(TenantId.parse("1".repeat(64)));
/** So many that a move of them can be caught. */
const SHARDS = 10_000;
let world: ConsoleWorld;
let cluster: ServiceCluster;

beforeAll(async () => {
  if (skipped !== undefined) return;
  world = await ConsoleWorld.start();
  cluster = new ServiceCluster(world.folder, (name) => `store-${name}`);
  await cluster.start();
  const client = new GossipClient({ url: cluster.url("a") });
  const shards = Array.from({ length: SHARDS }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index + 1)),
    spec: ShardSpec.withRange({ start: keyOf(index), end: keyOf(index + 1) }),
    cursor: Cursor.initial(),
  }));
  const run = { tenant: TENANT, run: RunId.fromRaw(1n), config: { leaseDuration: 60_000n } };
  unwrap(await client.createRunWithShards({ ...run, shards, opId: OpId.fromRaw(1n) }));
  client.close();
});
afterAll(async () => {
  await cluster?.stop();
  await world?.stop();
});

async function open(node: NodeName, width = 1280): Promise<Page> {
  const page = await world.open("#/scopes", { width });
  await page.goto(`${cluster.url(node)}/console/#/scopes`);
  await page.getByRole("heading", { name: "Scopes", level: 1 }).waitFor();
  return page;
}

/** The rows of the table, as texts. */
async function rowsOf(page: Page): Promise<string[]> {
  const rows = page.getByRole("group", { name: "Scopes" }).locator("tbody tr");
  return (await rows.allInnerTexts()).map((row) => row.replaceAll(/\s+/g, " ").trim());
}

test("owners, a move in progress and its end are shown", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const [atA, atB] = [await open("a"), await open("b", 390)];
  const address = (node: NodeName): string => new URL(cluster.url(node)).host;
  const still = [`t/2 owned b ${address("b")} –`, `t/3 owned c ${address("c")} –`];
  await expect.poll(() => rowsOf(atA)).toEqual([`t/1 owned a (this node) ${address("a")} –`, ...still]);
  expect(await headOf(atA)).toBe("As node a sees them · epoch 0 · nothing is moving");

  const moved = cluster.move("to-b", { prefix: "t/1", to: "b", at: "a" });
  while (!(await scopesOf("a")).some(({ state }) => state === "moving"));
  // The source waits for the target for as long as this takes.
  cluster.freeze("b", true);
  try {
    await expect
      .poll(async () => (await rowsOf(atA))[0], POLL)
      .toBe(`t/1 moving a (this node) ${address("a")} to b to-b`);
    await expect.poll(async () => (await rowsOf(atA))[1], POLL).toContain("Does not answer");
    expect(await headOf(atA)).toBe("As node a sees them · epoch 1 · 1 scope moving · 1 owner not answering");
    expect(await axeFindings(atA)).toEqual([]);
    for (const theme of ["light", "dark"] as const) {
      await atA.emulateMedia({ colorScheme: theme });
      await screenshot(atA, `cluster-${theme}`);
    }
  } finally {
    cluster.freeze("b", false);
  }
  expect(await moved).toBe("Committed");
  await expect.poll(() => rowsOf(atA), POLL).toEqual([`t/1 owned b ${address("b")} –`, ...still]);
  expect(await headOf(atA)).toBe("As node a sees them · epoch 2 · nothing is moving");
  // Its new owner knows as well. On a phone, a scope is a card.
  await expect.poll(async () => (await rowsOf(atB))[0], POLL).toContain(`b (this node) ${address("b")}`);
  expect(await atB.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
  await screenshot(atB, "cluster-phone");
  expect(world.complaints).toEqual([]);
  await atA.context().close();
  await atB.context().close();
});

test("a node that was killed is shown as the owner that does not answer, and not as having lost anything", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const page = await open("a");
  const owned = `t/3 owned c ${new URL(cluster.url("c")).host}`;
  await expect.poll(async () => (await rowsOf(page)).at(-1), POLL).toBe(`${owned} –`);
  await cluster.killNode("c");
  await expect
    .poll(async () => (await rowsOf(page)).at(-1), POLL)
    .toMatch(new RegExp(`^${owned.replaceAll(".", "\\.")} Does not answer · last seen .+ –$`));
  expect(await headOf(page)).toContain("1 owner not answering");
  expect(await axeFindings(page)).toEqual([]);
  expect(world.complaints).toEqual([]);
  await page.context().close();
});

/** Without an event, a page reads again every ten seconds. */
const POLL = { timeout: 60_000 };

function headOf(page: Page): Promise<string> {
  return page.locator(".page-head .sub").innerText();
}

async function scopesOf(node: NodeName): Promise<readonly { readonly state: string }[]> {
  const response = await fetch(`${cluster.url(node)}/v1/console/scopes`);
  return ((await response.json()) as { scopes: { state: string }[] }).scopes;
}
