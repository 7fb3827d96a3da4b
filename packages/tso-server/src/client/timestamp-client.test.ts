// A client stands between many callers and a few servers. It must not hand one timestamp to two callers, hand out an
// old one, trust a deposed leader, or give up while an election is on; nor may it hang, or hammer.
import { unwrap } from "@gossip/stdx";
import { MAX_GRANT_COUNT, Timestamp, WindowGrant } from "@gossip/tso";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { turnEventLoop } from "../testing/manual-time.ts";
import type { Request } from "../wire/frame.ts";
import { FakeServer, granting, type Act } from "./fake-server.fixture.ts";
import { ScriptedTime } from "./scripted-time.fixture.ts";
import { TimestampClient, type ClientOptions } from "./timestamp-client.ts";

let time: ScriptedTime;
const closing: (() => unknown)[] = [];
beforeEach(() => {
  time = new ScriptedTime();
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function serve(act: (request: Request, index: number) => Act, host?: string): Promise<FakeServer> {
  const server = await FakeServer.start(act, host);
  closing.push(() => server.close());
  return server;
}

function connect(endpoints: readonly string[], options: Partial<ClientOptions> = {}): TimestampClient {
  const client = unwrap(TimestampClient.create({ endpoints, timers: time.timers, monotonicClock: time.monotonicClock, random: () => 0, ...options }));
  closing.push(() => client.close());
  return client;
}

/** Turn the loop until `condition` holds: what is waited for is a socket's doing, not a clock's. */
async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100_000; turn++) {
    if (condition()) return;
    await turnEventLoop();
  }
  throw new Error(`waited for something that did not come: ${condition.toString()}`);
}

/** An endpoint where nobody listens. */
async function deserted(): Promise<string> {
  const server = await FakeServer.start(() => "hang up");
  const { endpoint } = server;
  await server.close();
  return endpoint;
}

const counter = (client: TimestampClient, name: Parameters<TimestampClient["metrics"]["counter"]>[0], labels = ""): number =>
  client.metrics.counter(name, labels).value;

