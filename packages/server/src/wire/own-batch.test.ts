// A worker with many sessions must not send a request for each of them: the requests would cost more than the work.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, MemoryStore, type CoordinationEvent, type WorkerSession } from "@gossip/coordination";
import { ManualClock, StoreProbe } from "@gossip/coordination/testing";
import { GossipClient, ServiceRefused } from "@gossip/client";
import { unwrap } from "@gossip/stdx";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Principal } from "../auth/principal.ts";
import { GossipServer } from "../server.ts";
import { WireServer } from "./wire-server.fixture.ts";

const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);
const worker = WorkerId.fromRaw(5n);
const SHARDS = 64;
const SPEC = ShardSpec.withRange({ start: Uint8Array.of(1), end: Uint8Array.of(2) });

let server: GossipServer;
let client: GossipClient;
let coordinator: Coordinator;
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock(1_000n);
  coordinator = new Coordinator({ store: new MemoryStore(), clock, shardCopies: 100 });
  const principal = new Principal("worker", "work", new Set([tenant]));
  server = unwrap(
    await GossipServer.start({
      coordinator,
      clock,
      listen: { port: 0 },
      authenticate: ({ headers }) =>
        headers.authorization === "Bearer operator"
          ? new Principal("operator", "operate", new Set([tenant]))
          : headers.authorization === "Bearer good"
            ? principal
            : undefined,
    }),
  );
  client = new GossipClient({ url: server.url, token: "good", claimWaitMs: 0 });
  const shards = Array.from({ length: SHARDS }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index)),
    spec: ShardSpec.withRange({ start: Uint8Array.of(index), end: Uint8Array.of(index + 1) }),
    cursor: Cursor.initial(),
  }));
  const config = { leaseDuration: 1_000n };
  unwrap(await coordinator.createRunWithShards({ tenant, run, config, shards, opId: OpId.fromRaw(1n) }));
});

afterEach(async () => {
  client.close();
  await server.close();
});

async function requestsOf(operation: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(
    new RegExp(`gossip_requests_total\\{operation="${operation}",status="200"\\} (\\d+)`).exec(text)?.[1] ?? 0,
  );
}

test("calls of one turn travel in one request", async () => {
  const sessions = unwrap(await client.claimMany({ tenant, run, worker, count: SHARDS }));
  expect(sessions).toHaveLength(SHARDS);
  const answers = await Promise.all(
    sessions.map((session) =>
      session.checkpoint(
        Cursor.withLastKey(session.spec.keyRangeStart.length === 0 ? Uint8Array.of(0) : session.spec.keyRangeStart),
      ),
    ),
  );
  expect(answers.every(({ ok }) => ok)).toBe(true);
  expect(await requestsOf("claim")).toBe(1);
  expect(await requestsOf("checkpointMany")).toBe(1);
  expect(await requestsOf("checkpoint")).toBe(0);
});

test("checkpoints that differ in what a request shares travel in few requests", async () => {
  const sessions = unwrap(await client.claimMany({ tenant, run, worker, count: 20 }));
  const other = unwrap(await client.claimMany({ tenant, run, worker: WorkerId.fromRaw(6n), count: 2 }));
  const key = (session: WorkerSession, byte: number) =>
    Cursor.fromParts({ lastKey: Uint8Array.of(Number(session.shardKey.shard), byte), token: Uint8Array.of(byte) });
  const answers = await Promise.all([
    ...sessions.map((session, index) => session.checkpoint(key(session, 200), { renew: index % 2 === 0 })),
    ...other.map((session) => session.checkpoint(key(session, 200))),
  ]);
  expect(answers.map((answer) => unwrap(answer).kind)).toEqual(answers.map(() => "Executed"));
  expect(answers.map((answer) => unwrap(answer).value.newDeadline)).toEqual([
    ...sessions.map((_, index) => (index % 2 === 0 ? 2_000n : undefined)),
    ...other.map(() => undefined),
  ]);
  // Two of ten each in the short form, and one of those that are left.
  expect([await requestsOf("checkpointMany"), await requestsOf("checkpoint")]).toEqual([2, 1]);
  for (const session of [...sessions, ...other])
    expect(unwrap(await coordinator.getShard({ tenant, key: session.shardKey }))!.cursor).toEqual(key(session, 200));
});

