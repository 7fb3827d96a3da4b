// A node that executes requests for runs of another node undoes what ownership is for, and a client that is not told the
// owner cannot go on.
import { GossipClient } from "@gossip/client";
import { RunId, WorkerId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Principal } from "../auth/principal.ts";
import { TestCluster, tenantOf } from "./cluster-nodes.fixture.ts";

const RUN = "0000000000000001";
const OURS = tenantOf("1");
const THEIRS = tenantOf("2");
const MIXED = tenantOf("3");
let cluster: TestCluster;
let drawn = 0;
const opId = () => (1_000 + drawn++).toString(16).padStart(16, "0");
const claimOf = (tenant: string, run = RUN) => ({ tenant, run, worker: RUN, opId: opId() });

beforeEach(async () => {
  cluster = await new TestCluster().start();
  await cluster.seed(OURS, 1n);
  await cluster.seed(THEIRS, 1n);
  await cluster.seed(MIXED, 1n);
  await cluster.seed(MIXED, 2n);
});
afterEach(() => cluster.close());

const addressOf = (name: string) => new URL(cluster.node(name).server.url).host;

/** Begin to move the scope t/1 from a to b. */
function startMove(): void {
  const { node } = cluster.node("a").ownership;
  node.apply(unwrap(node.start({ id: "m1", prefix: "t/1", from: "a", to: "b", deadlineMs: 9_000 }, 0)));
  cluster.node("a").ownership.changed();
}

describe("a node", () => {
  test("executes what it owns and names the owner of the rest", async () => {
    expect((await cluster.send("a", `/v1/runs/${RUN}?tenant=${OURS}`)).status).toBe(200);
    expect(await cluster.send("a", `/v1/runs/${RUN}?tenant=${THEIRS}`)).toMatchObject({
      status: 421,
      json: {
        error: { kind: "Misdirected", owner: addressOf("b"), message: `MISDIRECTED writer is ${addressOf("b")}` },
      },
    });
  });

  test("answers each element of a batch by its own owner", async () => {
    const elements = [claimOf(OURS), claimOf(THEIRS), claimOf(MIXED), claimOf(MIXED, "0000000000000002")];
    const { status, json } = await cluster.send("a", "/v1/claim", { body: { elements } });
    const misdirected = { status: 421, error: { kind: "Misdirected", owner: addressOf("b") } };
    expect([status, json]).toMatchObject([
      200,
      { results: [{ ok: {} }, misdirected, { ok: { sessions: [{}] } }, misdirected] },
    ]);
  });

  test("routes a request that carries a lease by the lease", async () => {
    const { json } = await cluster.send("b", "/v1/claim", { body: { elements: [claimOf(THEIRS)] } });
    const { results } = json as unknown as { results: [{ ok: { sessions: [{ lease: object }] } }] };
    const [{ ok }] = results;
    const elements = [{ lease: ok.sessions[0].lease }];
    expect((await cluster.send("a", "/v1/renew", { body: { elements } })).json).toMatchObject({
      results: [{ status: 421 }],
    });
    expect((await cluster.send("b", "/v1/renew", { body: { elements } })).json).toMatchObject({
      results: [{ ok: {} }],
    });
  });

  test("refuses a run that no scope covers", async () => {
    expect(await cluster.send("a", `/v1/runs/${RUN}?tenant=${tenantOf("9")}`)).toMatchObject({
      status: 421,
      json: { error: { kind: "Unowned", advice: "Report" } },
    });
  });

  test("refuses the runs of a scope that moves, and says when to ask again", async () => {
    startMove();
    expect(await cluster.send("a", `/v1/runs/${RUN}?tenant=${OURS}`)).toMatchObject({
      status: 503,
      retryAfter: "1",
      json: { error: { kind: "Quiesced", message: `QUIESCED t/1 migrating to ${addressOf("b")}` } },
    });
    expect((await cluster.send("a", `/v1/runs/${RUN}?tenant=${MIXED}`)).status).toBe(200);
  });

  test("answers a claim that waits when its scope begins to move, and does not let it hold up the move", async () => {
    unwrap(
      await cluster.node("a").coordinator.claim({ tenant: OURS, run: RunId.fromRaw(1n), worker: WorkerId.fromRaw(5n) }),
    );
    const waiting = cluster.send("a", "/v1/claim", { body: { elements: [claimOf(OURS)], waitMs: 60_000 } });
    const { node } = cluster.node("a").ownership;
    // The claim is admitted while it looks, and not while it waits.
    while (!(await metrics()).includes("gossip_waiting_claims 1"))
      await new Promise((resolve) => setImmediate(resolve));
    expect(node.inFlight("t/1")).toBe(0);
    startMove();
    expect((await waiting).json).toMatchObject({ results: [{ status: 503, error: { kind: "Quiesced" } }] });
    expect(node.drain("m1", 0).ok).toBe(true);
  });

  test("is ready only while it owns something", async () => {
    const ready = async (name: string) => (await fetch(`${cluster.node(name).server.url}/readyz`)).status;
    expect([await ready("a"), await ready("b")]).toEqual([200, 200]);
    const { node } = cluster.node("b").ownership;
    for (const prefix of ["t/2", `t/${MIXED}/r/0000000000000002`])
      node.apply(unwrap(node.start({ id: prefix.slice(0, 20), prefix, from: "b", to: "a", deadlineMs: 9_000 }, 0)));
    expect([await ready("a"), await ready("b")]).toEqual([200, 503]);
  });

  const metrics = async () => (await fetch(`${cluster.node("a").server.url}/metrics`)).text();
});

