// Operators act on what this page shows. Every case goes over a socket, and is compared with the store.
import { Cursor, OpId, RunId, ShardId, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, MemoryStore, RANGE_EXHAUSTED, type CoordinationStore } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { encodeTotalsToken, HistoryRecorder, KeyAxis, RunSampler } from "@gossip/insight";
import { writeLease } from "@gossip/protocol";
import { unwrap } from "@gossip/stdx";
import { rangeShard } from "@gossip/frontier";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Principal } from "../auth/principal.ts";
import type { Authenticate } from "../http/request-handler.ts";
import { GossipServer } from "../server.ts";
import type { InsightOptions } from "./insight-options.ts";

const OURS = TenantId.fromBytes(new Uint8Array(32).fill(1));
const THEIRS = TenantId.fromBytes(new Uint8Array(32).fill(2));
const RUN = "0000000000000001";
const START = 1_700_000_000_000n;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const PRINCIPALS: Readonly<Record<string, Principal>> = {
  "Bearer reader": new Principal("reader", "read", new Set([OURS])),
  "Bearer operator": new Principal("operator", "operate", new Set([OURS])),
  "Bearer theirs": new Principal("theirs", "operate", new Set([THEIRS])),
  "Bearer admin": new Principal("admin", "admin"),
};

let clock: ManualClock;
let store: CoordinationStore;
let coordinator: Coordinator;
let server: GossipServer;
let defects: unknown[] = [];
const onDefect = (thrown: unknown): void => void defects.push(thrown);
let drawn = 0;
const opId = (): string => (++drawn).toString(16).padStart(16, "0");

async function start(insight: Partial<InsightOptions> = {}): Promise<void> {
  const authenticate: Authenticate = ({ headers }) => PRINCIPALS[headers.authorization ?? ""];
  const options = { coordinator, clock, listen: { port: 0 }, authenticate, onDefect };
  server = unwrap(await GossipServer.start({ ...options, insight: { store, version: "1.2.3", ...insight } }));
}

/** A run of `fs:/data` with shards from `a`, `g`, `n` and `t` on. */
async function seed(tenant: TenantId): Promise<void> {
  const extra = bytes(
    JSON.stringify({ gossip: 1, name: "nightly", source: "fs:/data", exec: "curl -u me:hunter2 {}" }),
  );
  const bounds = ["a", "g", "n", "t", "z"];
  const shards = bounds.slice(1).map((end, index) => ({
    shard: ShardId.fromRaw(BigInt(index + 1)),
    spec: unwrap(rangeShard({ start: bytes(bounds[index]!), end: bytes(end), connectorExtra: extra })),
    cursor: Cursor.initial(),
  }));
  const config = { leaseDuration: 60_000n };
  const run = RunId.fromRaw(1n);
  unwrap(await coordinator.createRunWithShards({ tenant, run, config, shards, opId: OpId.fromRaw(1n) }));
}

const hold = async (shard: number, worker = 7n, tenant = OURS) =>
  unwrap(
    await coordinator.openSession({
      tenant,
      key: { run: RunId.fromRaw(1n), shard: ShardId.fromRaw(BigInt(shard)) },
      worker: WorkerId.fromRaw(worker),
    }),
  );

const cursorAt = (key: string, items: number): Cursor =>
  Cursor.fromParts({
    lastKey: bytes(key),
    token: encodeTotalsToken({ items, failed: 0, unreadable: 0 }, new Uint8Array(0)),
  });

interface Asked {
  readonly as?: string;
  readonly body?: object;
  readonly headers?: Record<string, string>;
}

// oxlint-disable-next-line no-explicit-any -- the shapes are those of the protocol; a test names what it looks at
type Json = any;

