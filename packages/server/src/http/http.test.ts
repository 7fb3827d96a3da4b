// What a client sees when something is wrong with its request, its token or its timing. Every case goes over a socket.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { parseCoordError } from "@gossip/coordination-errors";
import { unwrap } from "@gossip/stdx";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Principal } from "../auth/principal.ts";
import type { ServiceLimits } from "../limits/limits.ts";
import { GossipServer } from "../server.ts";
import type { AuditEntry } from "./request-handler.ts";

const OURS = TenantId.fromBytes(new Uint8Array(32).fill(1));
const THEIRS = TenantId.fromBytes(new Uint8Array(32).fill(2));
const RUN = "0000000000000001";
const WORKER = "0000000000000007";
let drawn = 0;
const opId = () => (1_000 + drawn++).toString(16).padStart(16, "0");

let server: GossipServer;
let coordinator: Coordinator;
let clock: ManualClock;
let audit: AuditEntry[];

async function start(limits: Partial<ServiceLimits> = {}): Promise<void> {
  clock = new ManualClock(1_000n);
  coordinator = new Coordinator({ store: new MemoryStore(), clock, shardCopies: 100 });
  audit = [];
  const principals: Readonly<Record<string, Principal>> = {
    "Bearer reader": new Principal("reader", "read", new Set([OURS])),
    "Bearer worker": new Principal("worker", "work", new Set([OURS])),
    "Bearer operator": new Principal("operator", "operate", new Set([OURS])),
    "Bearer theirs": new Principal("theirs", "operate", new Set([THEIRS])),
    "Bearer admin": new Principal("admin", "admin"),
  };
  server = unwrap(
    await GossipServer.start({
      coordinator,
      clock,
      listen: { port: 0 },
      limits,
      authenticate: ({ headers }) => principals[headers.authorization ?? ""],
      audit: (entry) => audit.push(entry),
    }),
  );
  for (const tenant of [OURS, THEIRS]) await seed(tenant);
}

async function seed(tenant: TenantId): Promise<void> {
  const spec = ShardSpec.withRange({ start: Uint8Array.of(0x61), end: Uint8Array.of(0x7a) });
  const shards = [{ shard: ShardId.fromRaw(10n), spec, cursor: Cursor.initial() }];
  const run = RunId.fromRaw(1n);
  const config = { leaseDuration: 60_000n };
  unwrap(await coordinator.createRunWithShards({ tenant, run, config, shards, opId: OpId.fromRaw(1n) }));
}

interface Asked {
  readonly as?: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Record<string, string>;
}

