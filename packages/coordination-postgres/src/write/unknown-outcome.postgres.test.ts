// A connection that breaks between a write and its reply leaves the outcome unknown. A store that reports a failure makes a worker repeat a
// committed write; one that reports success may lose it. So these tests cut connections at exactly those points.

import { Cursor, LogicalTime, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import {
  newRunRecord,
  newShardRecord,
  type CommitAnswer,
  type PutRunSet,
  type UpdateShardSet,
  type WriteSet,
} from "@gossip/coordination";
import { assert, unwrap } from "@gossip/stdx";
import { CuttingProxy } from "@gossip/tools/store-proof";
import { Pool } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openPostgresStore } from "../open/open-postgres-store.ts";
import type { PostgresStore } from "../postgres-store.ts";
import { newSchema, startFastPostgres, type TestServer } from "../temporary-database.fixture.ts";

const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(4));
const RUN = RunId.fromRaw(1n);
const SHARD = ShardId.fromRaw(1n);
const KEY = { run: RUN, shard: SHARD };
const now = LogicalTime.fromRaw(5n);
const config = { cursorSemantics: "Completed", leaseDuration: 100n, maxShardRetries: undefined } as const;
const limits = { maxShardsPerTenant: 10, maxShardsTotal: 10 };

let server: TestServer;
let proxy: CuttingProxy;
let pool: Pool;
let store: PostgresStore;

beforeAll(async () => {
  server = await startFastPostgres();
  proxy = await CuttingProxy.before(server.url);
  pool = new Pool({ connectionString: proxy.url, max: 4 });
  pool.on("error", () => undefined);
});

afterAll(async () => {
  await pool?.end();
  await proxy?.close();
  await server?.dispose();
});

beforeEach(async () => {
  store = unwrap(await openPostgresStore({ pool, schema: newSchema() }));
});

function putRun(): PutRunSet {
  const after = {
    ...newRunRecord({ tenant: TENANT, run: RUN, config, now }),
    status: "Active",
    rootShards: [SHARD],
  } as const;
  const spec = ShardSpec.withRange({ start: Uint8Array.of(1), end: Uint8Array.of(9) });
  const shard = newShardRecord({
    tenant: TENANT,
    key: KEY,
    spec,
    cursor: Cursor.initial(),
    cursorSemantics: "Completed",
    parent: undefined,
    now,
  });
  return {
    kind: "PutRun",
    tenant: TENANT,
    run: RUN,
    guard: undefined,
    after,
    created: [shard],
    limits,
    noShardsIn: [],
  };
}

async function update(): Promise<UpdateShardSet> {
  const { shard } = unwrap(await store.readShard(TENANT, KEY));
  assert(shard !== undefined, "the shard is there");
  const write = {
    guard: shard.version,
    before: shard.record,
    after: { ...shard.record, attempts: shard.record.attempts + 1 },
  };
  return { kind: "UpdateShard", tenant: TENANT, run: RUN, shard: write, runGuard: undefined, hintAt: undefined };
}

const attempts = async () => unwrap(await store.readShard(TENANT, KEY)).shard?.record.attempts;
const commit = async (set: WriteSet): Promise<CommitAnswer> => (await store.commit([set]))[0]!;

/** The result of a write if its message with `text`, or the reply to it, is lost. */
async function commitWhileCut(set: WriteSet, when: "Before" | "After", text: string): Promise<string> {
  const sprung = proxy.cut(when, text);
  const [answer] = await Promise.all([commit(set), sprung]);
  if (answer.kind === "Unknown" || answer.kind === "Failed")
    expect(answer.error).toMatchObject({ kind: "Transient", operation: "postgres.commit" });
  return answer.kind;
}

/** The server may still be executing what it received before the cut. */
async function settled(expected: number): Promise<void> {
  await expect.poll(attempts, { timeout: 60_000 }).toBe(expected);
}

test("an update whose answer is lost is unknown, and was made", async () => {
  await commit(putRun());
  expect(await commitWhileCut(await update(), "After", "gossip_advance_shard")).toBe("Unknown");
  await settled(1);
});