test("each checkpoint of a request has its own result", async () => {
  const sessions = unwrap(await client.claimMany({ tenant, run, worker, count: 5 }));
  const at = (session: WorkerSession, byte: number) =>
    Cursor.withLastKey(Uint8Array.of(Number(session.shardKey.shard), byte));
  const opId = OpId.fromRaw(77n);
  unwrap(await sessions[1]!.checkpoint(at(sessions[1]!, 1), { opId, renew: true }));
  unwrap(await coordinator.release({ tenant, lease: sessions[2]!.lease, opId }));
  clock.advance(10n);
  const results = await Promise.all(
    sessions.map((session, index) =>
      session.checkpoint(index === 3 ? Cursor.withLastKey(Uint8Array.of(255)) : at(session, 1), {
        renew: true,
        opId: index === 1 ? opId : OpId.fromRaw(100n + BigInt(index)),
      }),
    ),
  );
  expect(results.map((result) => (result.ok ? result.value.kind : result.error.kind))).toEqual([
    "Executed",
    "Replayed",
    "StaleFence",
    "CursorOutOfBounds",
    "Executed",
  ]);
  expect(unwrap(results[0]!).value.newDeadline).toBe(2_010n);
  expect(sessions.map(({ isLeaseLost }) => isLeaseLost)).toEqual([false, false, true, false, false]);
  expect(await requestsOf("checkpointMany")).toBe(2);
});

test("listeners get the events of this client only", async () => {
  const heard: CoordinationEvent[] = [];
  const stop = client.onEvent((event) => heard.push(event));
  const session = unwrap(await client.claim({ tenant, run, worker }));
  unwrap(await coordinator.claim({ tenant, run, worker }));
  unwrap(await session.renew());
  unwrap(await session.release());
  stop();
  unwrap(await client.claim({ tenant, run, worker }));
  expect(heard.map(({ kind }) => kind)).toEqual(["ShardAcquired", "ShardLeaseRenewed", "ShardReleased"]);
});

test("listeners get what this client does to runs", async () => {
  const operator = new GossipClient({ url: server.url, token: "operator" });
  const heard: CoordinationEvent[] = [];
  operator.onEvent((event) => heard.push(event));
  const opId = OpId.fromRaw(9n);
  const config = { leaseDuration: 1_000n };
  const shards = [{ shard: ShardId.fromRaw(1n), spec: SPEC, cursor: Cursor.initial() }];
  const [one, two] = [2n, 3n].map((id) => ({ tenant, run: RunId.fromRaw(id) }));
  try {
    unwrap(await operator.createRunWithShards({ ...one!, config, shards, opId }));
    unwrap(await operator.createRunWithShards({ ...one!, config, shards, opId }));
    unwrap(await operator.createRun({ ...two!, config }));
    clock.advance(5n);
    unwrap(await operator.registerShards({ ...two!, shards, opId }));
    unwrap(await operator.completeRun({ ...one!, opId: OpId.fromRaw(10n), force: true }));
    unwrap(await operator.cancelRun({ ...two!, opId: OpId.fromRaw(10n) }));
    unwrap(await operator.deleteRun(two!));
    const kinds = (run: RunId) => heard.filter((event) => event.run === run).map(({ kind }) => kind);
    expect(kinds(one!.run)).toEqual(["RunCreated", "RunActivated", "RunCompleted"]);
    expect(kinds(two!.run)).toEqual(["RunCreated", "RunActivated", "RunCancelled", "RunDeleted"]);
  } finally {
    operator.close();
  }
});

test("a client learns how many failures the server's store takes with one checkpoint", async () => {
  class SmallStore extends StoreProbe {
    override get traits() {
      return { ...super.traits, maxNotesPerSet: 3 };
    }
  }
  const small = await WireServer.start();
  try {
    const over = new Coordinator({ store: new SmallStore(new MemoryStore()), clock });
    const remote = small.connect(over, clock);
    const shards = [{ shard: ShardId.fromRaw(1n), spec: SPEC, cursor: Cursor.initial() }];
    unwrap(
      await remote.createRunWithShards({ tenant, run, config: { leaseDuration: 9n }, shards, opId: OpId.fromRaw(1n) }),
    );
    expect(remote.maxFailuresPerCheckpoint).toBe(64);
    unwrap(await remote.claim({ tenant, run, worker }));
    expect(remote.maxFailuresPerCheckpoint).toBe(3);
  } finally {
    await small.close();
  }
});

test("a token that the server does not accept rejects the call", async () => {
  const stranger = new GossipClient({ url: server.url, token: "bad" });
  try {
    await expect(stranger.claim({ tenant, run, worker })).rejects.toBeInstanceOf(ServiceRefused);
    await expect(stranger.getRun({ tenant, run })).rejects.toMatchObject({ kind: "Unauthenticated", status: 401 });
    await expect(client.cancelRun({ tenant, run, opId: OpId.fromRaw(2n) })).rejects.toMatchObject({
      kind: "Forbidden",
    });
  } finally {
    stranger.close();
  }
});

test("a server that is not there is a transient failure once the patience has ended", async () => {
  const { url } = server;
  await server.close();
  const lost = new GossipClient({ url, patienceMs: 60, claimWaitMs: 0 });
  try {
    const expected = {
      ok: false,
      error: { kind: "BackendError", reason: { kind: "Transient", code: "ECONNREFUSED" } },
    };
    expect(await lost.claim({ tenant, run, worker })).toMatchObject(expected);
    expect(await lost.getRun({ tenant, run })).toMatchObject(expected);
  } finally {
    lost.close();
  }
});