async function ask(path: string, { as = "worker", method, body, text, headers = {} }: Asked = {}) {
  const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(`${server.url}${path}`, {
    method: method ?? (payload === undefined ? "GET" : "POST"),
    headers: {
      ...(as === "" ? {} : { authorization: `Bearer ${as}` }),
      ...(payload === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(payload === undefined ? {} : { body: payload }),
  });
  const got = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text: got,
    json: got.startsWith("{") ? JSON.parse(got) : {},
  };
}

const claim = (more: object = {}, waitMs?: number) => ({
  elements: [{ run: RUN, worker: WORKER, opId: opId(), ...more }],
  ...(waitMs === undefined ? {} : { waitMs }),
});

async function claimed(): Promise<Record<string, unknown>> {
  const { json } = await ask("/v1/claim", { body: claim() });
  return json.results[0].ok.sessions[0].lease;
}

beforeEach(() => start());
afterEach(() => server.close());

describe("requests that are wrong", () => {
  test.each([
    [
      "an unknown field",
      "/v1/claim",
      { body: { elements: [{ run: RUN, worker: WORKER, opId: RUN, cuont: 2 }] } },
      400,
      "elements.0.cuont",
    ],
    ["an unknown parameter", "/v1/runs?limt=3", {}, 400, "limt"],
    ["an id that is none", "/v1/runs/xyz", {}, 400, "run"],
    ["no JSON", "/v1/claim", { text: "{" }, 400, undefined],
    ["another media type", "/v1/claim", { text: "{}", headers: { "content-type": "text/plain" } }, 415, undefined],
    ["an unknown path", "/v1/clame", { body: {} }, 404, undefined],
    ["another method", "/v1/claim", {}, 405, undefined],
    ["a role that is missing", "/v1/runs/0000000000000001/cancel", { body: { opId: RUN } }, 403, undefined],
    ["no token", "/v1/runs", { as: "" }, 401, undefined],
    ["a wrong token", "/v1/runs", { as: "stranger" }, 401, undefined],
  ] as const)("%s", async (_, path, asked, status, field) => {
    const got = await ask(path, asked as Asked);
    expect(got.status).toBe(status);
    expect(got.json.error).toMatchObject({ advice: "FixCaller", ...(field === undefined ? {} : { field }) });
  });

  test("a body above the limit is refused, by its declared size or as it comes", async () => {
    await server.close();
    await start({ maxBodyBytes: 1_000 });
    expect((await ask("/v1/claim", { text: " ".repeat(2_000) })).status).toBe(413);
    const chunked = await fetch(`${server.url}/v1/claim`, {
      method: "POST",
      headers: { authorization: "Bearer worker", "content-type": "application/json" },
      body: new ReadableStream({
        start(controller) {
          for (let part = 0; part < 4; part++) controller.enqueue(new Uint8Array(500).fill(32));
          controller.close();
        },
      }),
      duplex: "half",
    } as RequestInit);
    expect(chunked.status).toBe(413);
  });

  test("a header above the limit closes the connection with 431", async () => {
    expect((await ask("/v1/runs", { headers: { "x-long": "x".repeat(20_000) } })).status).toBe(431);
  });
});

describe("a client that is slow or one of too many", () => {
  test("a request that never ends is cut off", async () => {
    await server.close();
    await start({ headersTimeoutMs: 50, requestTimeoutMs: 50 });
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.write("POST /v1/claim HTTP/1.1\r\nhost: x\r\n");
    const [answer] = await new Promise<string[]>((resolve) => {
      let text = "";
      socket.on("data", (part) => (text += part.toString()));
      socket.on("close", () => resolve([text]));
    });
    expect(answer).toContain("408");
  });

  test("connections of one address are limited", async () => {
    await server.close();
    await start({ maxConnectionsPerAddress: 2 });
    const { port } = new URL(server.url);
    const open = () => connect(Number(port), "127.0.0.1");
    const kept = [open(), open()];
    await Promise.all(kept.map((socket) => new Promise((resolve) => socket.on("connect", resolve))));
    const third = open();
    await new Promise((resolve) => third.on("close", resolve));
    for (const socket of kept) socket.destroy();
  });
});

describe("tenants", () => {
  test("another tenant's run looks like one that does not exist", async () => {
    const missing = "00000000000000ee";
    const shape = ({ status, json }: { status: number; json: unknown }) => ({ status, json });
    for (const path of ["", "/progress", "/capacity", "/shards", "/shards/000000000000000a"]) {
      const theirs = await ask(`/v1/runs/${RUN}${path}?tenant=${THEIRS}`);
      const none = await ask(`/v1/runs/${missing}${path}?tenant=${OURS}`);
      expect(theirs.status).toBe(404);
      expect(shape(theirs)).toEqual(shape(none));
    }
    expect((await ask(`/v1/runs?tenant=${THEIRS}`)).json).toEqual({ runs: [] });
    const canceled = await ask(`/v1/runs/${RUN}/cancel`, { as: "operator", body: { tenant: THEIRS, opId: RUN } });
    expect([canceled.status, canceled.json.error.kind]).toEqual([404, "RunNotFound"]);
  });

  test("a lease of another tenant is not found", async () => {
    const lease = await claimed();
    const renewed = await ask("/v1/renew", { as: "theirs", body: { elements: [{ lease }] } });
    const made = await ask("/v1/renew", {
      as: "theirs",
      body: { elements: [{ lease: { ...lease, tenant: "f".repeat(64) } }] },
    });
    expect(renewed.json.results[0]).toMatchObject({ status: 404, error: { kind: "ShardNotFound" } });
    expect(renewed.json).toEqual(made.json);
  });

  test("a run cannot be created for another tenant, whether that exists or not", async () => {
    const body = (tenant: string) => ({ tenant, run: "00000000000000aa", config: { leaseDuration: "1000" } });
    for (const tenant of [THEIRS, "e".repeat(64)])
      expect((await ask("/v1/runs", { as: "operator", body: body(tenant) })).status).toBe(403);
  });

  test("a token sees its own tenants; an admin sees all and must name one", async () => {
    expect((await ask("/v1/tenants")).json).toEqual({ tenants: [OURS] });
    expect((await ask("/v1/tenants", { as: "admin" })).json.tenants).toEqual([OURS, THEIRS]);
    expect((await ask("/v1/runs", { as: "admin" })).json.error).toMatchObject({ kind: "BadRequest", field: "tenant" });
  });
});

describe("leases over the wire", () => {
  test("claim, checkpoint, complete; a repeated op id replays", async () => {
    const lease = await claimed();
    const element = { lease, opId: opId(), cursor: { key: "b" }, renew: true };
    const first = (await ask("/v1/checkpoint", { body: { elements: [element] } })).json.results[0].ok;
    const again = (await ask("/v1/checkpoint", { body: { elements: [element] } })).json.results[0].ok;
    expect([first.outcome, again.outcome]).toEqual(["Executed", "Replayed"]);
    expect(first.deadline).toBe("61000");
    const other = await ask("/v1/checkpoint", { body: { elements: [{ ...element, cursor: { key: "c" } }] } });
    expect(other.json.results[0]).toMatchObject({ status: 409, error: { kind: "OpIdConflict", advice: "FixCaller" } });
    const done = await ask("/v1/complete", { body: { elements: [{ lease, opId: opId(), isExhausted: true }] } });
    expect(done.json.results[0].ok).toEqual({ outcome: "Executed" });
  });

  test("a claim that is sent again gets the same lease, whether it says so or not", async () => {
    const body = claim();
    const first = (await ask("/v1/claim", { body })).json.results[0].ok.sessions;
    const again = (await ask("/v1/claim", { body })).json.results[0].ok.sessions;
    expect(again[0].lease).toEqual(first[0].lease);
    expect([first[0].isReplay, again[0].isReplay]).toEqual([false, true]);
  });

  test("each element has a result of its own, in the order of the request", async () => {
    const lease = await claimed();
    const stale = { ...lease, fence: "1" };
    const elements = [{ lease: stale }, { lease }, { lease: { ...lease, fence: "18446744073709551616" } }];
    const { status, json } = await ask("/v1/renew", { body: { elements } });
    expect(status).toBe(200);
    expect(json.results.map((result: { status?: number; ok?: object }) => result.status ?? 200)).toEqual([
      409, 200, 400,
    ]);
    expect(unwrap(parseCoordError(json.results[0].error)).kind).toBe("StaleFence");
    expect(json.results[0].error.advice).toBe("Reacquire");
    expect(json.results[2].error.field).toBe("lease.fence");
  });

  test("what to wait for comes with the error", async () => {
    await claimed();
    const { json } = await ask("/v1/claim", { body: claim() });
    expect(json.results[0].error).toMatchObject({ kind: "NoneAvailable", advice: "WaitUntil", retryAfterMs: 60_000 });
  });

  test("a holder learns that others wait, and that the run has ended", async () => {
    const lease = await claimed();
    await ask("/v1/claim", { body: claim({ markStarved: true }) });
    const renew = async () => (await ask("/v1/renew", { body: { elements: [{ lease }] } })).json.results[0].ok;
    expect((await renew()).signals).toEqual(["split-wanted"]);
    await ask(`/v1/runs/${RUN}/cancel`, { as: "operator", body: { opId: opId() } });
    const checkpoint = { lease, opId: opId(), cursor: { key: "b" } };
    const { signals } = (await ask("/v1/checkpoint", { body: { elements: [checkpoint] } })).json.results[0].ok;
    expect(signals).toContain("run-ended");
  });
});

describe("claims that wait", () => {
  test("one is answered as soon as a shard is free", async () => {
    const lease = await claimed();
    const waiting = ask("/v1/claim", { body: claim({}, 20_000) });
    await untilWaiting(1);
    await ask("/v1/release", { body: { elements: [{ lease, opId: opId() }] } });
    expect((await waiting).json.results[0].ok.sessions).toHaveLength(1);
  });

  const waitFor = (count: number) => Array.from({ length: count }, () => ask("/v1/claim", { body: claim({}, 60_000) }));

  test("all are answered when nothing is left", async () => {
    const lease = await claimed();
    const waiting = waitFor(3);
    await untilWaiting(3);
    await ask("/v1/complete", { body: { elements: [{ lease, opId: opId(), isExhausted: true }] } });
    for (const { json } of await Promise.all(waiting))
      expect(json.results[0].error).toMatchObject({ kind: "NoneAvailable", advice: "Stop" });
  });

  test("all are answered when the run ends", async () => {
    await claimed();
    const waiting = waitFor(3);
    await untilWaiting(3);
    await ask(`/v1/runs/${RUN}/cancel`, { as: "operator", body: { opId: opId() } });
    for (const { json } of await Promise.all(waiting)) expect(json.results[0].error.kind).toBe("RunTerminal");
  });

  test("one that cannot get the time is put off, and is no defect", async () => {
    await claimed();
    const time = clock.now();
    let readings = 0;
    // The time for the claim itself can be had, but not the time to wait by.
    clock.now = () => {
      if (readings++ > 0) throw new Error("no time");
      return time;
    };
    const { json } = await ask("/v1/claim", { body: claim({}, 60_000) });
    expect(json.results[0]).toMatchObject({ status: 503, error: { kind: "NoClock", advice: "RetrySameOpId" } });
  });

  test("its time ends, and a client that has gone waits no more", async () => {
    await claimed();
    expect((await ask("/v1/claim", { body: claim({}, 20) })).json.results[0].error.kind).toBe("NoneAvailable");
    const leaving = new AbortController();
    const gone = fetch(`${server.url}/v1/claim`, {
      method: "POST",
      headers: { authorization: "Bearer worker", "content-type": "application/json" },
      body: JSON.stringify(claim({}, 20_000)),
      signal: leaving.signal,
    }).catch(() => "gone");
    await untilWaiting(1);
    leaving.abort();
    expect(await gone).toBe("gone");
    await untilWaiting(0);
  });

  test("a server that stops ends them, and refuses nothing that is in progress", async () => {
    await claimed();
    const waiting = ask("/v1/claim", { body: claim({}, 20_000) });
    await untilWaiting(1);
    const events = fetch(`${server.url}/v1/events`, { headers: { authorization: "Bearer worker" } });
    const stream = (await events).text();
    // Long: a connection that its client keeps, or an endless response, would take all of it.
    await server.drain({ graceMs: 600_000 });
    expect((await waiting).json.results[0].error.kind).toBe("NoneAvailable");
    expect(await stream).toBe("");
  });
});

/** Poll the metrics until so many claims wait. */
async function untilWaiting(count: number): Promise<void> {
  for (;;) {
    const { text } = await ask("/metrics", { as: "" });
    if (text.includes(`gossip_waiting_claims ${count}\n`)) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("probes", () => {
  test("a node is healthy, ready while it has its clock, and shows its metrics", async () => {
    expect((await ask("/healthz", { as: "" })).text).toBe("ok\n");
    await ask("/v1/runs");
    expect((await ask("/readyz", { as: "" })).status).toBe(200);
    clock.now = () => {
      throw new Error("no time");
    };
    expect((await ask("/readyz", { as: "" })).status).toBe(503);
    expect((await ask("/metrics", { as: "" })).text).toMatch(
      /gossip_requests_total\{operation="\w+",status="\d+"\} \d+/,
    );
    expect((await ask("/metrics/x", { as: "" })).status).toBe(404);
  });

  test("calls of operators are audited, with ids and nothing else", async () => {
    await ask(`/v1/runs/${RUN}/cancel`, { as: "operator", body: { opId: opId() } });
    await ask(`/v1/runs/${RUN}`);
    // Also what was refused.
    await ask(`/v1/runs/${RUN}/cancel`, { as: "worker", body: { opId: opId() } });
    const entry = { operation: "cancelRun", tenant: OURS, run: RUN, shard: undefined };
    expect(audit).toEqual([
      { ...entry, token: "operator", status: 200 },
      { ...entry, token: "worker", status: 403 },
    ]);
  });

  test("without authentication it listens on loopback only", async () => {
    const refused = await GossipServer.start({ coordinator, clock, listen: { host: "0.0.0.0", port: 0 } });
    expect(refused).toEqual({ ok: false, error: { kind: "NeedsAuthentication", host: "0.0.0.0" } });
  });

  test("a port that is taken is reported", async () => {
    const { port } = new URL(server.url);
    expect(await GossipServer.start({ coordinator, clock, listen: { port: Number(port) } })).toMatchObject({
      error: { kind: "ListenFailed", code: "EADDRINUSE" },
    });
  });
});
