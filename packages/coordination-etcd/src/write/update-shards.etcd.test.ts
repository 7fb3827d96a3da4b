// Updates of many workers share a transaction. One that is refused must neither stop the others, nor be made, nor be
// reported as made; and each is judged by the versions of its own shard and its own run.

import { Cursor, LogicalTime, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import { newRunRecord, newShardRecord, type CommitAnswer, type UpdateShardSet } from "@gossip/coordination";
import { assert, unwrap } from "@gossip/stdx";
import { etcdSkipped } from "@gossip/tools/engines";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeStore, startTestEtcd, type TemporaryStore, type TestServer } from "../temporary-store.fixture.ts";

const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(6));
const RUNS = [RunId.fromRaw(1n), RunId.fromRaw(2n)] as const;
const SHARDS = [0, 1, 2];
const now = LogicalTime.fromRaw(5n);
const config = { cursorSemantics: "Completed", leaseDuration: 100n, maxShardRetries: undefined } as const;
const limits = { maxShardsPerTenant: 1000, maxShardsTotal: 1000 };

const skipped = etcdSkipped();
let server: TestServer;
let temporary: TemporaryStore;

beforeAll(async () => {
  if (skipped === undefined) server = await startTestEtcd();
});
afterAll(async () => {
  await server?.dispose();
});
beforeEach(async () => {
  if (skipped !== undefined) return;
  temporary = await makeStore(server);
  for (const run of RUNS) await createRun(run);
});
afterEach(async () => {
  await temporary?.dispose();
});

async function createRun(run: RunId): Promise<void> {
  const created = SHARDS.map((index) =>
    newShardRecord({
      tenant: TENANT,
      key: { run, shard: ShardId.fromRaw(BigInt(index)) },
      spec: ShardSpec.withRange({ start: Uint8Array.of(index), end: Uint8Array.of(index + 1) }),
      cursor: Cursor.initial(),
      cursorSemantics: "Completed",
      parent: undefined,
      now,
    }),
  );
  const rootShards = created.map(({ shard }) => shard);
  const after = { ...newRunRecord({ tenant: TENANT, run, config, now }), status: "Active", rootShards } as const;
  const set = {
    kind: "PutRun",
    tenant: TENANT,
    run,
    guard: undefined,
    after,
    created,
    limits,
    noShardsIn: [],
  } as const;
  expect(kindsOf(await temporary.store.commit([set]))).toEqual(["Committed"]);
}

/** An update of a shard as it is now, guarded by its run too. */
async function update(run: RunId, index: number): Promise<UpdateShardSet> {
  const { run: head, shard } = unwrap(
    await temporary.store.readShard(TENANT, { run, shard: ShardId.fromRaw(BigInt(index)) }),
  );
  assert(head !== undefined && shard !== undefined, "run and shard are there");
  const { record, version } = shard;
  const write = { guard: version, before: record, after: { ...record, attempts: record.attempts + 1 } };
  return { kind: "UpdateShard", tenant: TENANT, run, shard: write, runGuard: head.version, hintAt: undefined };
}

/** Changes a run, so that updates which rest on its version are refused. */
async function changeRun(run: RunId): Promise<void> {
  const read = unwrap(await temporary.store.readRun(TENANT, run));
  assert(read.kind === "Found", "the run is there");
  const after = { ...read.record, lastTime: LogicalTime.fromRaw(6n) };
  const set = { kind: "PutRun", tenant: TENANT, run, guard: read.version, after, created: [], limits, noShardsIn: [] };
  expect(kindsOf(await temporary.store.commit([set as never]))).toEqual(["Committed"]);
}

async function attempts(run: RunId): Promise<(number | undefined)[]> {
  const reads = SHARDS.map((index) =>
    temporary.store.readShard(TENANT, { run, shard: ShardId.fromRaw(BigInt(index)) }),
  );
  return (await Promise.all(reads)).map((read) => unwrap(read).shard?.record.attempts);
}

const kindsOf = (answers: readonly CommitAnswer[]) => answers.map(({ kind }) => kind);

describe.skipIf(skipped !== undefined)("updates in one transaction", () => {
  test.each([0, 1, 2])("an outdated shard refuses its own update alone, at place %i", async (place) => {
    const sets = await Promise.all(SHARDS.map((index) => update(RUNS[0], index)));
    expect(kindsOf(await temporary.store.commit([sets[place]!]))).toEqual(["Committed"]);
    const expected = SHARDS.map((index) => (index === place ? "Conflict" : "Committed"));
    expect(kindsOf(await temporary.store.commit(sets))).toEqual(expected);
    expect(await attempts(RUNS[0])).toEqual([1, 1, 1]);
  });

  test.each([0, 1])("an outdated run refuses its own updates alone, that of number %i", async (changed) => {
    const sets = await Promise.all(RUNS.flatMap((run) => SHARDS.map((index) => update(run, index))));
    await changeRun(RUNS[changed]!);
    const kind = (of: number) => (of === changed ? "Conflict" : "Committed");
    const expected = RUNS.flatMap((_, of) => SHARDS.map(() => kind(of)));
    expect(kindsOf(await temporary.store.commit(sets))).toEqual(expected);
    for (const [of, run] of RUNS.entries())
      expect(await attempts(run)).toEqual(SHARDS.map(() => (of === changed ? 0 : 1)));
  });

  test("a single one is refused if its shard, or its run, is outdated", async () => {
    const [ofShard, ofRun] = [await update(RUNS[0], 0), await update(RUNS[1], 0)];
    expect(kindsOf(await temporary.store.commit([ofShard]))).toEqual(["Committed"]);
    expect(kindsOf(await temporary.store.commit([ofShard]))).toEqual(["Conflict"]);
    await changeRun(RUNS[1]);
    expect(kindsOf(await temporary.store.commit([ofRun]))).toEqual(["Conflict"]);
    expect([await attempts(RUNS[0]), await attempts(RUNS[1])]).toEqual([
      [1, 0, 0],
      [0, 0, 0],
    ]);
  });
});
