// The server meets the network: pieces of frames, strangers, clients that leave, and its own end. A mistake here
// answers one client with another's timestamps, or keeps granting on a port that was to be closed.
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unwrap } from "@gossip/stdx";
import { MAX_GRANT_COUNT, Timestamp, WindowGrant } from "@gossip/tso";
import { afterEach, describe, expect, test, vi } from "vitest";
import { TimestampClient } from "../client/timestamp-client.ts";
import { leaderAt } from "../driver/leader-state.ts";
import { MemoryDriver } from "../driver/memory-driver.ts";
import { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { FaultyDriver } from "../testing/faulty-driver.ts";
import { until } from "../until.fixture.ts";
import { encodeRequest, PREFACE } from "../wire/frame.ts";
import { OracleServer, type ServeOptions } from "./oracle-server.ts";
import { RawClient } from "./raw-client.fixture.ts";

// Nothing here waits on a clock; a busy machine may still be slow.
vi.setConfig({ testTimeout: 60_000 });

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function start(
  options: Partial<ServeOptions> = {},
): Promise<{ server: OracleServer; memory: MemoryDriver; driver: FaultyDriver }> {
  const memory = new MemoryDriver();
  const driver = new FaultyDriver(memory);
  const server = unwrap(await OracleServer.start({ driver, listen: [{ port: 0 }], ...options }));
  closing.push(() => server.shutdown());
  if (options.driver === undefined) await until(() => server.oracle.state.kind === "Serving");
  return { server, memory, driver };
}

function connect(address: string): RawClient {
  const client = new RawClient(address);
  closing.push(() => client.socket.destroy());
  return client;
}

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tso-server-"));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe("the framed protocol", () => {
  test("is served on TCP and on a unix socket alike, and only to this machine unless told otherwise", async () => {
    const path = join(await temporary(), "tso.sock");
    const { server } = await start({ listen: [{ port: 0 }, { path }] });
    expect(server.addresses).toEqual([expect.stringMatching(/^127\.0\.0\.1:\d+$/u), path]);
    for (const address of server.addresses) {
      const client = await connect(address).connected();
      client.socket.write(encodeRequest({ requestId: 7, count: 3 }));
      await until(() => client.replies.length === 1);
      expect(client.replies[0]).toMatchObject({ kind: "Granted", requestId: 7, grant: { count: 3, epoch: 1n } });
    }
  });

  test("frames may arrive in any pieces, and many in one", async () => {
    const { server } = await start();
    const client = connect(server.addresses[0]!);
    const bytes = Buffer.concat([
      PREFACE,
      encodeRequest({ requestId: 1, count: 1 }),
      encodeRequest({ requestId: 2, count: 0 }),
      encodeRequest({ requestId: 3, count: 5 }),
    ]);
    client.socket.setNoDelay(true);
    for (const byte of bytes) {
      client.socket.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    client.socket.write(bytes.subarray(PREFACE.length));
    await until(() => client.replies.length === 6);
    const granted = client.replies
      .filter((reply) => reply.kind === "Granted")
      .map((reply) => WindowGrant.first(reply.grant));
    expect(granted.length).toBe(4);
    expect(granted).toEqual(granted.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(client.replies.filter((reply) => reply.kind === "Refused")).toMatchObject([
      { requestId: 2, status: "InvalidArgument" },
      { requestId: 2, status: "InvalidArgument" },
    ]);
  });

  test.each([
    "GET / HTTP/1.1\r\n\r\n",
    "GTS2aaaaaaaa",
    "GTS1\0\0\0\0",
    "GTS1\x09\0\0\0\x03aaaabbbb",
    "GTS1\xff\xff\xff\xff",
  ])("a stranger who says %j is shown out", async (text) => {
    const { server } = await start();
    const client = connect(server.addresses[0]!);
    client.socket.write(Buffer.from(text, "latin1"));
    await until(() => client.isClosed);
    expect(server.oracle.metrics.counter("tsoracle.connection.malformed.total").value).toBe(1);
  });

  test("a stranger with the right frames and the wrong first word is not answered", async () => {
    const { server } = await start();
    const client = connect(server.addresses[0]!);
    client.socket.write(Buffer.concat([Buffer.from("GTS2"), encodeRequest({ requestId: 1, count: 1 })]));
    await until(() => client.isClosed);
    expect([client.replies, server.oracle.metrics.counter("tsoracle.get_ts.requests.total").value]).toEqual([[], 0]);
  });

  test("what came before the nonsense is still answered", async () => {
    const { server } = await start();
    const client = await connect(server.addresses[0]!).connected();
    client.socket.write(Buffer.concat([encodeRequest({ requestId: 1, count: 1 }), Buffer.alloc(8)]));
    await until(() => client.isClosed);
    expect(server.oracle.metrics.counter("tsoracle.get_ts.success.total").value).toBe(1);
  });

  test("a node that does not lead says who does", async () => {
    const { server, memory } = await start();
    memory.setLeadership({ kind: "Follower", leaderEndpoint: unwrap(PeerEndpoint.parse("far.away:7")) });
    await until(() => server.oracle.state.kind === "NotServing");
    const client = await connect(server.addresses[0]!).connected();
    client.socket.write(encodeRequest({ requestId: 1, count: 1 }));
    await until(() => client.replies.length === 1);
    expect(client.replies[0]).toEqual({
      kind: "Refused",
      requestId: 1,
      status: "NotLeader",
      reason: "NotLeader",
      hint: { leaderEndpoint: "far.away:7" },
    });
  });

  test("requests that wait for an extension are answered when it is through, others at once", async () => {
    const { server, driver } = await start({
      failoverAdvanceMs: 0,
      windowAheadMs: 1000,
      clock: { nowMs: () => 1_700_000_000_000 },
    });
    const client = await connect(server.addresses[0]!).connected();
    driver.hold();
    client.socket.write(
      Buffer.concat([
        encodeRequest({ requestId: 1, count: MAX_GRANT_COUNT - 1 }),
        encodeRequest({ requestId: 2, count: 2 }),
        encodeRequest({ requestId: 3, count: 1 }),
      ]),
    );
    await until(() => client.replies.length === 2);
    driver.release();
    await until(() => client.replies.length === 3);
    expect(client.replies.map((reply) => reply.requestId)).toEqual([1, 3, 2]);
  });

  test("a client that leaves while it waits harms no other", async () => {
    const { server, driver } = await start({ failoverAdvanceMs: 0, clock: { nowMs: () => 1_700_000_000_000 } });
    const client = await connect(server.addresses[0]!).connected();
    driver.hold();
    client.socket.write(
      Buffer.concat([
        encodeRequest({ requestId: 1, count: MAX_GRANT_COUNT }),
        encodeRequest({ requestId: 2, count: 1 }),
      ]),
    );
    await until(() => driver.persistCalls.length > 1);
    client.socket.destroy();
    driver.release();
    const other = await connect(server.addresses[0]!).connected();
    other.socket.write(encodeRequest({ requestId: 1, count: 1 }));
    await until(() => other.replies.length === 1);
    expect(other.replies[0]!.kind).toBe("Granted");
  });
});

describe("a connection that asks for more than the clock can give", () => {
  test("is refused what it waits too long for, and takes nothing from another client", async () => {
    // Five full-size requests and issued time leads the clock as far as it may.
    const { server } = await start({ failoverAdvanceMs: 0, windowAheadMs: 2, maxLeadMs: 5, leadWaitMs: 100 });
    const greedy = await connect(server.addresses[0]!).connected();
    const REQUESTS = 4000;
    const large = Array.from({ length: REQUESTS }, (_, index) =>
      encodeRequest({ requestId: index, count: MAX_GRANT_COUNT }),
    );
    greedy.socket.write(Buffer.concat(large));
    await until(() => greedy.replies.length > 0);
    const client = unwrap(TimestampClient.create({ endpoints: server.addresses }));
    closing.push(() => client.close());
    for (let call = 0; call < 60; call++) expect(await client.getTs()).toMatchObject({ ok: true });
    await until(() => greedy.replies.length === REQUESTS);
    const refused = greedy.replies.filter((reply) => reply.kind === "Refused");
    expect(refused.every(({ reason, status }) => reason === "TimeRunaway" && status === "ResourceExhausted")).toBe(
      true,
    );
  });
});

describe("a client and a server together", () => {
  test("two hundred calls in a row, none older than its own asking", async () => {
    const { server } = await start();
    const client = unwrap(TimestampClient.create({ endpoints: server.addresses }));
    closing.push(() => client.close());
    let previous = 0n;
    for (let call = 0; call < 200; call++) {
      const askedAtMs = Date.now();
      const timestamp = unwrap(await client.getTs());
      expect(timestamp).toBeGreaterThan(previous);
      expect(Timestamp.physicalMs(timestamp)).toBeGreaterThanOrEqual(askedAtMs - 2);
      previous = timestamp;
    }
  });

  test("over a unix socket too", async () => {
    const path = join(await temporary(), "s");
    await start({ listen: [{ path }] });
    const client = unwrap(TimestampClient.create({ endpoints: [`unix:${path}`] }));
    closing.push(() => client.close());
    expect((await client.getTsBatch(10)).ok).toBe(true);
  });

  test("a change of leader between two nodes is followed without a call lost", async () => {
    const [a, b] = [await start(), await start({ driver: new MemoryDriver({ leadership: { kind: "Unknown" } }) })];
    const second = b.server;
    const client = unwrap(
      TimestampClient.create({
        endpoints: [a.server.addresses[0]!, second.addresses[0]!],
        retryPolicy: { backoffMs: 1 },
      }),
    );
    closing.push(() => client.close());
    const before = unwrap(await client.getTs());
    a.memory.setLeadership({
      kind: "Follower",
      leaderEndpoint: unwrap(PeerEndpoint.parse(second.addresses[0]!)),
      leaderEpoch: 2n as never,
    });
    await until(() => a.server.oracle.state.kind === "NotServing");
    const asked = client.getTs();
    // The other node wins the election while the client already asks.
    const winner = unwrap(
      await OracleServer.start({ driver: new MemoryDriver({ leadership: leaderAt(2n) }), listen: [{ port: 0 }] }),
    );
    closing.push(() => winner.shutdown());
    a.memory.setLeadership({
      kind: "Follower",
      leaderEndpoint: unwrap(PeerEndpoint.parse(winner.addresses[0]!)),
      leaderEpoch: 2n as never,
    });
    expect(unwrap(await asked)).toBeGreaterThan(before);
    expect(client.cachedLeader?.endpoint).toBe(winner.addresses[0]);
  });
});

describe("listening", () => {
  test("a port that is taken is an error, and nothing is left running", async () => {
    const { server } = await start();
    const port = Number(server.addresses[0]!.split(":")[1]);
    const path = join(await temporary(), "s");
    const failed = await OracleServer.start({ driver: new MemoryDriver(), listen: [{ path }, { port }] });
    expect(failed).toEqual({ ok: false, error: { kind: "Listen", code: "EADDRINUSE", address: `127.0.0.1:${port}` } });
    await expect(stat(path)).rejects.toThrow("ENOENT");
  });

  test("a unix socket that a dead process left behind is taken over; a live one is not", async () => {
    const path = join(await temporary(), "s");
    // Dies with the socket open, and so leaves it behind.
    spawnSync(process.execPath, [
      "-e",
      `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`,
    ]);
    await stat(path);
    const { server } = await start({ listen: [{ path }] });
    expect(server.addresses).toEqual([path]);
    expect(await OracleServer.start({ driver: new MemoryDriver(), listen: [{ path }] })).toMatchObject({
      ok: false,
      error: { code: "EADDRINUSE" },
    });
  });
});

describe("the end of a server", () => {
  test("shutdown answers what was asked, hangs up, and stops listening", async () => {
    const { server, driver } = await start({ failoverAdvanceMs: 0, clock: { nowMs: () => 1_700_000_000_000 } });
    const client = await connect(server.addresses[0]!).connected();
    driver.hold();
    client.socket.write(
      Buffer.concat([
        encodeRequest({ requestId: 1, count: MAX_GRANT_COUNT }),
        encodeRequest({ requestId: 2, count: 1 }),
      ]),
    );
    await until(() => client.replies.length === 1);
    const ending = server.shutdown();
    driver.release();
    expect(await ending).toEqual({ ok: true, value: undefined });
    expect(await server.finished).toEqual({ ok: true, value: undefined });
    await until(() => client.isClosed);
    expect(client.replies).toMatchObject([{ kind: "Granted" }, { kind: "Refused", status: "NotLeader" }]);
    const late = connect(server.addresses[0]!);
    await until(() => late.isClosed);
    expect(late.replies).toEqual([]);
  });

  test("an oracle that fails by itself takes the server with it, and says why", async () => {
    const { server, memory } = await start();
    const client = await connect(server.addresses[0]!).connected();
    await memory.close();
    expect(await server.finished).toEqual({ ok: false, error: { kind: "WatchStreamClosed" } });
    await until(() => client.isClosed);
  });

  test("a client that does not hang up is hung up on", async () => {
    const { server } = await start({ shutdownGraceMs: 1 });
    // Half open on purpose: it reads the end and does not end itself.
    const stubborn = createConnection({
      host: "127.0.0.1",
      port: Number(server.addresses[0]!.split(":")[1]),
      allowHalfOpen: true,
    });
    closing.push(() => stubborn.destroy());
    let isClosed = false;
    stubborn.on("close", () => (isClosed = true)).on("error", () => {});
    await new Promise((resolve) => stubborn.once("connect", resolve));
    stubborn.write(PREFACE);
    expect((await server.shutdown()).ok).toBe(true);
    stubborn.end();
    await until(() => isClosed);
  });
});

test("a free port is really free again", async () => {
  const { server } = await start();
  const port = Number(server.addresses[0]!.split(":")[1]);
  expect((await server.shutdown()).ok).toBe(true);
  const again = createServer();
  await new Promise<void>((resolve, reject) => again.once("error", reject).listen(port, "127.0.0.1", resolve));
  again.close();
});