describe("a client", () => {
  test("that asks for it has its request forwarded, once", async () => {
    const headers = { "gossip-forward": "1" };
    expect((await cluster.send("a", `/v1/runs/${RUN}?tenant=${THEIRS}`, { headers })).status).toBe(200);
    const elements = [claimOf(OURS), claimOf(THEIRS)];
    const forwarded = await cluster.send("a", "/v1/claim", { headers, body: { elements } });
    expect(forwarded.json).toMatchObject({ results: [{ ok: { sessions: [{}] } }, { ok: { sessions: [{}] } }] });
    // Nodes that each take the other for the owner do not pass a request to and fro.
    cluster.node("b").ownership.follow(new Map([["b", addressOf("a")]]));
    cluster.node("a").ownership.follow(new Map([["b", addressOf("a")]]));
    expect((await cluster.send("a", `/v1/runs/${RUN}?tenant=${THEIRS}`, { headers })).status).toBe(421);
  });

  test("follows owners, and sees the runs of every node", async () => {
    const client = new GossipClient({ url: cluster.node("a").server.url, claimWaitMs: 0 });
    const session = unwrap(
      await client.claim({ tenant: THEIRS, run: RunId.fromRaw(1n), worker: WorkerId.fromRaw(1n) }),
    );
    unwrap(await session.renew());
    expect(unwrap(await client.getRun({ tenant: THEIRS, run: RunId.fromRaw(1n) })).status).toBe("Active");
    const listed = unwrap(await client.listRuns({ tenant: MIXED }));
    expect(listed.items.map(({ run }) => run)).toEqual([1n, 2n]);
    const page = unwrap(await client.listRuns({ tenant: MIXED, limit: 1 }));
    expect(page.items.map(({ run }) => run)).toEqual([1n]);
    expect(unwrap(await client.listRuns({ tenant: MIXED, after: page.next })).items.map(({ run }) => run)).toEqual([
      2n,
    ]);
    expect(unwrap(await client.listTenants()).items).toEqual([OURS, THEIRS, MIXED]);
    client.close();
  });

  test("waits while a run moves", async () => {
    const client = new GossipClient({ url: cluster.node("a").server.url, claimWaitMs: 0 });
    startMove();
    const reading = client.getRun({ tenant: OURS, run: RunId.fromRaw(1n) });
    const { node } = cluster.node("a").ownership;
    await new Promise((resolve) => setImmediate(resolve));
    node.apply(unwrap(node.abort("m1")));
    expect(unwrap(await reading).status).toBe("Active");
    client.close();
  });

  test("asks another node when the first one is gone", async () => {
    const urls = ["a", "b"].map((name) => cluster.node(name).server.url);
    const client = new GossipClient({ url: urls[0]!, otherUrls: [urls[1]!], claimWaitMs: 0 });
    await cluster.node("a").server.close();
    expect(unwrap(await client.getRun({ tenant: THEIRS, run: RunId.fromRaw(1n) })).status).toBe("Active");
    client.close();
  });
});

test("another tenant's run looks the same at every node, and like one that does not exist", async () => {
  const guarded = await new TestCluster(() => new Principal("ours", "admin", new Set([OURS]))).start();
  await guarded.seed(THEIRS, 1n);
  const replies = [];
  for (const node of ["a", "b"])
    for (const run of [RUN, "0000000000000077"])
      replies.push(await guarded.send(node, `/v1/runs/${run}?tenant=${THEIRS}`));
  expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
  expect(replies[0]).toMatchObject({ status: 404 });
  await guarded.close();
});