async function ask(path: string, { as = "reader", body, headers = {} }: Asked = {}) {
  const response = await fetch(`${server.url}/v1/console/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${as}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json: Json = await response.json();
  return { status: response.status, json };
}

const get = async (path: string, as?: string): Promise<Json> => {
  const { status, json } = await ask(path, as === undefined ? {} : { as });
  expect(json.error).toBeUndefined();
  expect(status).toBe(200);
  return json;
};

/** Ask until the answer is as expected: what is shown may be a look old. */
async function until(path: string, isRight: (json: Json) => boolean): Promise<Json> {
  for (;;) {
    const json = await get(path);
    if (isRight(json)) return json;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

beforeEach(async () => {
  defects = [];
  clock = new ManualClock(START);
  store = new MemoryStore();
  coordinator = new Coordinator({ store, clock });
  for (const tenant of [OURS, THEIRS]) await seed(tenant);
});
afterEach(async () => {
  await server.close();
  expect(defects).toEqual([]);
});

describe("a run", () => {
  beforeEach(() => start({ lookEveryMs: 5 }));

  test("is shown with its figures, its label without credentials, and keys as texts", async () => {
    unwrap(await (await hold(1)).complete(cursorAt("f", 10)));
    unwrap(await (await hold(2)).checkpoint(cursorAt("j", 5)));
    unwrap(await (await hold(4)).park("Poisoned"));
    const { run, attention } = await until(`runs/${RUN}`, (json) => json.run.shards.parked === 1);
    expect(run).toMatchObject({
      name: "nightly",
      source: "fs:/data",
      status: "Active",
      items: 15,
      shards: { done: 1, leased: 1, waiting: 1, parked: 1, split: 0 },
      keyForm: "path",
      from: { text: "a", position: 0 },
      to: { text: "z", position: 1 },
      isCounted: true,
    });
    expect(run.exec).not.toContain("hunter2");
    expect(run.fraction).toBeGreaterThan(0.25);
    expect(attention).toMatchObject([{ kind: "Parked", count: 1, message: "1 shard is parked." }]);
    const { runs } = await get("runs?text=night");
    expect(runs).toMatchObject([{ tenant: OURS, run: RUN, items: 15 }]);
    expect((await get("runs?text=other")).runs).toEqual([]);
    expect((await get("runs?status=Done")).runs).toEqual([]);
  });

  test("says that no one is working on it", async () => {
    const { attention } = await get(`runs/${RUN}`);
    expect(attention).toMatchObject([{ kind: "NobodyWorks", count: 4 }]);
    expect(await get(`runs/${RUN}/workers`)).toEqual({ workers: [], nobodyWorks: true });
    await hold(1);
    const { workers } = await until(`runs/${RUN}/workers`, (json) => !json.nobodyWorks);
    expect(workers).toMatchObject([{ worker: "0000000000000007", shardCount: 1, isRegistered: false }]);
    const working = await get(`runs/${RUN}`);
    expect([working.run.workers, working.attention]).toEqual([1, []]);
  });

  test("a strip shows each shard at its place, or the part of it that was asked for", async () => {
    unwrap(await (await hold(2)).checkpoint(cursorAt("j", 5)));
    const whole = await until(`runs/${RUN}/strip`, (json) => json.shards[1].state === "leased");
    expect(whole.shards.map(({ from, to, state }: Json) => [from, to, state])).toEqual([
      [0, 0.25, "waiting"],
      [0.25, 0.5, "leased"],
      [0.5, 0.75, "waiting"],
      [0.75, 1, "waiting"],
    ]);
    expect(whole.shards[1].cursor).toMatchObject({ text: "j", size: 1 });
    expect(whole.shards[1].cursor.position).toBeCloseTo(0.25 + 3 / 7 / 4);
    const part = await get(`runs/${RUN}/strip?from=0.3&to=0.6`);
    expect(part.shards.map(({ shard }: Json) => shard)).toEqual(["0000000000000002", "0000000000000003"]);
    const { keys } = await get(`runs/${RUN}/keys?positions=0,0.25,0.5`);
    expect(keys.map(({ text }: Json) => text)).toEqual(["a", "g", "n"]);
  });

  test("lists shards by state, and a shard with its log and lineage", async () => {
    const { json } = await ask(`runs/${RUN}/split`, { as: "operator", body: { opId: opId(), key: "p" } });
    expect(json).toMatchObject({ outcome: "Executed", shard: "0000000000000003" });
    const { shards } = await get(`runs/${RUN}/shards?state=split`);
    expect(shards).toMatchObject([{ shard: "0000000000000003", state: "split", children: 2 }]);
    expect((await get(`runs/${RUN}/shards?limit=2`)).next).toBeDefined();
    const { nodes } = await get(`runs/${RUN}/tree?parent=0000000000000003`);
    expect(nodes.map(({ start, end }: Json) => [start.text, end.text])).toEqual([
      ["n", "p"],
      ["p", "t"],
    ]);
    const child = nodes[0].shard;
    const { shard } = await get(`runs/${RUN}/shards/${child}`);
    expect(shard.ancestors).toMatchObject([{ shard: "0000000000000003" }]);
    const parent = await get(`runs/${RUN}/shards/0000000000000003`);
    expect(parent.shard.log[0].kind).toBe("SplitReplace");
    expect(parent.shard.childShards.length).toBe(2);
    expect((await ask(`runs/${RUN}/shards/00000000000000ff`)).json.error.kind).toBe("ShardNotFound");
  });

  test("keeps a history: items, heat by key, and who held what", async () => {
    const session = await hold(2);
    await until(`runs/${RUN}/strip`, (json) => json.shards[1].state === "leased");
    clock.advance(2000n);
    unwrap(await session.checkpoint(cursorAt("j", 30)));
    await until(`runs/${RUN}`, (json) => json.run.items === 30);
    const { items } = await until(`runs/${RUN}/history?step=1000`, (json) => json.items.some(Boolean));
    expect(items.reduce((sum: number, each: number | null) => sum + (each ?? 0), 0)).toBeCloseTo(30);
    const { cells, max } = await get(`runs/${RUN}/heat?keys=4&columns=10`);
    expect(max).toBeGreaterThan(0);
    const rateOf = (key: number): number =>
      cells.reduce(
        (sum: number, cell: number, at: number) => (at % 3 === 2 && cells[at - 1] === key ? sum + cell : sum),
        0,
      );
    // Buckets of a busy step are joined, so a little may be shown next to its place.
    expect(rateOf(1)).toBeGreaterThan(9 * (rateOf(0) + rateOf(2) + rateOf(3)));
    unwrap(await session.complete(RANGE_EXHAUSTED));
    const ended = (json: Json): boolean => json.workers[0]?.spans[0]?.end === "completed";
    const { workers } = await until(`runs/${RUN}/timeline`, ended);
    expect(workers[0].marks).toMatchObject([{ kind: "claim", shard: "0000000000000002" }]);
  });

  test("shows the rate that it sees when the process that wrote the history is killed", async () => {
    const request = { tenant: OURS, run: RunId.fromRaw(1n) };
    const recorder = new HistoryRecorder({ store, run: request, writer: "killed" });
    const axis = new KeyAxis([new Uint8Array(0)], new Uint8Array(0));
    const atMs = Number(START);
    const look = { ...new RunSampler({ axis, leaseMs: 1000 }).end(clock.now()), sinceMs: atMs - 10_000 };
    recorder.add({ ...look, newItems: 5000 }, { fraction: 0.5, perSecond: 500, remainingMs: 60_000 });
    await recorder.flush(atMs);
    expect((await get(`runs/${RUN}`)).run).toMatchObject({ fraction: 0.5, perSecond: 500, remainingMs: 60_000 });
    for (let second = 1; second <= 10; second++) {
      clock.advance(1000n);
      await until(`runs/${RUN}`, (json) => json.run.countedAtMs >= atMs + 1000 * second);
    }
    const { run } = await until(`runs/${RUN}`, (json) => json.run.perSecond !== 500);
    // Ten seconds with 500 items each, and ten without any.
    expect(run.perSecond).toBeGreaterThan(200);
    expect(run.perSecond).toBeLessThan(300);
    expect(run.remainingMs).toBeUndefined();
    const isSeen = ({ items }: Json): boolean => items.length >= 20 && !items.slice(0, 20).includes(null);
    const history = await until(`runs/${RUN}/history?step=1000`, isSeen);
    expect(history.untilMs).toBeGreaterThanOrEqual(atMs + 10_000);
    expect(history.items.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, second) => (second < 10 ? 500 : 0)));
  });

  test("shows a worker that wrote after it lost its shard", async () => {
    const { lease } = await hold(2);
    await until(`runs/${RUN}/strip`, (json) => json.shards[1].state === "leased");
    clock.advance(61_000n);
    await hold(2, 8n);
    await until(`runs/${RUN}/strip`, (json) => json.shards[1].worker === "0000000000000008");
    const element = { lease: writeLease(lease), opId: opId(), cursor: { key: "j" } };
    const response = await fetch(`${server.url}/v1/checkpoint`, {
      method: "POST",
      headers: { authorization: "Bearer operator", "content-type": "application/json" },
      body: JSON.stringify({ elements: [element] }),
    });
    expect(await response.json()).toMatchObject({ results: [{ error: { kind: "StaleFence" } }] });
    const marksOf = (json: Json): string[] =>
      json.workers.flatMap(({ marks }: Json) => marks.map((mark: Json) => mark.kind));
    const timeline = await until(`runs/${RUN}/timeline`, (json) => marksOf(json).includes("rejected"));
    expect(marksOf(timeline)).toEqual(expect.arrayContaining(["claim", "takeover", "rejected"]));
    const [first] = timeline.workers.filter(({ worker }: Json) => worker === "0000000000000007");
    expect(first.spans).toMatchObject([{ shard: "0000000000000002", end: "taken" }]);
    // Neither is registered. One of them holds a shard.
    const live = timeline.workers.map(({ worker, isLive }: Json) => [worker, isLive]);
    expect(Object.fromEntries(live)).toEqual({ "0000000000000007": false, "0000000000000008": true });
  });

  test("lists parked shards with the errors that parked them", async () => {
    const detail = { item: bytes("h"), attempts: 3, error: "h is broken" };
    unwrap(await (await hold(2)).park("Poisoned", { detail }));
    const isListed = (json: Json): boolean => json.shards.length === 1;
    const { shards } = await until(`runs/${RUN}/shards?state=parked`, isListed);
    expect(shards).toMatchObject([{ parkReason: "Poisoned", parkError: "h is broken" }]);
    expect((await get(`runs/${RUN}/shards`)).shards[1].parkError).toBeUndefined();
  });

  test("lists failures with their errors", async () => {
    const failure = { key: bytes("h"), attempts: 3, reason: "ItemFailed", error: "no such file: h" } as const;
    unwrap(await (await hold(2)).checkpoint(cursorAt("j", 5), { failures: [failure] }));
    expect(await get(`runs/${RUN}/failures`)).toMatchObject({
      failures: [{ key: { text: "h" }, error: "no such file: h", attempts: 3 }],
      count: 1,
    });
  });
});

describe("hidden keys", () => {
  test("no key and no error text is sent, in any answer", async () => {
    await start({ lookEveryMs: 5, hideKeys: true });
    const failure = { key: bytes("hush-hush"), attempts: 3, reason: "ItemFailed", error: "hush-hush is bad" } as const;
    unwrap(await (await hold(2)).checkpoint(cursorAt("hush-hush", 5), { failures: [failure] }));
    const other = await hold(3);
    unwrap(await other.park("Poisoned", { detail: { item: bytes("oh-hush"), attempts: 1, error: "hush" } }));
    await until(`runs/${RUN}`, (json) => json.run.shards.parked === 1);
    const paths = ["", "/strip", "/shards", "/tree", "/failures", "/keys?positions=0.3", "/shards/0000000000000003"];
    for (const path of [...paths, "/shards?state=parked"])
      expect(JSON.stringify(await get(`runs/${RUN}${path}`))).not.toContain("hush");
    expect((await get(`runs/${RUN}/failures`)).failures[0].key.text).toBe("(9 bytes)");
    expect((await get("whoami")).hideKeys).toBe(true);
    // The other operations return keys as they are.
    for (const path of ["shards", "failures", "parked", "progress", "shards/0000000000000002", "records"]) {
      const headers = { authorization: "Bearer reader" };
      expect((await fetch(`${server.url}/v1/runs/${RUN}/${path}`, { headers })).status).toBe(403);
    }
  });
});

describe("who may see what", () => {
  beforeEach(() => start({ lookEveryMs: 5, storeName: "a folder" }));

  test("another tenant's run looks like one that does not exist", async () => {
    const paths = ["", "/strip", "/shards", "/tree", "/history", "/heat", "/timeline", "/failures", "/workers"];
    for (const path of [...paths, "/keys?positions=0", "/shards/0000000000000001"]) {
      const joiner = path.includes("?") ? "&" : "?";
      const theirs = await ask(`runs/${RUN}${path}${joiner}tenant=${THEIRS}`);
      const none = await ask(`runs/00000000000000ff${path}${joiner}tenant=${OURS}`);
      expect([theirs.status, theirs.json]).toEqual([none.status, none.json]);
      expect(theirs.status).toBe(404);
    }
    expect((await get(`runs?tenant=${THEIRS}`)).runs).toEqual([]);
    expect((await get("runs")).runs.map(({ tenant }: Json) => tenant)).toEqual([OURS]);
    expect((await get("runs", "admin")).runs.map(({ tenant }: Json) => tenant)).toEqual([OURS, THEIRS]);
    for (const action of ["shards/0000000000000001/park", "split", "retry", "delete"]) {
      const body = {
        opId: opId(),
        tenant: THEIRS,
        ...(action === "split" ? { key: "p" } : {}),
        ...(action === "delete" ? { name: "nightly" } : {}),
      };
      expect((await ask(`runs/${RUN}/${action}`, { as: "operator", body })).status).toBe(404);
    }
    const page = unwrap(
      await store.listShards({
        tenant: THEIRS,
        run: RunId.fromRaw(1n),
        after: undefined,
        limit: 9,
        filter: {},
        now: clock.now(),
      }),
    );
    expect(page.items.map(({ status }) => status)).toEqual(["Active", "Active", "Active", "Active"]);
  });

  test("a reader may not act, and one tenant's token sees neither the store nor its health", async () => {
    expect(await get("whoami")).toMatchObject({
      role: "read",
      canOperate: false,
      tenants: [OURS],
      tenant: OURS,
      version: "1.2.3",
    });
    expect((await get("whoami")).store).toBeUndefined();
    expect(await get("whoami", "admin")).toMatchObject({ canOperate: true, tenants: null, store: "a folder" });
    const refused = await ask(`runs/${RUN}/shards/0000000000000001/park`, { body: { opId: opId() } });
    expect(refused.json.error.kind).toBe("Forbidden");
    expect((await get("health")).fsck.state).toBe("unavailable");
    expect((await ask("health/check", { as: "operator", body: { opId: opId() } })).status).toBe(403);
    expect(await get("scopes")).toEqual({ isClustered: false, scopes: [] });
  });

  test("a page of another site may neither act nor, without tokens, read", async () => {
    const body = { opId: opId() };
    const path = `runs/${RUN}/shards/0000000000000001/park`;
    const ours = { origin: server.url, "gossip-console": "1" };
    for (const headers of [
      { origin: "http://evil.example" },
      { origin: server.url },
      { ...ours, origin: "http://evil.example" },
    ])
      expect((await ask(path, { as: "operator", body, headers })).status).toBe(403);
    expect((await ask(path, { as: "operator", body, headers: ours })).status).toBe(200);
  });
});

describe("actions", () => {
  beforeEach(() => start({ lookEveryMs: 5 }));
  const act = (path: string, body: object): Promise<{ status: number; json: Json }> =>
    ask(`runs/${RUN}/${path}`, { as: "operator", body });

  test("parking can be repeated, and is refused while a worker holds the shard", async () => {
    const body = { opId: opId() };
    expect((await act("shards/0000000000000001/park", body)).json).toEqual({ outcome: "Executed" });
    expect((await act("shards/0000000000000001/park", body)).json).toEqual({ outcome: "Replayed" });
    const { shard } = await get(`runs/${RUN}/shards/0000000000000001`);
    expect(shard).toMatchObject({ state: "parked", parked: { error: "parked by an operator" } });
    await hold(2);
    expect((await act("shards/0000000000000002/park", { opId: opId() })).json.error.kind).toBe("AlreadyLeased");
  });

  test("a split cuts at the key or the position, once, and leaves the shard alone where it cannot", async () => {
    const body = { opId: opId(), position: 0.625 };
    const first = await act("split", body);
    expect(first.json).toMatchObject({ outcome: "Executed", shard: "0000000000000003" });
    expect((await act("split", body)).json).toEqual({ ...first.json, outcome: "Replayed" });
    const { nodes } = await get(`runs/${RUN}/tree?parent=0000000000000003`);
    expect(nodes[0].end.position).toBeCloseTo(0.625, 2);
    for (const wrong of [{ key: "a" }, { key: "zz" }, { key: "hex:0" }, {}, { key: "b", position: 0.1 }])
      expect((await act("split", { opId: opId(), ...wrong })).status).toBe(400);
    // The lease that a refused split took is given back.
    await hold(1);
  });

  test("a retry needs an ended run, and a deletion the run's name", async () => {
    expect((await act("retry", { opId: opId() })).status).toBe(400);
    unwrap(await coordinator.cancelRun({ tenant: OURS, run: RunId.fromRaw(1n), opId: OpId.fromRaw(99n) }));
    expect((await act("retry", { opId: opId() })).json).toEqual({ isStarted: false, command: `gossip retry ${RUN}` });
    expect((await act("delete", { opId: opId(), name: "weekly" })).status).toBe(400);
    const body = { opId: opId(), name: "nightly" };
    expect((await act("delete", body)).json).toEqual({});
    expect((await act("delete", body)).json).toEqual({});
    expect((await act("delete", { ...body, opId: opId() })).status).toBe(404);
  });
});

describe("events", () => {
  beforeEach(() => start({ lookEveryMs: 5 }));

  test("a page that has seen none begins with the newest, with the names of workers", async () => {
    const worker = WorkerId.fromRaw(7n);
    const startedAt = clock.now();
    const info = { name: "ann", host: "here", pid: 1, version: "1", startedAt, shards: [], itemCount: 0 };
    const place = { tenant: OURS, run: RunId.fromRaw(1n) };
    unwrap(await coordinator.registerWorker({ ...place, worker, info, ttl: 600_000n }));
    await until(`runs/${RUN}`, (json) => json.run.isCounted);
    const session = await hold(2);
    // The figures are those of a look. A strip is read from the store.
    await until(`runs/${RUN}`, (json) => json.run.shards.leased === 1);
    clock.advance(10n);
    unwrap(await session.park("Poisoned"));
    await until(`runs/${RUN}`, (json) => json.run.shards.parked === 1);
    const events = await readUntil("ShardParked", "recent");
    expect(events.filter(({ kind }) => kind.startsWith("Shard"))).toMatchObject([
      { kind: "ShardAcquired", worker: "0000000000000007", workerName: "ann" },
      { kind: "ShardParked", worker: "0000000000000007", workerName: "ann", reason: "Poisoned" },
    ]);
  });

  /** Read events until one of a kind came. Returns all of them. */
  async function readUntil(kind: string, after?: string): Promise<Json[]> {
    const response = await fetch(`${server.url}/v1/console/events?run=${RUN}`, {
      headers: { authorization: "Bearer reader", ...(after === undefined ? {} : { "last-event-id": after }) },
    });
    const events: Json[] = [];
    let rest = "";
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      rest += part;
      const frames = rest.split("\n\n");
      rest = frames.pop()!;
      for (const frame of frames) {
        const [, name] = /^event: (.*)$/m.exec(frame) ?? [];
        const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
        if (name !== undefined) events.push({ ...JSON.parse(data!), name });
      }
      if (events.some((event) => event.name === kind)) break;
    }
    return events;
  }

  test("what another process does is seen, and a reader goes on after a restart of the server", async () => {
    const reading = readUntil("ShardParked");
    await until(`runs/${RUN}`, (json) => json.run.isCounted);
    const other = new Coordinator({ store, clock });
    const key = { run: RunId.fromRaw(1n), shard: ShardId.fromRaw(1n) };
    const session = unwrap(await other.openSession({ tenant: OURS, key, worker: WorkerId.fromRaw(9n) }));
    clock.advance(1000n);
    unwrap(await session.park("Poisoned"));
    const events = await reading;
    const parked = events.find(({ name }) => name === "ShardParked");
    expect(parked).toMatchObject({ shard: "0000000000000001", reason: "Poisoned", run: RUN });
    await server.close();
    clock.advance(1000n);
    unwrap(await other.unpark({ tenant: OURS, key, opId: OpId.fromRaw(500n) }));
    await start({ lookEveryMs: 5 });
    const later = await readUntil("ShardUnparked", parked.id);
    expect(later[0].name).toBe("gap");
    expect(later.filter(({ name }) => name === "ShardParked")).toEqual([]);
  });
});
