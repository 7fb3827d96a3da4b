// Which server to ask, and what to make of its answer. A client that trusts a deposed leader, gives up while an election
// is on, hangs, or hammers, is worse than none.
import { unwrap } from "@gossip/stdx";
import { Timestamp } from "@gossip/tso";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { until } from "../until.fixture.ts";
import { ClientWorld, counter, deserted } from "./client-world.fixture.ts";
import { granting, type FakeServer } from "./fake-server.fixture.ts";

// Nothing here waits on a clock; a busy machine may still be slow.
vi.setConfig({ testTimeout: 60_000 });

let world: ClientWorld;
beforeEach(() => {
  world = new ClientWorld();
});
afterEach(() => world.dispose());

describe("finding the leader", () => {
  test("a hint is followed and remembered", async () => {
    const leader = await world.serve(granting(1000, 7n));
    const follower = await world.serve(() => ({ refuse: "NotLeader", endpoint: leader.endpoint, epoch: 7n }));
    const client = world.connect([follower.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    expect((await client.getTs()).ok).toBe(true);
    expect([follower.requests.length, leader.requests.length]).toEqual([1, 2]);
    expect(client.cachedLeader).toEqual({ endpoint: leader.endpoint, epoch: 7n });
    expect(world.time.pausesMs).toEqual([]);
  });

  test("an election is ridden out: the client asks until a server leads", async () => {
    const server = await world.serve((_, index) => (index < 6 ? { refuse: "NotLeader" } : { grant: {} }));
    const client = world.connect([server.endpoint], { random: () => 0.5, retryPolicy: { maxBackoffMs: 400 } });
    expect((await client.getTs()).ok).toBe(true);
    expect(server.requests.length).toBe(7);
    // A random part, here half, of a bound that doubles.
    expect(world.time.pausesMs).toEqual([25, 50, 100, 200, 200, 200]);
    expect(counter(client, "tsoracle.client.not_leader.total")).toBe(6);
  });

  test("also where the old leader is dead and is knocked at in every sweep", async () => {
    const server = await world.serve((_, index) => (index < 12 ? { refuse: "NotLeader" } : { grant: {} }));
    const client = world.connect([await deserted(), server.endpoint], {
      random: () => 0.5,
      retryPolicy: { maxBackoffMs: 400 },
    });
    expect((await client.getTs()).ok).toBe(true);
    expect(counter(client, "tsoracle.client.connect.failures.total")).toBe(12);
  });

  test("but not beyond the call's own time", async () => {
    const server = await world.serve(() => ({ refuse: "NotLeader" }));
    const client = world.connect([server.endpoint], { random: () => 0.9, retryPolicy: { maxBackoffMs: 400 } });
    expect(await client.getTs()).toEqual({ ok: false, error: { kind: "NoLeader" } });
    const pausedMs = world.time.pausesMs.reduce((sum, ms) => sum + ms, 0);
    expect(pausedMs).toBeGreaterThan(9000);
    expect(pausedMs).toBeLessThanOrEqual(10_000);
  });

  test("a hint to an older leadership than the one known is dropped", async () => {
    const old = await world.serve(granting(1000, 3n));
    const leader = await world.serve((_, index) =>
      index === 0
        ? { grant: { epoch: 5n as never } }
        : index === 1
          ? { refuse: "NotLeader", endpoint: old.endpoint, epoch: 3n }
          : { grant: { physicalMs: 9000, epoch: 6n as never } },
    );
    const client = world.connect([leader.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    expect((await client.getTs()).ok).toBe(true);
    expect([old.requests.length, counter(client, "tsoracle.client.leader_hint.stale.total")]).toEqual([0, 1]);
  });

  test("a hint without an epoch is followed to a configured endpoint and to no other", async () => {
    const stranger = await world.serve(granting(20_000, 9n));
    const second = await world.serve(granting(30_000, 9n));
    const first = await world.serve((_, index) =>
      index === 0
        ? { grant: { epoch: 5n as never } }
        : { refuse: "NotLeader", endpoint: index === 1 ? stranger.endpoint : second.endpoint },
    );
    const client = world.connect([first.endpoint, second.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    expect(Timestamp.physicalMs(unwrap(await client.getTs()))).toBe(30_000);
    expect(stranger.requests.length).toBe(0);
  });

  test("a hint with a scheme in it is no hint, and no sign of an election", async () => {
    const server = await world.serve(() => ({ refuse: "NotLeader", endpoint: "http://127.0.0.1:1" }));
    const client = world.connect([server.endpoint]);
    expect(await client.getTs()).toMatchObject({ ok: false, error: { kind: "Rejected", status: "NotLeader" } });
    expect([server.requests.length, counter(client, "tsoracle.client.leader_hint.decode_failures.total")]).toEqual([
      1, 1,
    ]);
  });

  test("servers that point at one another are an election, not a loop", async () => {
    const servers: FakeServer[] = [];
    for (let index = 0; index < 2; index++) servers.push(await world.serve(() => "hang up"));
    let round = 0n;
    servers.forEach((server, index) => {
      server.act = () =>
        round > 20n
          ? { grant: { epoch: 99n as never } }
          : { refuse: "NotLeader", endpoint: servers[1 - index]!.endpoint, epoch: ++round };
    });
    const client = world.connect(servers.map((server) => server.endpoint));
    expect((await client.getTs()).ok).toBe(true);
  });

  test("a sweep follows sixteen redirects, and a call sixty-four", async () => {
    const servers: FakeServer[] = [];
    for (let index = 0; index < 20; index++) servers.push(await world.serve(() => "hang up"));
    let epoch = 0n;
    servers.forEach((server, index) => {
      server.act = () => ({
        refuse: "NotLeader",
        endpoint: servers[(index + 1) % servers.length]!.endpoint,
        epoch: ++epoch,
      });
    });
    const client = world.connect([servers[0]!.endpoint]);
    expect(await client.getTs()).toEqual({ ok: false, error: { kind: "TooManyRedirects" } });
    expect(servers.reduce((sum, server) => sum + server.requests.length, 0)).toBe(64);
    expect([
      counter(client, "tsoracle.client.leader_redirect_cap.total"),
      counter(client, "tsoracle.client.leader_redirect_total_cap.total"),
    ]).toEqual([3, 1]);
  });

  test("a leader is forgotten after a while without news", async () => {
    const server = await world.serve(granting());
    const client = world.connect([server.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    world.time.elapse(29_999);
    expect(client.cachedLeader).toEqual({ endpoint: server.endpoint, epoch: 1n });
    world.time.elapse(1);
    expect(client.cachedLeader).toBeUndefined();
  });

  test("clients start their sweeps at different servers", async () => {
    const servers = await Promise.all([world.serve(granting()), world.serve(granting()), world.serve(granting())]);
    const endpoints = servers.map((server) => server.endpoint);
    for (const random of [0, 0.34, 0.67])
      expect((await world.connect(endpoints, { random: () => random }).getTs()).ok).toBe(true);
    expect(servers.map((server) => server.requests.length)).toEqual([1, 1, 1]);
  });
});

describe("servers that fail", () => {
  test("one that cannot be reached is passed over", async () => {
    const leader = await world.serve(granting());
    const client = world.connect([await deserted(), leader.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    expect([
      counter(client, "tsoracle.client.connect.failures.total"),
      counter(client, "tsoracle.client.retries.total", 'reason="connect_failure"'),
    ]).toEqual([1, 1]);
  });

  test("where none can be reached each is tried once, and that is that", async () => {
    const endpoints = [await deserted(), await deserted(), await deserted()];
    const client = world.connect(endpoints);
    expect(await client.getTs()).toMatchObject({ ok: false, error: { kind: "Transport", reason: "ECONNREFUSED" } });
    expect(counter(client, "tsoracle.client.connect.failures.total")).toBe(3);
  });

  test("a cold sweep tries every endpoint, also where there are more than attempts", async () => {
    const gone = await Promise.all(Array.from({ length: 7 }, () => deserted()));
    const leader = await world.serve(granting());
    expect((await world.connect([...gone, leader.endpoint]).getTs()).ok).toBe(true);
  });

  test("a leader that hangs up is asked once more on a new connection", async () => {
    const server = await world.serve((_, index) => (index === 1 ? "hang up" : { grant: { physicalMs: 1000 + index } }));
    const client = world.connect([server.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    expect((await client.getTs()).ok).toBe(true);
    expect(server.connections).toBe(2);
  });

  test("one that refuses for a reason of its own keeps its connection, and its reason is what is reported", async () => {
    const server = await world.serve(() => ({ refuse: "Internal" }));
    const client = world.connect([server.endpoint, await deserted()]);
    const rejected = { ok: false, error: { kind: "Rejected", status: "Internal", reason: "told to" } };
    expect([await client.getTs(), await client.getTs()]).toEqual([rejected, rejected]);
    expect(server.connections).toBe(1);
  });

  test("a rejection outranks an election, which outranks an unreachable server", async () => {
    const [internal, electing, gone] = [
      await world.serve(() => ({ refuse: "Internal" })),
      await world.serve(() => ({ refuse: "NotLeader" })),
      await deserted(),
    ];
    const options = { random: () => 0.9, retryPolicy: { maxBackoffMs: 400 } };
    expect(await world.connect([gone, electing.endpoint, internal.endpoint], options).getTs()).toMatchObject({
      error: { kind: "Rejected", status: "Internal" },
    });
    expect(await world.connect([gone, electing.endpoint], options).getTs()).toEqual({
      ok: false,
      error: { kind: "NoLeader" },
    });
    expect(await world.connect([gone], options).getTs()).toMatchObject({ error: { kind: "Transport" } });
  });

  test("one that says nothing is given up after the attempt's time, connection and all", async () => {
    const silent = await world.serve(() => "stay silent");
    const leader = await world.serve(granting());
    const client = world.connect([silent.endpoint, leader.endpoint]);
    const asked = client.getTs();
    await until(() => silent.requests.length === 1);
    world.time.elapse(1999);
    expect(leader.requests.length).toBe(0);
    world.time.elapse(1);
    expect((await asked).ok).toBe(true);
    expect(counter(client, "tsoracle.client.retries.total", 'reason="deadline_exceeded"')).toBe(1);
    client.close();
    expect(world.time.openBudgets).toBe(0);
  });

  test("connecting and asking share one budget, and all attempts one deadline", async () => {
    const silent = await Promise.all(Array.from({ length: 8 }, () => world.serve(() => "stay silent")));
    const client = world.connect(silent.map((server) => server.endpoint));
    const asked = client.getTs();
    for (let attempt = 1; attempt <= 5; attempt++) {
      await until(() => silent.reduce((sum, server) => sum + server.requests.length, 0) === attempt);
      world.time.elapse(2000);
    }
    expect(await asked).toMatchObject({ ok: false, error: { kind: "Transport" } });
    expect(silent.reduce((sum, server) => sum + server.requests.length, 0)).toBe(5);
  });

  test("a call whose time is up before its first attempt reports no reachable endpoint", async () => {
    const server = await world.serve(() => "stay silent");
    const client = world.connect([server.endpoint], { maxInFlight: 1, retryPolicy: { overallMs: 3000 } });
    void client.getTs();
    await until(() => server.requests.length === 1);
    const late = client.getTs();
    server.act = granting();
    world.time.elapse(1);
    world.time.elapse(3000);
    expect(await late).toEqual({ ok: false, error: { kind: "NoReachableEndpoints" } });
  });

  test("at most eight connections to servers that only hints named are kept", async () => {
    const hinted: FakeServer[] = [];
    for (let index = 0; index < 10; index++)
      hinted.push(await world.serve(granting(1000 * (index + 1), BigInt(index + 1))));
    let next = 0;
    const first = await world.serve(() => ({
      refuse: "NotLeader",
      endpoint: hinted[next]!.endpoint,
      epoch: BigInt(next + 1),
    }));
    const client = world.connect([first.endpoint], { retryPolicy: { leaderTtlMs: 1 } });
    for (next = 0; next < 10; next++) {
      expect((await client.getTs()).ok).toBe(true);
      world.time.elapse(1);
    }
    // The two oldest were let go and must be connected again; the newest were not.
    first.act = () => ({ refuse: "NotLeader", endpoint: hinted[9]!.endpoint, epoch: 20n });
    hinted[9]!.act = granting(90_000, 20n);
    expect((await client.getTs()).ok).toBe(true);
    world.time.elapse(1);
    first.act = () => ({ refuse: "NotLeader", endpoint: hinted[0]!.endpoint, epoch: 21n });
    hinted[0]!.act = granting(91_000, 21n);
    expect((await client.getTs()).ok).toBe(true);
    expect([hinted[9]!.connections, hinted[0]!.connections]).toEqual([1, 2]);
  });
});
