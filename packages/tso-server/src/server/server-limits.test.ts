// A port meets clients that send nothing, that do not read, and that arrive by the thousand. Without limits each of them
// holds memory and a file descriptor for good, and the server runs out of both.
import { createConnection, type Socket } from "node:net";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { afterEach, describe, expect, test, vi } from "vitest";
import { TimestampClient } from "../client/timestamp-client.ts";
import { MemoryDriver } from "../driver/memory-driver.ts";
import { FaultyDriver } from "../testing/faulty-driver.ts";
import { ManualTime, turnEventLoop } from "../testing/manual-time.ts";
import { until } from "../until.fixture.ts";
import { encodeRequest, GRANTED_FRAME_SIZE, PREFACE, REQUEST_FRAME_SIZE } from "../wire/frame.ts";
import { OracleServer, type ServeOptions } from "./oracle-server.ts";
import { RawClient } from "./raw-client.fixture.ts";
import { DEFAULT_LIMITS, MAX_REQUESTS_PER_TURN, type ServerLimits } from "./server-limits.ts";

// Nothing here waits on a clock; a busy machine may still be slow.
vi.setConfig({ testTimeout: 60_000 });

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Fixture {
  readonly server: OracleServer;
  readonly time: ManualTime;
  readonly connect: () => RawClient;
  readonly count: (name: "refused" | "dropped") => number;
}

async function start(limits: Partial<ServerLimits>, options: Partial<ServeOptions> = {}): Promise<Fixture> {
  const time = new ManualTime(1_700_000_000_000);
  const { clock, monotonicClock, timers } = time;
  const driver = new MemoryDriver();
  const server = unwrap(
    await OracleServer.start({ driver, listen: [{ port: 0 }], clock, monotonicClock, timers, limits, ...options }),
  );
  closing.push(async () => {
    const ending = server.shutdown();
    await time.advance(60_000);
    return ending;
  });
  await until(() => server.oracle.state.kind === "Serving");
  const connect = (): RawClient => {
    const client = new RawClient(server.addresses[0]!);
    closing.push(() => client.socket.destroy());
    return client;
  };
  const count = (name: "refused" | "dropped"): number =>
    server.oracle.metrics.counter(`tsoracle.connection.${name}.total`).value;
  return { server, time, connect, count };
}

function openConnections(server: OracleServer): number {
  return server.oracle.metrics.gauge("tsoracle.connection.open").value;
}

/** Ask once: an answer proves that the server has read everything before it. */
async function ask(client: RawClient): Promise<void> {
  const before = client.replies.length;
  client.socket.write(encodeRequest({ requestId: before, count: 1 }));
  await until(() => client.replies.length > before);
}

describe("a connection that sends nothing", () => {
  test("is dropped if the preface does not come in time, even where it comes byte by byte", async () => {
    const { server, time, connect, count } = await start({ prefaceTimeoutMs: 1000 });
    const [silent, slow, quick] = [connect(), connect(), await connect().connected()];
    slow.socket.write(PREFACE.subarray(0, 1));
    await ask(quick);
    await until(() => openConnections(server) === 3);
    await time.advance(900);
    slow.socket.write(PREFACE.subarray(1, 2));
    await time.advance(600);
    await until(() => silent.isClosed && slow.isClosed);
    expect([count("dropped"), openConnections(server)]).toEqual([2, 1]);
    await ask(quick);
  });

  test("is dropped once it has been idle for too long, and a client then connects again by itself", async () => {
    const { server, time, count } = await start({ idleTimeoutMs: 60_000 });
    const client = unwrap(TimestampClient.create({ endpoints: server.addresses }));
    closing.push(() => client.close());
    const before = unwrap(await client.getTs());
    await time.advance(59_000);
    expect(count("dropped")).toBe(0);
    await time.advance(2000);
    await until(() => openConnections(server) === 0);
    expect(count("dropped")).toBe(1);
    expect(unwrap(await client.getTs())).toBeGreaterThan(before);
  });

  test("is dropped by the HTTP listener too, with or without half a header", async () => {
    const { server } = await start({ prefaceTimeoutMs: 50 }, { http: { port: 0 } });
    const [silent, half] = [openSocket(server.httpAddress!), openSocket(server.httpAddress!)];
    half.write("GET /healthz HTTP/1.1\r\nhos");
    await Promise.all([silent, half].map((socket) => new Promise((resolve) => socket.once("close", resolve))));
    await until(() => openConnections(server) === 0);
  });
});

