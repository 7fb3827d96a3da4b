// The page of a store is for people who watch real work. What it shows is compared with what the run did, and what
// another site could make a browser send is refused.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, startGossip, type GossipProcess } from "../processes/gossip-process.fixture.ts";

let folder: string;
let console: GossipProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-console-"));
  writeFileSync(join(folder, "rows"), Array.from({ length: 200 }, (_, index) => `${index}\n`).join(""));
});
afterEach(async () => {
  await console?.kill();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(removeGossipScript);

// oxlint-disable-next-line no-explicit-any -- the shapes are those of the protocol; a test names what it looks at
type Json = any;

async function open(
  ...args: string[]
): Promise<(path: string, body?: object) => Promise<{ status: number; json: Json }>> {
  console = await startGossip(["console", "--listen", "127.0.0.1:0", "--json", ...args], { cwd: folder });
  expect(await console.heard(/\/console\//)).toBe(true);
  const { url } = JSON.parse(console.stdout) as { readonly url: string };
  return async (path, body) => {
    const response = await fetch(new URL(`../v1/${path}`, url), {
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      headers: { "content-type": "application/json", "gossip-console": "1" },
    });
    return { status: response.status, json: (await response.json()) as Json };
  };
}

test("shows a run as it was done, with its history, and changes nothing", async () => {
  await gossip(["run", "nightly", "--source", "lines:rows", "--exec", "test {} != 7"], { cwd: folder });
  const ask = await open();
  const { json: me } = await ask("console/whoami");
  expect(me).toMatchObject({ role: "read", canOperate: false, tenants: null, hideKeys: false, hasRetry: false });
  const { json } = await ask(`console/runs?tenant=${me.tenant}`);
  expect(json.runs).toMatchObject([
    { name: "nightly", status: "Done", items: 200, failures: 1, fraction: 1, work: "test {} != 7" },
  ]);
  const [{ run }] = json.runs;
  const at = `console/runs/${run}`;
  const { json: history } = await ask(`${at}/history?tenant=${me.tenant}`);
  // The progress display of the run has recorded it. What came after its last look is missing.
  expect(history.items.length).toBeGreaterThan(0);
  const { json: failures } = await ask(`${at}/failures?tenant=${me.tenant}`);
  expect(failures.failures).toMatchObject([{ key: { text: "row:0/14" }, attempts: 3 }]);
  const refused = await ask(`${at}/delete`, { opId: run, tenant: me.tenant, name: "nightly" });
  expect(refused.json.error.kind).toBe("Forbidden");
  console!.signal("SIGTERM");
  expect((await console!.ended).code).toBe(0);
});

test("acts with --operate, checks the store, and refuses a page of another site", async () => {
  await gossip(["run", "nightly", "--source", "lines:rows", "--exec", "true"], { cwd: folder });
  const ask = await open("--operate", "--hide-keys");
  const { json: me } = await ask("console/whoami");
  expect(me).toMatchObject({ canOperate: true, hideKeys: true, hasRetry: true });
  const opId = "00000000000000aa";
  await ask("console/health/check", { opId });
  let health: Json;
  do ({ json: health } = await ask("console/health"));
  while (health.fsck.state !== "done");
  expect(health.fsck).toMatchObject({ isSound: true, runs: 1, findings: [] });
  expect(health.checks.map(({ what }: Json) => what)).toContain("store");
  const { json } = await ask(`console/runs?tenant=${me.tenant}`);
  const at = `console/runs/${json.runs[0].run}`;
  expect((await ask(`${at}/delete`, { opId, tenant: me.tenant, name: "other" })).status).toBe(400);
  expect((await ask(`${at}/delete`, { opId, tenant: me.tenant, name: "nightly" })).json).toEqual({});
  expect((await gossip(["runs", "--json"], { cwd: folder })).stdout).toBe("");
  expect(await statusFor("evil.example")).toBe(403);
  expect(await statusFor("localhost:7722")).toBe(200);
});

/** The status of a request with another name of this machine, as a browser sends it. */
function statusFor(host: string): Promise<number | undefined> {
  const { url } = JSON.parse(console!.stdout.split("\n")[0]!) as { readonly url: string };
  return new Promise((resolve, reject) => {
    request(new URL("../v1/console/whoami", url), { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

test("starts a retry of what failed, once for an op id", async () => {
  writeFileSync(join(folder, "few"), "1\n2\n3\n");
  const job = ["--source", "lines:few", "--exec", ": {}; test -e ok", "--retries", "0"];
  await gossip(["run", "nightly", ...job], { cwd: folder });
  writeFileSync(join(folder, "ok"), "");
  const ask = await open("--operate");
  const { json: me } = await ask("console/whoami");
  const [{ run, failures }] = (await ask(`console/runs?tenant=${me.tenant}&text=nightly`)).json.runs;
  expect(failures).toBe(3);
  const body = { opId: "00000000000000ab", tenant: me.tenant };
  for (const _ of [1, 2]) {
    const { json } = await ask(`console/runs/${run}/retry`, body);
    expect(json).toMatchObject({ isStarted: true, command: expect.stringContaining(`gossip retry ${run}`) as string });
  }
  let count: number;
  do ({ count } = (await ask(`console/runs/${run}/failures?tenant=${me.tenant}`)).json);
  while (count > 0);
});

test("a port or a store that cannot be used is named", async () => {
  const none = await gossip(["console", "--store", "none"], { cwd: folder });
  expect(none).toMatchObject({ code: 4, stderr: expect.stringContaining("there is no store") as string });
  const open = await gossip(["console", "--listen", "0.0.0.0:1"], { cwd: folder });
  expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining("gossip serve") as string });
});
