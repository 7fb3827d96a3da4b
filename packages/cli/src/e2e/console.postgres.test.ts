// A shared store is watched from any machine that reaches it, also while other machines work.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { startGossip, type GossipProcess } from "../processes/gossip-process.fixture.ts";

let server: PostgresServer;
let folder: string;
let running: GossipProcess[];
beforeAll(async () => void (server = await startPostgres()));
afterAll(async () => {
  await server?.dispose();
  await removeGossipScript();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-console-"));
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.kill()));
  rmSync(folder, { recursive: true, force: true });
});

async function start(...args: string[]): Promise<GossipProcess> {
  const started = await startGossip([...args, "--store", server.url], { cwd: folder });
  running.push(started);
  return started;
}

test("a page sees the work of another process as it goes on, and its history afterwards", async () => {
  writeFileSync(join(folder, "rows"), Array.from({ length: 60 }, (_, index) => `${index}\n`).join(""));
  const command = "until [ -e go ]; do sleep 0.05; done; sleep 0.05; : {}";
  const run = await start("run", "--source", "lines:rows", "--exec", command, "--workers", "2");
  await run.said(/^Run [0-9a-f]{16}: /m);
  const page = await start("console", "--listen", "127.0.0.1:0", "--json");
  expect(await page.heard(/\/console\//)).toBe(true);
  const { url } = JSON.parse(page.stdout) as { readonly url: string };
  // oxlint-disable-next-line no-explicit-any -- the shapes are those of the protocol
  const get = async (path: string): Promise<any> => (await fetch(new URL(`../v1/console/${path}`, url))).json();
  const { tenant } = await get("whoami");
  const [row] = (await get(`runs?tenant=${tenant}`)).runs;
  const at = `runs/${row.run}`;
  let strip = await get(`${at}/strip?tenant=${tenant}`);
  while (!strip.shards?.some(({ state }: { state: string }) => state === "leased"))
    strip = await get(`${at}/strip?tenant=${tenant}`);
  const { workers } = await get(`${at}/workers?tenant=${tenant}`);
  expect(workers).toMatchObject([{ isRegistered: true }]);
  writeFileSync(join(folder, "go"), "");
  expect((await run.ended).code).toBe(0);
  let shown = await get(`${at}?tenant=${tenant}`);
  while (shown.run.status !== "Done" || shown.run.items !== 60) shown = await get(`${at}?tenant=${tenant}`);
  const { items } = await get(`${at}/history?tenant=${tenant}`);
  expect(items.reduce((sum: number, count: number | null) => sum + (count ?? 0), 0)).toBeCloseTo(60, 0);
  const { workers: lines } = await get(`${at}/timeline?tenant=${tenant}`);
  expect(lines.length).toBeGreaterThan(0);
});
