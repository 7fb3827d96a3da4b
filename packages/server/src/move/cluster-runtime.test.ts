// A scope moves while workers hold leases in it. They must go on at the new owner as if nothing had happened, and the
// nodes must talk only to nodes.
import { ClusterAdmin, GossipClient } from "@gossip/client";
import { Cursor, OpId, RunId, ShardId, ShardSpec, WorkerId, type Clock } from "@gossip/contracts";
import { Coordinator, MemoryStore } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { freePort } from "@gossip/tools/engines";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseClusterFile, type Cluster } from "../ownership/cluster-file.ts";
import { tenantOf } from "../ownership/cluster-nodes.fixture.ts";
import { GossipServer } from "../server.ts";
import { ClusterRuntime } from "./cluster-runtime.ts";

interface Node {
  readonly server: GossipServer;
  readonly runtime: ClusterRuntime;
}

const TENANT = tenantOf("1");
const RUN = { tenant: TENANT, run: RunId.fromRaw(1n) };
const TOKENS = [`gspc_${"x".repeat(43)}`];
const clock = new ManualClock(1_000n);
const store = new MemoryStore();
let folder: string;
let nodes: Map<string, Node>;
let ports: Map<string, number>;

const clusterOf = (): Cluster =>
  unwrap(
    parseClusterFile(`
      cluster.node = [${[...ports].map(([name, port]) => `{ name = "${name}", address = "127.0.0.1:${port}" }`).join()}]
      cluster.scope = [{ prefix = "t/1", writer = "a" }, { prefix = "t/2", writer = "b" }]
    `),
  );

async function start(name: string, oracle = "one", own: Clock = clock): Promise<Node> {
  const runtime = unwrap(
    await ClusterRuntime.open({
      self: name,
      cluster: clusterOf(),
      folder: join(folder, name),
      clock: own,
      oracle,
      store: "postgres",
      tokens: TOKENS,
      readCluster: async () => ({ ok: true, value: clusterOf() }),
      onBroken: (thrown) => {
        throw thrown;
      },
    }),
  );
  const coordinator = new Coordinator({ store, clock, shardCopies: 100 });
  const server = unwrap(
    await GossipServer.start({
      coordinator,
      clock,
      cluster: runtime,
      clusterHandler: runtime.handler,
      listen: { port: ports.get(name)! },
      isStoreShared: true,
    }),
  );
  const node = { server, runtime };
  nodes.set(name, node);
  return node;
}

async function stop(name: string): Promise<void> {
  const { server, runtime } = nodes.get(name)!;
  await server.close();
  await runtime.close();
  nodes.delete(name);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gossip-cluster-"));
  nodes = new Map();
  ports = new Map([
    ["a", await freePort()],
    ["b", await freePort()],
  ]);
  for (const name of ports.keys()) await start(name);
});
afterEach(async () => {
  for (const name of nodes.keys()) await stop(name);
  await rm(folder, { recursive: true });
});

const urlOf = (name: string) => nodes.get(name)!.server.url;

async function seed(): Promise<void> {
  const spec = ShardSpec.withRange({ start: Uint8Array.of(0x61), end: Uint8Array.of(0x7a) });
  const shards = [{ shard: ShardId.fromRaw(10n), spec, cursor: Cursor.initial() }];
  const client = new GossipClient({ url: urlOf("b") });
  unwrap(
    await client.createRunWithShards({ ...RUN, config: { leaseDuration: 60_000n }, shards, opId: OpId.fromRaw(1n) }),
  );
  client.close();
}

test("a session goes on at the new owner with the same fence, and so does a repeated op id", async () => {
  await seed();
  const client = new GossipClient({ url: urlOf("a"), claimWaitMs: 0 });
  const session = unwrap(await client.claim({ ...RUN, worker: WorkerId.fromRaw(1n) }));
  const { fence } = session.lease;
  const opId = OpId.fromRaw(77n);
  const cursor = Cursor.withLastKey(Uint8Array.of(0x62));
  unwrap(await client.checkpoint({ tenant: TENANT, lease: session.lease, opId, cursor }));

  const admin = new ClusterAdmin({ url: urlOf("b") });
  // Asked at b, which names the owner a.
  expect(unwrap(await admin.moveScope({ id: "m1", prefix: "t/1", to: "b" }))).toEqual({
    id: "m1",
    outcome: "Committed",
  });
  for (const name of ["a", "b"]) {
    const at = new ClusterAdmin({ url: urlOf(name) });
    expect(unwrap(await at.moveScope({ id: "m1", prefix: "t/1", to: "b" }))).toMatchObject({ outcome: "Committed" });
    await expect(at.moveScope({ id: "m1", prefix: "t/2", to: "b" })).rejects.toThrow("that of another move");
    at.close();
  }
  const repeated = unwrap(await client.checkpoint({ tenant: TENANT, lease: session.lease, opId, cursor }));
  expect(repeated.kind).toBe("Replayed");
  unwrap(await session.checkpoint(Cursor.withLastKey(Uint8Array.of(0x63))));
  unwrap(await session.complete(Cursor.withLastKey(Uint8Array.of(0x64))));
  expect(session.lease.fence).toBe(fence);
  expect(["a", "b"].map((name) => nodes.get(name)!.runtime.ownership.isOwned(TENANT, RUN.run))).toEqual([false, true]);
  expect(unwrap(await admin.listScopes())).toMatchObject({
    node: "b",
    scopes: [
      { prefix: "t/1", writer: "b", state: "Owned" },
      { prefix: "t/2", writer: "b" },
    ],
    moves: [{ id: "m1", state: "Committed" }],
  });
  client.close();
  admin.close();
});

