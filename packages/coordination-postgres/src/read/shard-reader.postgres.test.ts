// Concurrent reads share a statement. A read that got the result of another would give a worker the wrong shard, and only under
// load.

import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import { Coordinator, systemClock } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeStore, startFastPostgres, type TemporaryStore, type TestServer } from "../temporary-database.fixture.ts";

const TENANTS = [1, 2].map((byte) => TenantId.fromBytes(new Uint8Array(32).fill(byte)));
const RUNS = [1n, 2n, 3n].map((id) => RunId.fromRaw(id));
const SHARDS = Array.from({ length: 30 }, (_, index) => ShardId.fromRaw(BigInt(index)));
const key = (index: number) => Uint8Array.of(index);

let server: TestServer;
let pool: Pool;
let temporary: TemporaryStore;

beforeAll(async () => {
  server = await startFastPostgres();
  pool = new Pool({ connectionString: server.url, max: 4 });
  pool.on("error", () => undefined);
  temporary = await makeStore(pool);
  const coordinator = new Coordinator({ store: temporary.store, clock: systemClock(() => 1) });
  for (const tenant of TENANTS) {
    // The third run is never made, the second is removed, and half of the ids belong to no shard.
    for (const run of RUNS.slice(0, 2)) {
      const shards = SHARDS.slice(0, 15).map((shard) => ({
        shard,
        spec: ShardSpec.withRange({ start: key(Number(shard)), end: key(Number(shard) + 1) }),
        cursor: Cursor.initial(),
      }));
      unwrap(
        await coordinator.createRunWithShards({
          tenant,
          run,
          config: { leaseDuration: 9n },
          shards,
          opId: OpId.fromRaw(1n),
        }),
      );
    }
    unwrap(await coordinator.cancelRun({ tenant, run: RUNS[1]!, opId: OpId.fromRaw(2n) }));
    unwrap(await coordinator.deleteRun({ tenant, run: RUNS[1]! }));
  }
});

afterAll(async () => {
  await temporary?.dispose();
  await pool?.end();
  await server?.dispose();
});

const asked = TENANTS.flatMap((tenant) => RUNS.flatMap((run) => SHARDS.map((shard) => ({ tenant, run, shard }))));

test("each of many reads gets what it would have got alone", async () => {
  const alone = [];
  for (const { tenant, run, shard } of asked)
    alone.push(unwrap(await temporary.store.readShard(tenant, { run, shard })));
  const together = await Promise.all(
    asked.map(async ({ tenant, run, shard }) => unwrap(await temporary.store.readShard(tenant, { run, shard }))),
  );
  expect(together).toEqual(alone);
  expect(alone.filter(({ shard }) => shard !== undefined)).toHaveLength(2 * 15);
  for (const [index, { tenant, run, shard }] of asked.entries()) {
    const record = together[index]!.shard?.record;
    if (record !== undefined) expect(record).toMatchObject({ tenant, run, shard });
  }
});

test("an unreadable record fails only its own read", async () => {
  await pool.query(`UPDATE ${temporary.schema}.shards SET record = '\\x00' WHERE shard = '\\x0000000000000003'`);
  const read = await Promise.all(
    asked.map(({ tenant, run, shard }) => temporary.store.readShard(tenant, { run, shard })),
  );
  const failed = asked.filter((_, index) => !read[index]!.ok);
  expect(failed).toEqual(TENANTS.map((tenant) => ({ tenant, run: RUNS[0], shard: SHARDS[3] })));
});

test("without a connection all reads fail", async () => {
  await pool.query(`ALTER TABLE ${temporary.schema}.runs RENAME TO hidden`);
  const read = await Promise.all(
    asked.map(({ tenant, run, shard }) => temporary.store.readShard(tenant, { run, shard })),
  );
  expect(read.every((answer) => !answer.ok && answer.error.operation === "postgres.readShard")).toBe(true);
  await pool.query(`ALTER TABLE ${temporary.schema}.hidden RENAME TO runs`);
  expect((await temporary.store.readShard(TENANTS[0]!, { run: RUNS[0]!, shard: SHARDS[0]! })).ok).toBe(true);
});
