// `gossip serve` is what strangers connect to. What it lets in, where it listens and how it stops is tried with real
// requests and a real store.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unwrap } from "@gossip/stdx";
import { MemoryDriver, OracleServer } from "@gossip/tso-server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gossipLine, type Said } from "./command-line.fixture.ts";
import { serving as serveWhile } from "./serving.fixture.ts";

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "gossip-serve-"));
});
afterEach(() => rm(cwd, { recursive: true }));

const ZERO = "0".repeat(64);
const gossip = (...argv: string[]): Promise<Said> => gossipLine(argv, { cwd });

const serving = (args: readonly string[], act: Parameters<typeof serveWhile>[2]) => serveWhile(args, { cwd }, act);

async function call(url: string, path: string, { token, body }: { token?: string; body?: object } = {}) {
  const response = await fetch(`${url}${path}`, {
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  });
  return { status: response.status, json: (await response.json()) as Record<string, never> };
}

const RUN = {
  tenant: ZERO,
  run: "0000000000000001",
  config: { leaseDuration: "30000" },
  shards: [{ shard: "0000000000000001", range: { start: "a", end: "b" } }],
  opId: "0000000000000001",
};

test("it serves a folder until it is stopped, and other commands see what was done", async () => {
  const said = await serving(["--store", "store"], async (url) => {
    expect((await call(url, "/v1/runs", { body: RUN })).status).toBe(200);
    const element = { tenant: ZERO, run: RUN.run, worker: RUN.run, opId: "0000000000000002" };
    const { json } = await call(url, "/v1/claim", { body: { elements: [element] } });
    expect(json).toMatchObject({ results: [{ ok: { sessions: [{ lease: { fence: "2" } }] } }] });
    const timestamp = await call(url, "/v1/timestamp?count=3");
    expect(timestamp.json).toMatchObject({ count: 3, timestamp: expect.stringMatching(/^\d+$/) as string });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });
  expect(said).toMatchObject({ code: 0, stderr: "" });
  expect(said.stdout).toContain("draining");
  expect((await gossip("shards", "--store", "store", RUN.run)).stdout).toContain("0000000000000001");
});

test("with tokens it lets in only their holders, and writes an audit log without secrets", async () => {
  const made = await gossip(
    "token",
    "create",
    "--tokens",
    "tokens.json",
    "--role",
    "operate",
    "--tenant",
    ZERO,
    "--name",
    "ci",
  );
  const token = made.stdout.trim();
  expect(token).toMatch(/^gsp_/);
  expect(await readFile(join(cwd, "tokens.json"), "utf8")).not.toContain(token);
  expect((await gossip("token", "list", "--tokens", "token.json")).stderr).toBe("token.json has no tokens.\n");
  expect((await gossip("token", "list", "--tokens", "tokens.json")).stdout).toMatch(/live .*operate .*1 tenant .*ci/);
  await serving(["--store", "store", "--tokens", "tokens.json", "--audit", "audit.ndjson"], async (url) => {
    expect((await call(url, "/v1/runs")).status).toBe(401);
    expect((await call(url, "/v1/runs", { token, body: RUN })).status).toBe(200);
    // The page of the console has the same rights as every other client.
    expect((await call(url, "/v1/console/whoami")).status).toBe(401);
    const shown = await call(url, "/v1/console/runs", { token });
    expect(shown.json).toMatchObject({ runs: [{ tenant: ZERO, run: RUN.run, shards: { waiting: 1 } }] });
    const id = token.slice(4, 12);
    expect((await gossip("token", "revoke", id, "--tokens", "tokens.json")).stdout).toContain("revoked");
    // Effective within a second: wait for it, not for the clock.
    while ((await call(url, "/v1/runs", { token })).status !== 401)
      await new Promise((resolve) => setImmediate(resolve));
  });
  const audit = await readFile(join(cwd, "audit.ndjson"), "utf8");
  expect(JSON.parse(audit)).toMatchObject({ operation: "createRun", run: RUN.run, status: 200 });
  expect(audit).not.toContain(token);
  expect((await gossip("token", "revoke", "00000000", "--tokens", "tokens.json")).code).not.toBe(0);
});

test("a call is answered although its audit line cannot be written", async () => {
  const said = await serving(["--store", "store", "--audit", "audit.ndjson"], async (url) => {
    await rm(join(cwd, "audit.ndjson"));
    await mkdir(join(cwd, "audit.ndjson"));
    expect((await call(url, "/v1/runs", { body: RUN })).status).toBe(200);
  });
  expect(said.stdout).toContain("audit cannot be written (EISDIR): createRun is not in the log");
  expect(said.stdout).not.toContain("defect");
});