test("a move that is asked for twice at the same time is one move", async () => {
  const admin = new ClusterAdmin({ url: urlOf("a") });
  // With other deadlines, as if they had come at different times.
  const asked = Array.from({ length: 5 }, (_, index) =>
    admin.moveScope({ id: "m1", prefix: "t/1", to: "b", timeoutMs: 20_000 + index }),
  );
  const outcomes = (await Promise.all(asked)).map((moved) => unwrap(moved).outcome);
  expect(new Set(outcomes)).toEqual(new Set(["Committed"]));
  admin.close();
});

test("a move that a node learns of while it is asked for it is the same move", async () => {
  await stop("b");
  let isAsked = (): void => undefined;
  let goOn = (): void => undefined;
  const waiting = new Promise<void>((resolve) => (isAsked = resolve));
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  let isFirst = false;
  const now = async () => {
    if (isFirst) {
      isFirst = false;
      isAsked();
      await gate;
    }
    return clock.now();
  };
  const { runtime } = await start("b", "one", { now });
  const move = { id: "m1", prefix: "t/1", to: "b" };
  isFirst = true;
  const asked = runtime.move(move);
  await waiting;
  expect(unwrap(await nodes.get("a")!.runtime.move(move))).toMatchObject({ migration: { outcome: "Committed" } });
  goOn();
  expect(unwrap(await asked)).toMatchObject({ migration: { outcome: "Committed" } });
});

test("what a node owns survives its restart, whatever the file says", async () => {
  const admin = new ClusterAdmin({ url: urlOf("a") });
  unwrap(await admin.moveScope({ id: "m1", prefix: "t/1", to: "b" }));
  admin.close();
  for (const name of ["a", "b"]) {
    await stop(name);
    await start(name);
    unwrap(await nodes.get(name)!.runtime.reload());
  }
  expect(["a", "b"].map((name) => nodes.get(name)!.runtime.ownership.isOwned(TENANT, RUN.run))).toEqual([false, true]);
});

test("a move to a node that is down, or has another clock, is refused before anything is quiesced", async () => {
  const admin = new ClusterAdmin({ url: urlOf("a"), patienceMs: 1_000 });
  await stop("b");
  await expect(admin.moveScope({ id: "m1", prefix: "t/1", to: "b" })).rejects.toThrow("does not answer");
  await start("b", "another");
  await expect(admin.moveScope({ id: "m1", prefix: "t/1", to: "b" })).rejects.toThrow("another clock");
  await expect(admin.moveScope({ id: "m1", prefix: "t/1", to: "c" })).rejects.toThrow("no node with this name");
  await expect(admin.moveScope({ id: "m1", prefix: "t/", to: "b" })).rejects.toThrow("exactly this prefix");
  expect(nodes.get("a")!.runtime.ownership.isOwned(TENANT, RUN.run)).toBe(true);
  admin.close();
});

test("the calls between nodes need the cluster's token, and it is good for nothing else", async () => {
  const post = (path: string, token?: string) =>
    fetch(`${urlOf("a")}${path}`, {
      method: "POST",
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
  expect((await post("/cluster/v1/hello")).status).toBe(401);
  expect((await post("/cluster/v1/hello", `gspc_${"y".repeat(43)}`)).status).toBe(401);
  expect((await post("/cluster/v1/hello", TOKENS[0])).status).toBe(200);
  expect((await post("/cluster/v1/offer", TOKENS[0])).status).toBe(400);
});

test("a node takes other tokens while it runs: a new one beside the old one, then the new one alone", async () => {
  const hello = async (token: string) =>
    (await fetch(`${urlOf("a")}/cluster/v1/hello`, { method: "POST", headers: { authorization: `Bearer ${token}` } }))
      .status;
  const [old, next] = [TOKENS[0]!, `gspc_${"z".repeat(43)}`];
  const { runtime } = nodes.get("a")!;
  runtime.reloadTokens([old, next]);
  expect([await hello(old), await hello(next)]).toEqual([200, 200]);
  runtime.reloadTokens([next]);
  expect([await hello(old), await hello(next)]).toEqual([401, 200]);
});