test("an update that never arrives is unknown too: its sender cannot tell", async () => {
  await commit(putRun());
  expect(await commitWhileCut(await update(), "Before", "gossip_advance_shard")).toBe("Unknown");
  await settled(0);
  expect((await commit(await update())).kind).toBe("Committed");
});

const notesOf = async () => {
  const query = {
    tenant: TENANT,
    run: RUN,
    space: "failure",
    start: new Uint8Array(),
    end: undefined,
    limit: 9,
  } as const;
  return unwrap(await store.listNotes(query)).items.map(({ key }) => key[0]);
};

test("the notes of an update whose outcome is unknown were written exactly if the update was", async () => {
  await commit(putRun());
  const note = (key: number) => ({ space: "failure", key: Uint8Array.of(key), value: Uint8Array.of(0x31) }) as const;
  expect(await commitWhileCut({ ...(await update()), notes: [note(1)] }, "After", "COMMIT")).toBe("Unknown");
  await settled(1);
  expect(await notesOf()).toEqual([1]);
  expect(await commitWhileCut({ ...(await update()), notes: [note(2)] }, "After", "gossip_put_notes")).toBe("Unknown");
  expect(await commitWhileCut({ ...(await update()), notes: [note(3)] }, "Before", "COMMIT")).toBe("Unknown");
  await settled(1);
  expect(await notesOf()).toEqual([1]);
  await expect
    .poll(async () => (await commit({ ...(await update()), notes: [note(4)] })).kind, { timeout: 60_000 })
    .toBe("Committed");
  expect(await notesOf()).toEqual([1, 4]);
});

test("a transaction that is cut before its commit has failed, and left nothing", async () => {
  expect(await commitWhileCut(putRun(), "Before", "gossip_insert_shards")).toBe("Failed");
  expect(unwrap(await store.readRun(TENANT, RUN))).toEqual({ kind: "Missing" });
  expect(await commitWhileCut(putRun(), "After", "gossip_add_to_counts")).toBe("Failed");
  await expect.poll(async () => (await commit(putRun())).kind, { timeout: 60_000 }).toBe("Committed");
});

test("a transaction whose commit gets no answer is unknown, and was made", async () => {
  expect(await commitWhileCut(putRun(), "After", "COMMIT")).toBe("Unknown");
  await settled(0);
});

test("a write for which there is no connection has failed", async () => {
  await commit(putRun());
  const set = await update();
  const lost = await CuttingProxy.before(server.url);
  const lostPool = new Pool({ connectionString: lost.url, max: 1 });
  const other = unwrap(await openPostgresStore({ pool: lostPool, schema: newSchema() }));
  lostPool.on("error", () => undefined);
  await lost.close();
  // The first to notice that the connection in the pool is dead.
  expect(await other.readShard(TENANT, KEY)).toMatchObject({
    ok: false,
    error: { kind: "Transient", operation: "postgres.readShard" },
  });
  expect(await other.commit([set])).toMatchObject([{ kind: "Failed", error: { code: "ECONNREFUSED" } }]);
  await lostPool.end();
});

test("a write that waits for another's longer than the server allows has failed, and left nothing", async () => {
  await commit(putRun());
  const impatient = new Pool({ connectionString: server.url, max: 1, options: "-c lock_timeout=50" });
  const holder = new Pool({ connectionString: server.url, max: 1 });
  const client = await holder.connect();
  const schema = newSchema();
  const own = unwrap(await openPostgresStore({ pool: impatient, schema }));
  store = own;
  await commit(putRun());
  const set = await update();
  await client.query(`BEGIN; UPDATE ${schema}.shards SET version = version`);
  const answer = await commit(set);
  await client.query("ROLLBACK");
  client.release();
  expect(answer).toMatchObject({ kind: "Failed", error: { code: "55P03" } });
  expect((await commit(set)).kind).toBe("Committed");
  await Promise.all([impatient.end(), holder.end()]);
});