describe("too many connections", () => {
  test("are refused beyond the total, until one closes", async () => {
    const { server, connect, count } = await start({ maxConnections: 3 });
    const clients = await Promise.all(Array.from({ length: 3 }, async () => connect().connected()));
    for (const client of clients) await ask(client);
    const late = connect();
    await until(() => late.isClosed);
    expect(count("refused")).toBe(1);
    clients[0]!.socket.destroy();
    await until(() => openConnections(server) === 2);
    await ask(await connect().connected());
  });

  test("are refused beyond the share of one address", async () => {
    const { connect, count } = await start({ maxConnectionsPerAddress: 2 });
    for (let client = 0; client < 2; client++) await ask(await connect().connected());
    const third = connect();
    await until(() => third.isClosed);
    expect(count("refused")).toBe(1);
  });

  test("leave the HTTP listener its own, which is limited alike", async () => {
    const { server, connect, count } = await start({ maxConnections: 1 }, { http: { port: 0 } });
    await ask(await connect().connected());
    const holder = openSocket(server.httpAddress!);
    holder.write("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n");
    await new Promise((resolve) => holder.once("data", resolve));
    const late = openSocket(server.httpAddress!);
    await new Promise((resolve) => late.once("close", resolve));
    expect(count("refused")).toBe(1);
  });
});

describe("a client that does not read", () => {
  const PATIENT = { unsentTimeoutMs: 1000, maxUnsentBytesPerConnection: 2 ** 30 };

  test("is dropped when its answers have waited for too long", async () => {
    const { server, time, connect, count } = await start(PATIENT);
    const client = await connect().connected();
    await stopReading(client, () => unsentBytes(server) > 0);
    expect(count("dropped")).toBe(0);
    await time.advance(1500);
    expect([count("dropped"), unsentBytes(server)]).toEqual([1, 0]);
    client.socket.resume();
    await until(() => client.isClosed);
  });

  test("is dropped at once when too many bytes wait for it", async () => {
    const { server, connect, count } = await start({ maxUnsentBytesPerConnection: 4096 });
    await stopReading(await connect().connected(), () => count("dropped") === 1);
    await until(() => openConnections(server) === 0);
  });

  test("is dropped first when too many bytes wait for all clients together", async () => {
    const { server, connect, count } = await start({ maxUnsentBytes: 4096 });
    const [idle, reading] = [await connect().connected(), await connect().connected()];
    await stopReading(idle, () => count("dropped") === 1);
    await until(() => openConnections(server) === 1);
    await ask(reading);
  });

  test("is dropped by the HTTP listener too", async () => {
    const { server } = await start({ unsentTimeoutMs: 50 }, { http: { port: 0 } });
    const socket = openSocket(server.httpAddress!);
    socket.pause();
    await until(() => openConnections(server) === 1);
    const requests = "GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n".repeat(200);
    while (openConnections(server) === 1) {
      if (socket.writableLength < 2 ** 20) socket.write(requests);
      await turnEventLoop();
    }
  });

  test("keeps its connection if it reads in time", async () => {
    const { server, time, connect, count } = await start(PATIENT);
    const client = await connect().connected();
    const asked = await stopReading(client, () => unsentBytes(server) > 0);
    await time.advance(700);
    client.socket.resume();
    await until(() => client.replies.length === asked);
    await time.advance(5000);
    expect([count("dropped"), client.isClosed, unsentBytes(server)]).toEqual([0, false, 0]);
  });
});

