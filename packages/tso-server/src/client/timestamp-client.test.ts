// A client stands between many callers and a few servers. It must not hand one timestamp to two callers, hand out an
// old one, or make a caller wait for others; and when it is closed, no caller may be left waiting.
import { unwrap } from "@gossip/stdx";
import { MAX_GRANT_COUNT, Timestamp, WindowGrant } from "@gossip/tso";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { turnEventLoop } from "../testing/manual-time.ts";
import { until } from "../until.fixture.ts";
import { ClientWorld, counter } from "./client-world.fixture.ts";
import { granting } from "./fake-server.fixture.ts";
import { TimestampClient } from "./timestamp-client.ts";

// Nothing here waits on a clock; a busy machine may still be slow.
vi.setConfig({ testTimeout: 60_000 });

let world: ClientWorld;
beforeEach(() => {
  world = new ClientWorld();
});
afterEach(() => world.dispose());

describe("coalescing", () => {
  test("the callers of one turn share a request, and get their slices in order", async () => {
    const server = await world.serve(() => ({ grant: { physicalMs: 5000, logicalStart: 10 } }));
    const client = world.connect([server.endpoint]);
    const [a, b, c, d] = await Promise.all([client.getTs(), client.getTsBatch(3), client.getTs(), client.getTs()]);
    expect(server.requests).toMatchObject([{ count: 6 }]);
    expect([a, c, d].map((result) => Timestamp.logical(unwrap(result)))).toEqual([10, 14, 15]);
    expect(b).toEqual({ ok: true, value: { physicalMs: 5000, logicalStart: 11, count: 3, epoch: 1n } });
  });

  test("callers of different callbacks in one turn share it too", async () => {
    const server = await world.serve(granting());
    const client = world.connect([server.endpoint]);
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

  test("more than a millisecond holds is split, but no request in two", async () => {
    const server = await world.serve(granting());
    const client = world.connect([server.endpoint]);
    const grants = await Promise.all(Array.from({ length: 4 }, () => client.getTsBatch(100_000)));
    expect(grants.map((grant) => unwrap(grant).count)).toEqual([100_000, 100_000, 100_000, 100_000]);
    expect(server.requests.map((request) => request.count)).toEqual([200_000, 200_000]);
    expect(new Set(grants.map((grant) => WindowGrant.first(unwrap(grant)))).size).toBe(4);
  });

  test("a caller that asks for nonsense is refused alone", async () => {
    const server = await world.serve(granting());
    const client = world.connect([server.endpoint]);
    const results = await Promise.all([
      client.getTs(),
      client.getTsBatch(0),
      client.getTsBatch(MAX_GRANT_COUNT + 1),
      client.getTsBatch(1.5),
      client.getTs(),
    ]);
    expect(results.map((result) => (result.ok ? "ok" : result.error.kind))).toEqual([
      "ok",
      "InvalidCount",
      "InvalidCount",
      "InvalidCount",
      "ok",
    ]);
    expect(server.requests).toMatchObject([{ count: 2 }]);
  });

  test("eight thousand callers at once are all served, and no two alike", async () => {
    const server = await world.serve(granting());
    const client = world.connect([server.endpoint]);
    const results = await Promise.all(Array.from({ length: 8192 }, () => client.getTs()));
    expect(new Set(results.map((result) => unwrap(result))).size).toBe(8192);
  });

  test("a request does not wait for the one before it", async () => {
    const server = await world.serve(() => "stay silent");
    const client = world.connect([server.endpoint]);
    const first = client.getTs();
    await until(() => server.requests.length === 1);
    const second = client.getTs();
    await until(() => server.requests.length === 2);
    server.break(granting());
    expect([(await first).ok, (await second).ok]).toEqual([true, true]);
  });

  test("callers beyond the requests under way share the next one", async () => {
    const server = await world.serve(() => "stay silent");
    const client = world.connect([server.endpoint], { maxInFlight: 1 });
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
    const server = await world.serve((_, index) => (index === 0 ? { grant: {} } : "stay silent"));
    const client = world.connect([server.endpoint]);
    const [first, second] = [client.getTsBatch(MAX_GRANT_COUNT), client.getTsBatch(1)];
    expect((await first).ok).toBe(true);
    await until(() => server.requests.length === 2);
    server.break(granting(3000));
    expect((await second).ok).toBe(true);
  });

  test("so many may wait and no more", async () => {
    const server = await world.serve(() => "stay silent");
    const client = world.connect([server.endpoint], { maxInFlight: 1, maxWaiting: 3 });
    void client.getTs();
    await until(() => server.requests.length === 1);
    for (let caller = 0; caller < 3; caller++) void client.getTs();
    expect(await client.getTs()).toEqual({ ok: false, error: { kind: "Overloaded", maxWaiting: 3 } });
    expect(await client.getTsBatch(2)).toEqual({ ok: false, error: { kind: "Overloaded", maxWaiting: 3 } });
  });
});

describe("a reply", () => {
  test.each([1, 3])(
    "of %d where 2 were asked for is an error for all callers, and the connection is kept",
    async (count) => {
      const server = await world.serve((_, index) =>
        index === 0 ? { grant: { count } } : { grant: { physicalMs: 9000 } },
      );
      const client = world.connect([server.endpoint]);
      const results = await Promise.all([client.getTs(), client.getTs()]);
      expect(results.map((result) => !result.ok && result.error.kind)).toEqual(["Protocol", "Protocol"]);
      expect([(await client.getTs()).ok, server.connections]).toEqual([true, 1]);
    },
  );

  test("that is not above everything handed out before is refused, and the call goes on elsewhere", async () => {
    const deposed = await world.serve(granting(5000, 1n));
    const leader = await world.serve(granting(9000, 2n));
    const client = world.connect([deposed.endpoint, leader.endpoint]);
    expect(Timestamp.physicalMs(unwrap(await client.getTs()))).toBe(5000);
    deposed.act = () => ({ grant: { physicalMs: 4000 } });
    expect(Timestamp.physicalMs(unwrap(await client.getTs()))).toBe(9000);
    expect([
      counter(client, "tsoracle.client.floor_violations.total"),
      counter(client, "tsoracle.client.leader_pivots.total"),
    ]).toEqual([1, 1]);
    expect(client.cachedLeader).toEqual({ endpoint: leader.endpoint, epoch: 2n });
  });

  test("two that arrive together are handed out in order, also where one had to be looked for and the other had not", async () => {
    const server = await world.serve((_, index) =>
      index === 0 ? { grant: {} } : index === 1 ? { refuse: "NotLeader" } : "stay silent",
    );
    const client = world.connect([server.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    const searching = client.getTs();
    await until(() => server.requests.length === 3);
    const direct = client.getTs();
    await until(() => server.requests.length === 4);
    let physicalMs = 2000;
    server.break(() => ({ grant: { physicalMs: physicalMs++ } }));
    expect([await searching, await direct].map((result) => Timestamp.physicalMs(unwrap(result)))).toEqual([2000, 2001]);
    expect(counter(client, "tsoracle.client.floor_violations.total")).toBe(0);
  });

  test("the very same timestamp again is refused too", async () => {
    const server = await world.serve((_, index) => ({ grant: { physicalMs: index < 2 ? 5000 : 5001 } }));
    const client = world.connect([server.endpoint]);
    expect((await client.getTs()).ok).toBe(true);
    expect(Timestamp.physicalMs(unwrap(await client.getTs()))).toBe(5001);
  });

  test("that is no reply costs the connection", async () => {
    const server = await world.serve((_, index) =>
      index === 0 ? { raw: Buffer.from([5, 0, 0, 0, 0x99, 1, 2, 3, 4]) } : { grant: {} },
    );
    const client = world.connect([server.endpoint]);
    expect(await client.getTs()).toMatchObject({ ok: false, error: { kind: "Transport" } });
    expect((await client.getTs()).ok).toBe(true);
    expect([server.connections, counter(client, "tsoracle.client.retries.total", 'reason="decode_error"')]).toEqual([
      2, 1,
    ]);
  });
});

describe("a client", () => {
  test("needs endpoints, and proper ones", () => {
    expect(TimestampClient.create({ endpoints: [] })).toEqual({ ok: false, error: { kind: "NoEndpoints" } });
    expect(TimestampClient.create({ endpoints: ["a:1", "http://b:2"] })).toEqual({
      ok: false,
      error: { kind: "InvalidEndpoint", reason: "SchemeBearing" },
    });
    expect(TimestampClient.create({ endpoints: ["unix:"] })).toMatchObject({
      ok: false,
      error: { kind: "InvalidEndpoint" },
    });
  });

  test("once closed refuses every caller, also those that wait", async () => {
    const server = await world.serve(() => "stay silent");
    const client = world.connect([server.endpoint], { maxInFlight: 1 });
    const sent = client.getTs();
    await until(() => server.requests.length === 1);
    const queued = client.getTs();
    client.close();
    const closed = { ok: false, error: { kind: "Closed" } };
    expect(await Promise.all([sent, queued, client.getTs(), client.getTsBatch(1)])).toEqual([
      closed,
      closed,
      closed,
      closed,
    ]);
    expect(world.time.openBudgets).toBe(0);
  });

  test("closed in the middle of an election stops asking", async () => {
    const server = await world.serve(() => ({ refuse: "NotLeader" }));
    const client = world.connect([server.endpoint], { retryPolicy: { backoffMs: 5000 }, random: () => 0.9 });
    const asked = client.getTs();
    await until(() => server.requests.length === 1 && world.time.openBudgets === 2);
    client.close();
    expect(await asked).toEqual({ ok: false, error: { kind: "Closed" } });
    expect([server.requests.length, world.time.openBudgets]).toEqual([1, 0]);
  });
});
