// A batch returns to each writer what is left to claim at its own time, and counts everything once. That can go wrong for a lease that lapses
// between two of these times, and for a shard that the batch itself moves. A worker with a wrong hint splits or stops for nothing.

import { Cursor, LogicalTime, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, systemClock, type ShardRecord, type UpdateShardSet } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeStore, startFastPostgres, type TemporaryStore, type TestServer } from "../temporary-database.fixture.ts";

const tenant = TenantId.fromBytes(new Uint8Array(32).fill(7));
const RUNS = [1n, 2n].map((id) => RunId.fromRaw(id));
const SHARDS = Array.from({ length: 8 }, (_, index) => ShardId.fromRaw(BigInt(index)));
const FREE = SHARDS.slice(0, 2);
const LEASE = 20;

let server: TestServer;
let pool: Pool;
let temporary: TemporaryStore;

beforeAll(async () => {
  server = await startFastPostgres();
  pool = new Pool({ connectionString: server.url, max: 2 });
  temporary = await makeStore(pool);
  let now = 1;
  const coordinator = new Coordinator({ store: temporary.store, clock: systemClock(() => now) });
  for (const run of RUNS) {
    const shards = SHARDS.map((shard, index) => ({
      shard,
      spec: ShardSpec.withRange({ start: Uint8Array.of(index), end: Uint8Array.of(index + 1) }),
      cursor: Cursor.initial(),
    }));
    unwrap(
      await coordinator.createRunWithShards({
        tenant,
        run,
        config: { leaseDuration: BigInt(LEASE) },
        shards,
        opId: OpId.fromRaw(1n),
      }),
    );
    // Of those that are not free one lapses after the other.
    for (const shard of SHARDS.filter((each) => !FREE.includes(each))) {
      now += 2;
      unwrap(await coordinator.openSession({ tenant, key: { run, shard }, worker: WorkerId.fromRaw(1n) }));
    }
  }
}, 60_000);

afterAll(async () => {
  await temporary?.dispose();
  await pool?.end();
  await server?.dispose();
});

/** What a writer does to a shard: nothing that moves it, or give it up, or hold it until some time. */
const change = fc.oneof(fc.constant("Advance" as const), fc.constant("Release" as const), {
  weight: 3,
  arbitrary: fc.integer({ min: 30, max: 60 }),
});

function changed(record: ShardRecord, how: "Advance" | "Release" | number): ShardRecord {
  // A shard that was never held stays so.
  if (how === "Advance" || FREE.includes(record.shard)) return { ...record };
  return {
    ...record,
    lease:
      how === "Release"
        ? undefined
        : { owner: WorkerId.fromRaw(1n), deadline: LogicalTime.fromRaw(BigInt(how)), opId: OpId.fromRaw(1n) },
  };
}

const write = fc.record({
  run: fc.constantFrom(...RUNS),
  shard: fc.constantFrom(...SHARDS),
  how: change,
  at: fc.option(fc.integer({ min: 15, max: 65 }), { nil: undefined }),
});

test.each([
  ["one run", RUNS.slice(0, 1), true],
  ["one run, where nothing moves", RUNS.slice(0, 1), false],
  ["several runs", RUNS, true],
])(
  "the hints of a batch of %s are the capacity afterwards, at each writer's own time",
  async (_which, runs, moves) => {
    const { store } = temporary;
    const batches = fc.uniqueArray(write, {
      selector: ({ run, shard }) => `${run} ${shard}`,
      minLength: 2,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(batches, async (writes) => {
        const sets: UpdateShardSet[] = [];
        for (const { run, shard, how, at } of writes.filter(({ run }) => runs.includes(run))) {
          const read = unwrap(await store.readShard(tenant, { run, shard })).shard!;
          const after = changed(read.record, moves ? how : "Advance");
          const hintAt = at === undefined ? undefined : LogicalTime.fromRaw(BigInt(at));
          // A shard that does not move keeps its lease.
          sets.push({
            kind: "UpdateShard",
            tenant,
            run,
            shard: { guard: read.version, before: read.record, after },
            runGuard: undefined,
            hintAt,
          });
        }
        const answers = await store.commit(sets);
        for (const [index, { run, hintAt }] of sets.entries()) {
          const hint = hintAt === undefined ? undefined : unwrap(await store.readHint({ tenant, run, now: hintAt }));
          expect(answers[index]).toMatchObject({ kind: "Committed" });
          expect(answers[index]).toHaveProperty("hint", hint);
        }
      }),
      { numRuns: 150 },
    );
  },
  60_000,
);
