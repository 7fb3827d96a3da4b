// A token must not show whether another tenant's run exists: not by the status, not by the body, and not by how much the
// server reads, which is what its time depends on.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore } from "@gossip/coordination";
import { ManualClock, StoreProbe } from "@gossip/coordination/testing";
import { OPERATIONS, type BatchName, type OperationName, type OperationSpec } from "@gossip/protocol";
import { unwrap } from "@gossip/stdx";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GossipServer } from "../server.ts";
import { Principal } from "./principal.ts";

const OURS = TenantId.fromBytes(new Uint8Array(32).fill(1));
const THEIRS = TenantId.fromBytes(new Uint8Array(32).fill(2));
const SHARD = "000000000000000a";
const WORKER = "0000000000000007";
const EXISTING = "0000000000000001";
const MISSING = "00000000000000ee";

let server: GossipServer;
let probe: StoreProbe;
let fence: string;

beforeAll(async () => {
  const clock = new ManualClock(1_000n);
  probe = new StoreProbe(new MemoryStore());
  const coordinator = new Coordinator({ store: probe, clock, shardCopies: 100 });
  const spec = ShardSpec.withRange({ start: Uint8Array.of(0x61), end: Uint8Array.of(0x7a) });
  const shards = [{ shard: ShardId.fromRaw(10n), spec, cursor: Cursor.initial() }];
  const run = RunId.fromRaw(1n);
  const config = { leaseDuration: 60_000n };
  const theirs = { tenant: THEIRS, run };
  unwrap(await coordinator.createRunWithShards({ ...theirs, config, shards, opId: OpId.fromRaw(1n) }));
  const session = unwrap(await coordinator.claim({ ...theirs, worker: 7n as never }));
  fence = session.lease.fence.toString();
  server = unwrap(
    await GossipServer.start({
      coordinator,
      clock,
      listen: { port: 0 },
      authenticate: () => new Principal("ours", "operate", new Set([OURS])),
    }),
  );
});
afterAll(() => server.close());

interface Seen {
  readonly status: number;
  readonly body: string;
  readonly reads: number;
  readonly commits: number;
}

async function ask(method: string, path: string, body?: object): Promise<Seen> {
  probe.reset();
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // An error repeats the id that the caller sent.
  const text = (await response.text()).replaceAll(EXISTING, "RUN").replaceAll(MISSING, "RUN");
  return { status: response.status, body: text, reads: probe.reads, commits: probe.commits.length };
}

const info = { name: "w", host: "h", pid: 1, version: "1", startedAt: "1", shards: [], itemCount: 0, ttlMs: "1000" };
const BODIES: Readonly<Partial<Record<OperationName, object>>> = {
  registerShards: { opId: WORKER, shards: [] },
  completeRun: { opId: WORKER },
  failRun: { opId: WORKER },
  cancelRun: { opId: WORKER },
  unpark: { opId: WORKER },
  resolveFailures: { keys: [{ key: "b" }] },
  registerWorker: info,
  putRollup: { value64: "e30" },
  changeRunSettings: { paused: true },
  renewBudget: { held: 0, returned: 0, wanted: 1, slots: 0, slotsWanted: 1, ttlMs: "1000" },
  returnBudget: { returned: 0 },
  holdRun: { ms: 1 },
};
const leaseOf = (run: string) => ({ tenant: THEIRS, run, shard: SHARD, worker: WORKER, fence, deadline: "61000" });
const logged = (run: string) => ({ lease: leaseOf(run), opId: WORKER });
const ELEMENTS: { readonly [Name in BatchName]: (run: string) => object } = {
  claim: (run) => ({ tenant: THEIRS, run, worker: WORKER, opId: WORKER }),
  acquire: (run) => ({ tenant: THEIRS, run, shard: SHARD, worker: WORKER, opId: WORKER }),
  renew: (run) => ({ lease: leaseOf(run) }),
  checkpoint: (run) => ({ ...logged(run), cursor: { key: "b" } }),
  complete: (run) => ({ ...logged(run), isExhausted: true }),
  park: (run) => ({ ...logged(run), reason: "Other" }),
  release: logged,
  splitReplace: (run) => ({
    ...logged(run),
    children: [{ range: { start: "a", end: "m" } }, { range: { start: "m", end: "z" } }],
  }),
  splitResidual: (run) => ({ ...logged(run), range: { start: "a", end: "m" }, residual: { start: "m", end: "z" } }),
};

/** Every call of the table that names a run in its path. Those of the console are tried in console.test.ts. */
const NAMING_A_RUN = (Object.entries(OPERATIONS) as [OperationName, OperationSpec][]).filter(
  ([, { shape, path }]) => shape === "call" && path.includes("{run}") && !path.startsWith("/v1/console/"),
);

test.each(NAMING_A_RUN)("%s", async (name, spec) => {
  const answers: Seen[] = [];
  for (const run of [EXISTING, MISSING]) {
    const params: Record<string, string> = { run, shard: SHARD, worker: WORKER, name: "estimate" };
    const path = spec.path.replaceAll(/\{(\w+)\}/g, (_, param: string) => params[param]!);
    const needsBody = spec.shape === "call" && spec.body !== undefined;
    expect([name, needsBody && BODIES[name] === undefined]).toEqual([name, false]);
    answers.push(
      needsBody
        ? await ask(spec.method, path, { tenant: THEIRS, ...BODIES[name] })
        : await ask(spec.method, `${path}?tenant=${THEIRS}`),
    );
  }
  expect(answers[0]).toEqual(answers[1]);
  expect(answers[0]!.status).toBe(name === "lookUpRun" ? 200 : 404);
});

test.each(Object.entries(ELEMENTS))("%s", async (name, element) => {
  const { path } = OPERATIONS[name as BatchName];
  const existing = await ask("POST", path, { elements: [element(EXISTING)] });
  const missing = await ask("POST", path, { elements: [element(MISSING)] });
  expect(existing).toEqual(missing);
  expect(existing.status).toBe(200);
  expect(existing.body).toMatch(/"status":404/);
});

test("checkpointMany", async () => {
  const { path } = OPERATIONS.checkpointMany;
  const columns = { shards: [SHARD], fences: [fence], opIds: [WORKER], cursors: ["b"] };
  const askFor = (run: string) => ask("POST", path, { tenant: THEIRS, run, worker: WORKER, ...columns });
  const existing = await askFor(EXISTING);
  expect(existing).toEqual(await askFor(MISSING));
  expect(existing.status).toBe(200);
  expect(existing.body).toMatch(/"status":404/);
});

test("nothing of the other tenant was changed", async () => {
  const coordinator = new Coordinator({ store: probe, clock: new ManualClock(2_000n) });
  const record = unwrap(await coordinator.getRun({ tenant: THEIRS, run: RunId.fromRaw(1n) }));
  expect(record.status).toBe("Active");
});
