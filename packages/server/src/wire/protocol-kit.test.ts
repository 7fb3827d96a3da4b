// The kit is what authors of other servers and proxies rely on. It must pass on our server, over a real socket, and it must
// notice every way in which a server can quietly be wrong: each fault below is planted in a proxy, and has to fail a case.
import { TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore, systemClock } from "@gossip/coordination";
import { checkService, PROTOCOL_CASES, type ServiceUnderTest } from "@gossip/protocol/testing";
import { unwrap } from "@gossip/stdx";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Principal } from "../auth/principal.ts";
import { GossipServer } from "../server.ts";
import { PlantingProxy, type Plant } from "./planting-proxy.fixture.ts";

const OURS = TenantId.fromBytes(new Uint8Array(32).fill(1));
const THEIRS = TenantId.fromBytes(new Uint8Array(32).fill(2));
const principals: Readonly<Record<string, Principal>> = {
  "Bearer ours": new Principal("ours", "operate", new Set([OURS])),
  "Bearer theirs": new Principal("theirs", "operate", new Set([THEIRS])),
};

let server: GossipServer;
let service: ServiceUnderTest;
let granted = 1n;
const defects: unknown[] = [];

beforeAll(async () => {
  const clock = systemClock(Date.now);
  server = unwrap(
    await GossipServer.start({
      coordinator: new Coordinator({ store: new MemoryStore(), clock, shardCopies: 100 }),
      clock,
      listen: { port: 0 },
      authenticate: ({ headers }) => principals[headers.authorization ?? ""],
      timestamps: async (count) => (granted += BigInt(count)) - BigInt(count),
      onDefect: (thrown) => defects.push(thrown),
    }),
  );
  service = { url: server.url, token: "ours", tenant: OURS, strangerToken: "theirs" };
});
afterAll(() => server.close());

test("our server does everything that the kit asks for", async () => {
  const results = await checkService(service);
  expect(results.filter(({ kind }) => kind !== "Passed")).toEqual([]);
  expect(results).toHaveLength(PROTOCOL_CASES.length);
  expect(defects).toEqual([]);
});

test("without a second token, the cases about tenants are skipped and say so", async () => {
  const { strangerToken: _none, ...alone } = service;
  const results = await checkService(alone, { only: (name) => name.includes("tenant") });
  expect(results.map(({ kind }) => kind)).toEqual(["Skipped"]);
});

const TOGETHER = "checkpoints of many shards are executed once, each with its own result";

