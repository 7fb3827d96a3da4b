// What people and probes see. A node that calls itself ready while it does not lead gets traffic it can
// only refuse; a timestamp as a JSON number loses its last digits.
import { createConnection } from "node:net";
import { unwrap } from "@gossip/stdx";
import { Timestamp } from "@gossip/tso";
import { afterEach, describe, expect, test, vi } from "vitest";
import { MemoryDriver } from "../driver/memory-driver.ts";
import { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { FaultyDriver } from "../testing/faulty-driver.ts";
import { until } from "../until.fixture.ts";
import { OracleServer, type ServeOptions } from "./oracle-server.ts";

// Nothing here waits on a clock; a busy machine may still be slow.
vi.setConfig({ testTimeout: 60_000 });

let server: OracleServer;
afterEach(async () => {
  void (await server.shutdown());
});

async function start(options: Partial<ServeOptions> = {}): Promise<{ memory: MemoryDriver; driver: FaultyDriver }> {
  const memory = new MemoryDriver();
  const driver = new FaultyDriver(memory);
  server = unwrap(await OracleServer.start({ driver, listen: [], http: { port: 0 }, ...options }));
  await until(() => server.oracle.state.kind === "Serving");
  return { memory, driver };
}

async function get(
  path: string,
  method = "GET",
): Promise<{ status: number; text: string; json: () => Record<string, unknown> }> {
  const response = await fetch(`http://${server.httpAddress!}${path}`, { method });
  const text = await response.text();
  return { status: response.status, text, json: () => JSON.parse(text) as Record<string, unknown> };
}

describe("/v1/timestamp", () => {
  test("gives timestamps that increase, as text that loses nothing", async () => {
    await start();
    const one = (await get("/v1/timestamp")).json();
    const many = (await get("/v1/timestamp?count=5")).json();
    expect(many["count"]).toBe(5);
    expect(BigInt(many["timestamp"] as string)).toBeGreaterThan(BigInt(one["timestamp"] as string));
    const parsed = unwrap(Timestamp.parse(one["hex"] as string));
    expect([parsed.toString(), Timestamp.physicalMs(parsed), Timestamp.logical(parsed)]).toEqual([
      one["timestamp"],
      one["physicalMs"],
      one["logical"],
    ]);
    expect(one["epoch"]).toBe("1");
  });

  test.each(["0", "-1", "1.5", "262145", "x", "1e9", ""])("refuses a count of %j", async (count) => {
    await start();
    const { status, json } = await get(`/v1/timestamp?count=${count}`);
    expect([status, json()["kind"]]).toEqual([400, "InvalidCount"]);
  });

  test("says who leads where this node does not", async () => {
    const { memory } = await start();
    memory.setLeadership({
      kind: "Follower",
      leaderEndpoint: unwrap(PeerEndpoint.parse("b:2")),
      leaderEpoch: 7n as never,
    });
    await until(() => server.oracle.state.kind === "NotServing");
    const { status, json } = await get("/v1/timestamp");
    expect([status, json()]).toEqual([503, { kind: "NotLeader", leader: "b:2", leaderEpoch: "7" }]);
  });

  test("tells a failure that may pass from one that will not", async () => {
    let nowMs = 1_700_000_000_000;
    const { driver } = await start({ failoverAdvanceMs: 0, clock: { nowMs: () => nowMs } });
    nowMs += 1;
    driver.persistFaults.push(
      { kind: "TransientDriver", reason: "timeout" },
      { kind: "PermanentDriver", reason: "EIO" },
    );
    expect([
      (await get("/v1/timestamp")).status,
      (await get("/v1/timestamp")).status,
      (await get("/readyz")).status,
    ]).toEqual([503, 500, 503]);
  });
});

describe("probes", () => {
  test("alive is not ready: only a node that leads is", async () => {
    const { memory } = await start();
    expect([(await get("/healthz")).status, (await get("/readyz")).status]).toEqual([200, 200]);
    memory.setLeadership({ kind: "Unknown" });
    await until(() => server.oracle.state.kind === "NotServing");
    expect([(await get("/healthz")).status, (await get("/readyz")).status]).toEqual([200, 503]);
  });

  test("metrics are Prometheus text under the published names", async () => {
    await start();
    await get("/v1/timestamp?count=9");
    const { text } = await get("/metrics");
    expect(text).toContain("# TYPE tsoracle_get_ts_timestamps_issued counter\ntsoracle_get_ts_timestamps_issued 9\n");
    expect(text).toContain('tsoracle_leader_transition_fence_latency_bucket{le="+Inf"} 1\n');
    for (const line of text.trim().split("\n"))
      expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]+"\})? [0-9.e+-]+)$/u);
  });

  test.each(["//", "/%", "/v1/timestamp?count=%", "http://:::", "*", "/\\\\"])(
    "survives a request for %s",
    async (path) => {
      await start();
      const [host, port] = server.httpAddress!.split(":");
      const socket = createConnection({ host: host!, port: Number(port) });
      const answered = new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(chunk.toString())));
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(await answered).toMatch(/^HTTP\/1\.1 4\d\d /u);
      expect((await get("/healthz")).status).toBe(200);
    },
  );

  test("anything else is not found, and nothing but reading is allowed", async () => {
    await start();
    expect((await get("/")).status).toBe(404);
    expect((await get("/v1/timestamp", "POST")).status).toBe(405);
    expect((await get("/healthz", "HEAD")).status).toBe(200);
  });
});
