// After a power cut everything starts at once. A worker that ends because its store is a minute later has to be started by
// hand, although it waits for ten minutes if the store goes away a second after its start.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, startPostgres } from "@gossip/tools/engines";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, startGossip, type GossipProcess } from "../processes/gossip-process.fixture.ts";

afterAll(removeGossipScript);

let folder: string;
const started: GossipProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-late-"));
  writeFileSync(join(folder, "rows"), "a\nb\nc\n");
});
afterEach(async () => {
  for (const each of started.splice(0)) await each.kill();
  rmSync(folder, { recursive: true, force: true });
});

async function start(...args: string[]): Promise<GossipProcess> {
  const process = await startGossip(args, { cwd: folder });
  started.push(process);
  return process;
}

const run = (store: string, ...more: string[]): string[] => [
  ..."run mine --source lines:rows --exec echo --out out.ndjson --store".split(" "),
  store,
  ...more,
];

function expectResults(): void {
  expect(readFileSync(join(folder, "out.ndjson"), "utf8").trim().split("\n")).toHaveLength(3);
}

test(
  "a run waits for a service that is not there yet, and not at all if it may not",
  { timeout: 300_000 },
  async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const url = `http://${address}`;
    const refused = await gossip(run(url, "--patience", "0"), { cwd: folder });
    expect(refused).toMatchObject({ code: 7, stderr: expect.stringContaining("cannot be reached") as string });
    expect(refused.stderr).not.toContain("waiting for it");
    const waiting = await start(...run(url, "--json"));
    expect(await waiting.heard(/does not respond \(.*\): waiting for it, for up to 10 min; --patience/)).toBe(true);
    const server = await start("serve", "--store", "store", "--listen", address);
    expect(await server.heard(/^listening/m)).toBe(true);
    expect((await waiting.ended).code).toBe(0);
    expectResults();
  },
);

test("a run waits for its clock", { timeout: 300_000 }, async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const waiting = await start(...run("store", "--json", "--tso", address));
  expect(await waiting.heard(/the timestamp oracle at .* does not respond \(.*\): waiting for it/)).toBe(true);
  await start("tso", "serve", "--data", "tso", "--listen", address);
  expect((await waiting.ended).code).toBe(0);
  expectResults();
});

test("a signal ends the wait", { timeout: 300_000 }, async () => {
  const waiting = await start(...run(`http://127.0.0.1:${await freePort()}`, "--json"));
  expect(await waiting.heard(/waiting for it/)).toBe(true);
  waiting.signal("SIGTERM");
  expect((await waiting.ended).code).toBe(143);
});

test("commands that only look do not wait", { timeout: 300_000 }, async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  for (const command of ["status", "runs"])
    expect(await gossip([command, "--store", url], { cwd: folder })).toMatchObject({
      code: 7,
      stderr: expect.stringContaining("cannot be reached") as string,
    });
});

test("a run waits for PostgreSQL", { timeout: 300_000 }, async () => {
  const server = await startPostgres();
  try {
    await server.kill();
    const waiting = await start(...run(server.url, "--json"));
    expect(await waiting.heard(/PostgreSQL at .* does not respond \(ECONNREFUSED\): waiting for it/)).toBe(true);
    await server.restart();
    expect((await waiting.ended).code).toBe(0);
    expectResults();
  } finally {
    await server.dispose();
  }
});