/** Faults of a server, and the case that must notice. */
const PLANTS: Readonly<Record<string, readonly [plant: Plant, noticed: string]>> = {
  "ignores unknown fields": [
    { request: ({ body }) => ({ body: body.replace(/,"cuont":2/, "") }) },
    "a malformed request is 400 and names its field",
  ],
  "lets in a token with a character too many": [
    { request: ({ authorization }) => ({ authorization: authorization.replace(/x$/, "") }) },
    "without a valid token everything is 401",
  ],
  "lets responses be cached": [
    { response: ({ headers }) => ({ headers: { ...headers, "cache-control": "max-age=60" } }) },
    "responses are not cached and not shared with other origins",
  ],
  "gives out a timestamp twice": [
    { response: ({ path, body }) => ({ body: path === "/v1/timestamp" ? '{"timestamp":"1","count":1}' : body }) },
    "timestamps grow",
  ],
  "shows that another tenant's run exists": [
    {
      response: ({ authorization, status, path }) =>
        authorization === "Bearer theirs" && status === 404 && path.includes("/progress") ? { status: 403 } : {},
    },
    "another tenant's run looks like one that does not exist",
  ],
  "creates a run again": [
    { response: ({ body }) => ({ body: body.replace(/"outcome":"Replayed"(?=})/, '"outcome":"Executed"') }) },
    "a run is created once",
  ],
  "loses the last page": [
    {
      response: ({ path, body }) => ({ body: path.includes("/shards?") ? body.replace(/,"next":"[^"]*"/, "") : body }),
    },
    "runs and shards are listed in order, a page at a time",
  ],
  "sends 64-bit numbers as numbers": [
    { response: ({ body }) => ({ body: body.replaceAll(/"fence":"(\d+)"/g, '"fence":$1') }) },
    "a claim grants a lease, and repeated the same lease",
  ],
  "forgets a claim": [
    { request: ({ path, body }) => ({ body: path === "/v1/claim" ? freshOpIds(body) : body }) },
    "a claim grants a lease, and repeated the same lease",
  ],
  "answers a waiting claim at once": [
    { request: ({ body }) => ({ body: body.replace(/,"waitMs":\d+/, "") }) },
    "a claim waits for a shard that is released",
  ],
  "takes a checkpoint behind a fence": [
    {
      response: ({ path, body }) => ({
        body: path === "/v1/checkpoint" ? body.replace(/^.*StaleFence.*$/, CHECKPOINT_OK) : body,
      }),
    },
    "a lease that ran out is fenced off",
  ],
  "executes a checkpoint twice": [
    { request: ({ path, body }) => ({ body: path === "/v1/checkpoint" ? freshOpIds(body) : body }) },
    "a checkpoint is executed once, and never goes back",
  ],
  "executes many checkpoints twice": [
    {
      request: ({ path, body }) => ({
        body:
          path === "/v1/checkpoint-many"
            ? body.replace(/"opIds":\["[0-9a-f]{16}"/, () => `"opIds":["${freshId()}"`)
            : body,
      }),
    },
    TOGETHER,
  ],
  "hides that one of many checkpoints was refused": [
    {
      response: ({ path, body }) => ({
        body: path === "/v1/checkpoint-many" ? body.replace(/\{"index":0,"error".*?"status":409\},?/, "") : body,
      }),
    },
    TOGETHER,
  ],
  "returns results in another order": [
    { response: ({ path, body }) => ({ body: path === "/v1/renew" ? reversed(body) : body }) },
    "elements of a batch have results of their own",
  ],
  "cuts keys that are no text": [
    { response: ({ body }) => ({ body: body.replaceAll('"_wAB"', '"_w"') }) },
    "keys that are no text survive",
  ],
  "leaves out signals": [
    { response: ({ body }) => ({ body: body.replaceAll(/,"signals":\[[^\]]*\]/g, "") }) },
    "holders learn of starving workers and of the end of their run",
  ],
  "leaves out the advice": [
    { response: ({ body }) => ({ body: body.replaceAll(/"advice":"[^"]*"/g, '"advice":""') }) },
    "one particular shard is acquired",
  ],
  "records failures of a replay": [
    {
      request: ({ path, body }) => ({
        body: path.startsWith("/v1/checkpoint") ? body.replace('"c","attempts"', '"bb","attempts"') : body,
      }),
    },
    "skipped items are recorded with the checkpoint, once",
  ],
  "starts events over after Last-Event-ID": [
    { request: () => ({ lastEventId: undefined }) },
    "events are streamed, and resumed after Last-Event-ID",
  ],
};

const CHECKPOINT_OK = '{"results":[{"ok":{"outcome":"Executed","capacity":{"available":0,"isStarved":false}}}]}';
let drawn = 0;

function freshId(): string {
  return (++drawn).toString(16).padStart(16, "0");
}

function freshOpIds(body: string): string {
  return body.replaceAll(/"opId":"[0-9a-f]{16}"/g, () => `"opId":"${freshId()}"`);
}

function reversed(body: string): string {
  const { results } = JSON.parse(body) as { readonly results?: unknown[] };
  return results === undefined ? body : JSON.stringify({ results: results.toReversed() });
}

describe("the kit notices a server that", () => {
  test.each(Object.entries(PLANTS))("%s", async (_, [plant, noticed]) => {
    expect(PROTOCOL_CASES.map(({ name }) => name)).toContain(noticed);
    const proxy = await PlantingProxy.start(server.url, plant);
    try {
      const [result] = await checkService({ ...service, url: proxy.url }, { only: (name) => name === noticed });
      expect(result).toMatchObject({ kind: "Failed", problem: expect.stringMatching(/./) as string });
    } finally {
      await proxy.close();
    }
  });

  test("does not answer", async () => {
    const [result] = await checkService(
      { ...service, url: "http://127.0.0.1:9" },
      { only: (name) => name.includes("grow") },
    );
    expect(result?.kind).toBe("Failed");
  });
});