test.each([
  [["--listen", "0.0.0.0:7711"], "give --tokens FILE"],
  [["--listen", "nowhere"], "--listen is no address"],
  [["--cluster", "cluster.toml"], "give --cluster and --node"],
  [["--cluster", "missing.toml", "--node", "a"], "cannot be read (ENOENT)"],
  [["--cluster", "words.txt", "--node", "a"], "line 1 is not TOML"],
  [["--cluster", "cluster.toml", "--node", "c"], "has no node c: name one of a, b"],
  [["--cluster", "cluster.toml", "--node", "a"], "remove the fallback"],
  [["--cluster", "plain.toml", "--node", "a"], "give each of them the same --tso"],
  [["--tls-cert", "x.pem"], "--tls-cert and --tls-key"],
  [["--tls-cert", "x.pem", "--tls-key", "y.pem"], "ENOENT"],
  [["--tls-cert", "words.txt", "--tls-key", "words.txt"], "see that each is PEM"],
  [["--listen", "127.0.0.1:0", "--tokens", "words.txt"], "cannot be read"],
  [["--listen", "127.0.0.1:0", "--audit", "."], "--audit cannot be written (EISDIR)"],
])("it refuses %j", async (args, message) => {
  await writeFile(join(cwd, "words.txt"), "words");
  await writeFile(join(cwd, "cluster.toml"), `${CLUSTER}fallback = "b"`);
  await writeFile(join(cwd, "plain.toml"), CLUSTER);
  const said = await gossip("serve", "--store", "store", ...args);
  expect(said.code).toBe(2);
  expect(said.stderr).toContain(message);
});

const CLUSTER = `
cluster.node = [{ name = "a", address = "127.0.0.1:0" }, { name = "b", address = "127.0.0.1:9" }]
[[cluster.scope]]
prefix = "t/0"
writer = "a"
`;

test("a node of a cluster serves what it owns, and names the owner of the rest", async () => {
  const other = `[[cluster.scope]]\nprefix = "t/1"\nwriter = "b"\n`;
  await writeFile(join(cwd, "cluster.toml"), CLUSTER + other);
  const oracle = unwrap(
    await OracleServer.start({ driver: new MemoryDriver(), listen: [{ host: "127.0.0.1", port: 0 }] }),
  );
  const [tso] = oracle.addresses;
  const args = ["--store", "store", "--cluster", "cluster.toml", "--node", "a", "--tso", tso!];
  await serving(args, async (url) => {
    const scope = async (...argv: string[]) => (await gossip("scope", ...argv, "--store", url)).stdout;
    expect(await scope("list")).toContain("t/1  b (127.0.0.1:9)  owned there");
    expect(await scope("route", "1", "--tenant", "1".repeat(64))).toBe("b (127.0.0.1:9) by t/1\n");
    const refused = await gossip("scope", "move", "t/0", "--to", "b", "--store", url);
    expect([refused.code, refused.stderr]).toEqual([
      7,
      expect.stringContaining("the target does not answer") as string,
    ]);
    await writeFile(join(cwd, "cluster.toml"), CLUSTER);
    expect(await scope("reload")).toBe("epoch 1\n");
    expect(await scope("list")).not.toContain("t/1");
    await writeFile(join(cwd, "cluster.toml"), CLUSTER + other);
    expect(await scope("reload")).toBe("epoch 2\n");
    expect((await call(url, "/v1/runs", { body: RUN })).status).toBe(200);
    const elsewhere = await call(url, "/v1/runs", { body: { ...RUN, tenant: "1".repeat(64) } });
    expect(elsewhere).toMatchObject({
      status: 421,
      json: { error: { owner: "127.0.0.1:9", message: "MISDIRECTED writer is 127.0.0.1:9" } },
    });
  });
  unwrap(await oracle.shutdown());
});

test("a second node on the same folder is refused, because there would be two clocks", async () => {
  await serving(["--store", "store"], async () => {
    const second = await gossip("serve", "--store", "store", "--listen", "127.0.0.1:0");
    expect(second.stderr).toContain("another node runs with the clock");
  });
});

test.each([
  [["create", "--role", "work"], "--tenant ID, or --all-tenants"],
  [["create", "--role", "work", "--tenant", "x"], "64 lower-case"],
  [["create", "--role", "work", "--all-tenants", "--expires", "0"], "--expires"],
])("gossip token refuses %j", async (args, message) => {
  const said = await gossip("token", ...args, "--tokens", "tokens.json");
  expect([said.code, said.stderr]).toEqual([2, expect.stringContaining(message) as string]);
});