describe("a client that sends thousands of requests at once", () => {
  const CHUNK = Buffer.concat(Array.from({ length: 50_000 }, (_, id) => encodeRequest({ requestId: id, count: 1 })));

  test("is answered in portions, and the event loop goes on between them", async () => {
    const { server, connect } = await start({});
    const clients = await Promise.all(Array.from({ length: 3 }, async () => connect().connected()));
    for (const client of clients) client.socket.write(CHUNK);
    let [before, most] = [requests(server), 0];
    while (clients.some((client) => client.replies.length < 50_000)) {
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, requests(server) - before);
      before = requests(server);
    }
    // What was left of the last turn, and a turn.
    expect(most).toBeLessThanOrEqual(2 * MAX_REQUESTS_PER_TURN);
    for (const client of clients)
      expect(client.replies.map(({ requestId }) => requestId)).toEqual(Array.from({ length: 50_000 }, (_, id) => id));
  });

  test("is not answered ahead of what it reads, also within one chunk", async () => {
    const { server, connect, count } = await start({ maxUnsentBytesPerConnection: 2 ** 30 });
    const client = await connect().connected();
    client.socket.pause();
    let [most, asked] = [0, 0];
    for (let turn = 0; turn < 40 || unsentBytes(server) === 0; turn++) {
      if (client.socket.writableLength < CHUNK.length) {
        client.socket.write(CHUNK);
        asked += 50_000;
      }
      await turnEventLoop();
      most = Math.max(most, unsentBytes(server));
    }
    expect(most).toBeLessThanOrEqual(client.socket.writableHighWaterMark + MAX_REQUESTS_PER_TURN * GRANTED_FRAME_SIZE);
    client.socket.resume();
    await until(() => client.replies.length === asked);
    expect(count("dropped")).toBe(0);
  });

  test("has no more of them waiting than it may, also within one chunk", async () => {
    const driver = new FaultyDriver(new MemoryDriver());
    const { server, time, connect } = await start({ maxPendingPerConnection: 10 }, { driver });
    driver.hold("persists");
    time.stepClock(1_000_000);
    const client = await connect().connected();
    client.socket.write(CHUNK.subarray(0, 1000 * REQUEST_FRAME_SIZE));
    const waits = server.oracle.metrics.counter("tsoracle.window.waits.total");
    await until(() => waits.value > 0);
    await turnEventLoop();
    expect([waits.value, client.replies]).toEqual([10, []]);
    driver.release();
    await until(() => client.replies.length === 1000);
  });

  test("is dropped if it does not read and its share of what all have asked for is used up", async () => {
    const limits = { maxUnansweredBytes: 70_000, maxUnsentBytesPerConnection: 2 ** 30 };
    const { server, connect, count } = await start(limits);
    const [modest, ...idle] = await Promise.all(Array.from({ length: 3 }, async () => connect().connected()));
    for (const client of idle) {
      client.socket.pause();
      client.socket.write(CHUNK);
    }
    while (count("dropped") === 0) {
      for (const { socket } of idle) if (socket.writableLength < CHUNK.length) socket.write(CHUNK);
      await turnEventLoop();
      expect(unsentBytes(server)).toBeLessThan(2 ** 20);
    }
    for (let asked = 0; asked < 10; asked++) await ask(modest!);
    expect(modest!.isClosed).toBe(false);
  });

  test("gets all its answers if it closes its side after them", async () => {
    const { connect } = await start({});
    const client = await connect().connected();
    client.socket.end(CHUNK);
    await until(() => client.isClosed);
    expect(client.replies.length).toBe(50_000);
  });
});

describe("limits", () => {
  test.each([{ maxConnections: 0 }, { prefaceTimeoutMs: 1.5 }, { maxUnsentBytes: Number.NaN }])(
    "that make no sense are refused: %j",
    async (limits) => {
      await expect(OracleServer.start({ driver: new MemoryDriver(), limits })).rejects.toThrow(InvariantViolation);
    },
  );

  test("have defaults under which one connection can have a full chunk of requests answered", () => {
    const CHUNK = 65_536 / encodeRequest({ requestId: 0, count: 1 }).length;
    expect(DEFAULT_LIMITS.maxUnsentBytesPerConnection).toBeGreaterThan(CHUNK * GRANTED_FRAME_SIZE);
  });
});

function openSocket(address: string): Socket {
  const [host, port] = address.split(":");
  const socket = createConnection({ host: host!, port: Number(port) });
  socket.on("error", () => {});
  socket.resume();
  closing.push(() => socket.destroy());
  return socket;
}

/** Ask without reading any answer until `isEnough`. Returns how many requests were sent. */
async function stopReading(client: RawClient, isEnough: () => boolean): Promise<number> {
  client.socket.pause();
  const requests = Buffer.concat(Array.from({ length: 2000 }, (_, id) => encodeRequest({ requestId: id, count: 1 })));
  let asked = 0;
  while (!isEnough()) {
    client.socket.write(requests);
    asked += 2000;
    await turnEventLoop();
  }
  return asked;
}

function unsentBytes(server: OracleServer): number {
  return server.oracle.metrics.gauge("tsoracle.connection.unsent_bytes").value;
}

function requests(server: OracleServer): number {
  return server.oracle.metrics.counter("tsoracle.get_ts.requests.total").value;
}