describe("coalescing", () => {
  test("the callers of one turn share a request, and get their slices in order", async () => {
    const server = await serve(() => ({ grant: { physicalMs: 5000, logicalStart: 10 } }));
    const client = connect([server.endpoint]);
    const [a, b, c, d] = await Promise.all([client.getTs(), client.getTsBatch(3), client.getTs(), client.getTs()]);
    expect(server.requests).toMatchObject([{ count: 6 }]);
    expect([a, c, d].map((result) => Timestamp.logical(unwrap(result)))).toEqual([10, 14, 15]);
    expect(b).toEqual({ ok: true, value: { physicalMs: 5000, logicalStart: 11, count: 3, epoch: 1n } });
  });

  test("callers of different callbacks in one turn share it too", async () => {
    const server = await serve(granting());
    const client = connect([server.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    const answers = await new Promise<unknown[]>((resolve) => {
      const asked: Promise<unknown>[] = [];
      for (let callback = 0; callback < 5; callback++) {
        setImmediate(() => {
          asked.push(client.getTs());
          if (asked.length === 5) resolve(Promise.all(asked));
        });
      }
    });
    expect([answers.length, server.requests.map((request) => request.count)]).toEqual([5, [1, 5]]);
  });

  test("more than a millisecond holds is split, and nobody's request in two", async () => {
    const server = await serve(granting());
    const client = connect([server.endpoint]);
    const grants = await Promise.all(Array.from({ length: 4 }, () => client.getTsBatch(100_000)));
    expect(grants.map((grant) => unwrap(grant).count)).toEqual([100_000, 100_000, 100_000, 100_000]);
    expect(server.requests.map((request) => request.count)).toEqual([200_000, 200_000]);
    expect(new Set(grants.map((grant) => WindowGrant.first(unwrap(grant)))).size).toBe(4);
  });

  test("a caller that asks for nonsense is refused alone", async () => {
    const server = await serve(granting());
    const client = connect([server.endpoint]);
    const results = await Promise.all([client.getTs(), client.getTsBatch(0), client.getTsBatch(MAX_GRANT_COUNT + 1), client.getTsBatch(1.5), client.getTs()]);
    expect(results.map((result) => (result.ok ? "ok" : result.error.kind))).toEqual(["ok", "InvalidCount", "InvalidCount", "InvalidCount", "ok"]);
    expect(server.requests).toMatchObject([{ count: 2 }]);
  });

  test("eight thousand callers at once are all served, and no two alike", async () => {
    const server = await serve(granting());
    const client = connect([server.endpoint]);
    const results = await Promise.all(Array.from({ length: 8192 }, () => client.getTs()));
    expect(new Set(results.map((result) => unwrap(result))).size).toBe(8192);
  });

  test("a request does not wait for the one before it", async () => {
    const server = await serve(() => "stay silent");
    const client = connect([server.endpoint]);
    const first = client.getTs();
    await until(() => server.requests.length === 1);
    const second = client.getTs();
    await until(() => server.requests.length === 2);
    server.break(granting());
    expect([(await first).ok, (await second).ok]).toEqual([true, true]);
  });

  test("callers beyond the requests under way share the next one", async () => {
    const server = await serve(() => "stay silent");
    const client = connect([server.endpoint], { maxInFlight: 1 });
    const first = client.getTs();
    await until(() => server.requests.length === 1);
    const later: Promise<unknown>[] = [];
    for (let turn = 0; turn < 5; turn++) {
      later.push(client.getTs());
      await turnEventLoop();
    }
    expect(client.metrics.gauge("tsoracle.client.driver.queue_depth").value).toBe(5);
    server.act = granting(2000);
    server.break(granting());
    await Promise.all([first, ...later]);
    expect(server.requests.map((request) => request.count)).toEqual([1, 5]);
  });

  test("the first part of a large batch is delivered while the second is stalled", async () => {
    const server = await serve((_, index) => (index === 0 ? { grant: {} } : "stay silent"));
    const client = connect([server.endpoint]);
    const [first, second] = [client.getTsBatch(MAX_GRANT_COUNT), client.getTsBatch(1)];
    expect((await first).ok).toBe(true);
    await until(() => server.requests.length === 2);
    server.break(granting(3000));
    expect((await second).ok).toBe(true);
  });

  test("so many may wait and no more", async () => {
    const server = await serve(() => "stay silent");
    const client = connect([server.endpoint], { maxInFlight: 1, maxWaiting: 3 });
    void client.getTs();
    await until(() => server.requests.length === 1);
    for (let caller = 0; caller < 3; caller++) void client.getTs();
    expect(await client.getTs()).toEqual({ ok: false, error: { kind: "Overloaded", maxWaiting: 3 } });
    expect(await client.getTsBatch(2)).toEqual({ ok: false, error: { kind: "Overloaded", maxWaiting: 3 } });
  });
});

describe("a reply", () => {
  test.each([1, 3])("of %d where 2 were asked for is an error for all who asked, and the connection is kept", async (count) => {
    const server = await serve((_, index) => (index === 0 ? { grant: { count } } : { grant: { physicalMs: 9000 } }));
    const client = connect([server.endpoint]);
    const results = await Promise.all([client.getTs(), client.getTs()]);
    expect(results.map((result) => !result.ok && result.error.kind)).toEqual(["Protocol", "Protocol"]);
    expect([(await client.getTs()).ok, server.connections]).toEqual([true, 1]);
  });

  test("that is not above everything handed out before is refused, and the call goes on elsewhere", async () => {
    const deposed = await serve(granting(5000, 1n));
    const leader = await serve(granting(9000, 2n));
    const client = connect([deposed.endpoint, leader.endpoint]);
    expect(Timestamp.physicalMs(unwrap(await client.getTs()))).toBe(5000);
    deposed.act = () => ({ grant: { physicalMs: 4000 } });
    expect(Timestamp.physicalMs(unwrap(await client.getTs()))).toBe(9000);
    expect([counter(client, "tsoracle.client.floor_violations.total"), counter(client, "tsoracle.client.leader_pivots.total")]).toEqual([1, 1]);
    expect(client.cachedLeader).toEqual({ endpoint: leader.endpoint, epoch: 2n });
  });

  test("the very same timestamp again is refused too", async () => {
    const server = await serve((_, index) => ({ grant: { physicalMs: index < 2 ? 5000 : 5001 } }));
    const client = connect([server.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    expect(Timestamp.physicalMs(unwrap(await client.getTs()))).toBe(5001);
  });

  test("that is no reply costs the connection", async () => {
    const server = await serve((_, index) => (index === 0 ? { raw: Buffer.from([5, 0, 0, 0, 0x99, 1, 2, 3, 4]) } : { grant: {} }));
    const client = connect([server.endpoint]);
    expect(await client.getTs()).toMatchObject({ ok: false, error: { kind: "Transport" } });
    expect((await client.getTs()).ok).toBe(true);
    expect([server.connections, counter(client, "tsoracle.client.retries.total", 'reason="decode_error"')]).toEqual([2, 1]);
  });
});

describe("finding the leader", () => {
  test("a hint is followed and remembered", async () => {
    const leader = await serve(granting(1000, 7n));
    const follower = await serve(() => ({ refuse: "NotLeader", endpoint: leader.endpoint, epoch: 7n }));
    const client = connect([follower.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    expect((await client.getTs()).ok).toBe(true);
    expect([follower.requests.length, leader.requests.length]).toEqual([1, 2]);
    expect(client.cachedLeader).toEqual({ endpoint: leader.endpoint, epoch: 7n });
    expect(time.pausesMs).toEqual([]);
  });

  test("an election is ridden out: the client asks until somebody leads", async () => {
    const server = await serve((_, index) => (index < 6 ? { refuse: "NotLeader" } : { grant: {} }));
    const client = connect([server.endpoint], { random: () => 0.5, retryPolicy: { maxBackoffMs: 400 } });
    expect((await client.getTs()).ok).toBe(true);
    expect(server.requests.length).toBe(7);
    // A random part, here half, of a bound that doubles.
    expect(time.pausesMs).toEqual([25, 50, 100, 200, 200, 200]);
    expect(counter(client, "tsoracle.client.not_leader.total")).toBe(6);
  });

  test("but not beyond the call's own time", async () => {
    const server = await serve(() => ({ refuse: "NotLeader" }));
    const client = connect([server.endpoint], { random: () => 0.9, retryPolicy: { maxBackoffMs: 400 } });
    expect(await client.getTs()).toEqual({ ok: false, error: { kind: "NoLeader" } });
    const pausedMs = time.pausesMs.reduce((sum, ms) => sum + ms, 0);
    expect(pausedMs).toBeGreaterThan(9000);
    expect(pausedMs).toBeLessThanOrEqual(10_000);
  });

  test("a hint to an older leadership than the one known is dropped", async () => {
    const old = await serve(granting(1000, 3n));
    const leader = await serve((_, index) => (index === 0 ? { grant: { epoch: 5n as never } } : index === 1 ? { refuse: "NotLeader", endpoint: old.endpoint, epoch: 3n } : { grant: { physicalMs: 9000, epoch: 6n as never } }));
    const client = connect([leader.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    expect((await client.getTs()).ok).toBe(true);
    expect([old.requests.length, counter(client, "tsoracle.client.leader_hint.stale.total")]).toEqual([0, 1]);
  });

  test("a hint without an epoch is followed to a configured endpoint and to no other", async () => {
    const stranger = await serve(granting(20_000, 9n));
    const second = await serve(granting(30_000, 9n));
    const first = await serve((_, index) => (index === 0 ? { grant: { epoch: 5n as never } } : { refuse: "NotLeader", endpoint: index === 1 ? stranger.endpoint : second.endpoint }));
    const client = connect([first.endpoint, second.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    expect(Timestamp.physicalMs(unwrap(await client.getTs()))).toBe(30_000);
    expect(stranger.requests.length).toBe(0);
  });

  test("a hint with a scheme in it is no hint, and no sign of an election", async () => {
    const server = await serve(() => ({ refuse: "NotLeader", endpoint: "http://127.0.0.1:1" }));
    const client = connect([server.endpoint]);
    expect(await client.getTs()).toMatchObject({ ok: false, error: { kind: "Rejected", status: "NotLeader" } });
    expect([server.requests.length, counter(client, "tsoracle.client.leader_hint.decode_failures.total")]).toEqual([1, 1]);
  });

  test("servers that point at one another are an election, not a loop", async () => {
    const servers: FakeServer[] = [];
    for (let index = 0; index < 2; index++) servers.push(await serve(() => "hang up"));
    let round = 0n;
    servers.forEach((server, index) => {
      server.act = () => (round > 20n ? { grant: { epoch: 99n as never } } : { refuse: "NotLeader", endpoint: servers[1 - index]!.endpoint, epoch: ++round });
    });
    const client = connect(servers.map((server) => server.endpoint));
    expect((await client.getTs()).ok).toBe(true);
  });

  test("a sweep follows sixteen redirects, and a call sixty-four", async () => {
    const servers: FakeServer[] = [];
    for (let index = 0; index < 20; index++) servers.push(await serve(() => "hang up"));
    let epoch = 0n;
    servers.forEach((server, index) => {
      server.act = () => ({ refuse: "NotLeader", endpoint: servers[(index + 1) % servers.length]!.endpoint, epoch: ++epoch });
    });
    const client = connect([servers[0]!.endpoint]);
    expect(await client.getTs()).toEqual({ ok: false, error: { kind: "TooManyRedirects" } });
    expect(servers.reduce((sum, server) => sum + server.requests.length, 0)).toBe(64);
    expect([counter(client, "tsoracle.client.leader_redirect_cap.total"), counter(client, "tsoracle.client.leader_redirect_total_cap.total")]).toEqual([3, 1]);
  });

  test("a leader is forgotten after a while without news", async () => {
    const server = await serve(granting());
    const client = connect([server.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    time.elapse(29_999);
    expect(client.cachedLeader).toEqual({ endpoint: server.endpoint, epoch: 1n });
    time.elapse(1);
    expect(client.cachedLeader).toBeUndefined();
  });

  test("clients start their sweeps at different servers", async () => {
    const servers = await Promise.all([serve(granting()), serve(granting()), serve(granting())]);
    const endpoints = servers.map((server) => server.endpoint);
    for (const random of [0, 0.34, 0.67]) expect((await connect(endpoints, { random: () => random }).getTs()).ok).toBe(true);
    expect(servers.map((server) => server.requests.length)).toEqual([1, 1, 1]);
  });
});

describe("servers that fail", () => {
  test("one that cannot be reached is passed over", async () => {
    const leader = await serve(granting());
    const client = connect([await deserted(), leader.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    expect([counter(client, "tsoracle.client.connect.failures.total"), counter(client, "tsoracle.client.retries.total", 'reason="connect_failure"')]).toEqual([1, 1]);
  });

  test("where none can be reached each is tried once, and that is that", async () => {
    const endpoints = [await deserted(), await deserted(), await deserted()];
    const client = connect(endpoints);
    expect(await client.getTs()).toMatchObject({ ok: false, error: { kind: "Transport", reason: "ECONNREFUSED" } });
    expect(counter(client, "tsoracle.client.connect.failures.total")).toBe(3);
  });

  test("a cold sweep tries every endpoint, also where there are more than attempts", async () => {
    const gone = await Promise.all(Array.from({ length: 7 }, () => deserted()));
    const leader = await serve(granting());
    expect((await connect([...gone, leader.endpoint]).getTs()).ok).toBe(true);
  });

  test("a leader that hangs up is asked once more on a new connection", async () => {
    const server = await serve((_, index) => (index === 1 ? "hang up" : { grant: { physicalMs: 1000 + index } }));
    const client = connect([server.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    expect((await client.getTs()).ok).toBe(true);
    expect(server.connections).toBe(2);
  });

  test("one that refuses for a reason of its own keeps its connection, and its reason is what is reported", async () => {
    const server = await serve(() => ({ refuse: "Internal" }));
    const client = connect([server.endpoint, await deserted()]);
    const rejected = { ok: false, error: { kind: "Rejected", status: "Internal", reason: "told to" } };
    expect([await client.getTs(), await client.getTs()]).toEqual([rejected, rejected]);
    expect(server.connections).toBe(1);
  });

  test("a rejection outranks an election, which outranks an unreachable server", async () => {
    const [internal, electing, gone] = [await serve(() => ({ refuse: "Internal" })), await serve(() => ({ refuse: "NotLeader" })), await deserted()];
    expect(await connect([gone, electing.endpoint, internal.endpoint]).getTs()).toMatchObject({ error: { kind: "Rejected" } });
    expect(await connect([gone, electing.endpoint], { random: () => 0.9, retryPolicy: { maxAttempts: 1000, maxBackoffMs: 400 } }).getTs()).toEqual({ ok: false, error: { kind: "NoLeader" } });
  });

  test("one that says nothing is given up after the attempt's time, connection and all", async () => {
    const silent = await serve(() => "stay silent");
    const leader = await serve(granting());
    const client = connect([silent.endpoint, leader.endpoint]);
    const asked = client.getTs();
    await until(() => silent.requests.length === 1);
    time.elapse(1999);
    expect(leader.requests.length).toBe(0);
    time.elapse(1);
    expect((await asked).ok).toBe(true);
    expect(counter(client, "tsoracle.client.retries.total", 'reason="deadline_exceeded"')).toBe(1);
    expect(time.openBudgets).toBe(0);
  });

  test("connecting and asking share one budget, and all attempts one deadline", async () => {
    const silent = await Promise.all(Array.from({ length: 8 }, () => serve(() => "stay silent")));
    const client = connect(silent.map((server) => server.endpoint));
    const asked = client.getTs();
    for (let attempt = 1; attempt <= 5; attempt++) {
      await until(() => silent.reduce((sum, server) => sum + server.requests.length, 0) === attempt);
      time.elapse(2000);
    }
    expect(await asked).toMatchObject({ ok: false, error: { kind: "Transport" } });
    expect(silent.reduce((sum, server) => sum + server.requests.length, 0)).toBe(5);
  });

  test("a call whose time is up before its turn comes has nobody to blame", async () => {
    const server = await serve(() => "stay silent");
    const client = connect([server.endpoint], { maxInFlight: 1, retryPolicy: { overallMs: 3000 } });
    void client.getTs();
    await until(() => server.requests.length === 1);
    const late = client.getTs();
    server.act = granting();
    time.elapse(1);
    time.elapse(3000);
    expect(await late).toEqual({ ok: false, error: { kind: "NoReachableEndpoints" } });
  });

  test("at most eight connections to servers that only hints named are kept", async () => {
    const hinted: FakeServer[] = [];
    for (let index = 0; index < 10; index++) hinted.push(await serve(granting(1000 * (index + 1), BigInt(index + 1))));
    let next = 0;
    const first = await serve(() => ({ refuse: "NotLeader", endpoint: hinted[next]!.endpoint, epoch: BigInt(next + 1) }));
    const client = connect([first.endpoint], { retryPolicy: { leaderTtlMs: 1 } });
    for (next = 0; next < 10; next++) {
      expect((await client.getTs()).ok).toBe(true);
      time.elapse(1);
    }
    // The two oldest were let go and must be connected again; the newest were not.
    first.act = () => ({ refuse: "NotLeader", endpoint: hinted[9]!.endpoint, epoch: 20n });
    hinted[9]!.act = granting(90_000, 20n);
    expect((await client.getTs()).ok).toBe(true);
    time.elapse(1);
    first.act = () => ({ refuse: "NotLeader", endpoint: hinted[0]!.endpoint, epoch: 21n });
    hinted[0]!.act = granting(91_000, 21n);
    expect((await client.getTs()).ok).toBe(true);
    expect([hinted[9]!.connections, hinted[0]!.connections]).toEqual([1, 2]);
  });
});

describe("a client", () => {
  test("needs endpoints, and proper ones", () => {
    expect(TimestampClient.create({ endpoints: [] })).toEqual({ ok: false, error: { kind: "NoEndpoints" } });
    expect(TimestampClient.create({ endpoints: ["a:1", "http://b:2"] })).toEqual({ ok: false, error: { kind: "InvalidEndpoint", reason: "SchemeBearing" } });
    expect(TimestampClient.create({ endpoints: ["unix:"] })).toMatchObject({ ok: false, error: { kind: "InvalidEndpoint" } });
  });

  test("once closed refuses everybody, also those who wait", async () => {
    const server = await serve(() => "stay silent");
    const client = connect([server.endpoint], { maxInFlight: 1 });
    const sent = client.getTs();
    await until(() => server.requests.length === 1);
    const queued = client.getTs();
    client.close();
    const closed = { ok: false, error: { kind: "Closed" } };
    expect(await Promise.all([sent, queued, client.getTs(), client.getTsBatch(1)])).toEqual([closed, closed, closed, closed]);
    expect(time.openBudgets).toBe(0);
  });

  test("closed in the middle of an election stops asking", async () => {
    const server = await serve(() => ({ refuse: "NotLeader" }));
    const client = connect([server.endpoint], { retryPolicy: { backoffMs: 5000 }, random: () => 0.9 });
    const asked = client.getTs();
    await until(() => server.requests.length === 1 && time.openBudgets === 1);
    client.close();
    expect(await asked).toEqual({ ok: false, error: { kind: "Closed" } });
    expect([server.requests.length, time.openBudgets]).toEqual([1, 0]);
  });
});
