// A claim in a run of 1,000, 100,000 and 1,000,000 shards, a third of them finished, a third held by others and a third free: it must not cost
// more than twice as much. The disk is left out of it, since waiting for it would hide the rest.
import { Cursor, LogicalTime, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import {
  Coordinator,
  newRunRecord,
  newShardRecord,
  systemClock,
  type ShardRecord,
  type StoreVersion,
} from "@gossip/coordination";
import { openPostgresStore, type PostgresStore } from "@gossip/coordination-postgres";
import { assert, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { Pool } from "pg";

const SIZES = process.argv.includes("--smoke") ? [1_000] : [1_000, 100_000, 1_000_000];
const PER_COMMIT = 10_000;
const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);
const now = LogicalTime.fromRaw(1n);
const config = { cursorSemantics: "Completed", leaseDuration: 1n << 40n, maxShardRetries: undefined } as const;
const limits = { maxShardsPerTenant: 1e9, maxShardsTotal: 1e9 };

let server: PostgresServer;
const stores = new Map<number, PostgresStore>();
const coordinators = new Map<number, Coordinator>();

async function start(): Promise<void> {
  server = await startPostgres({
    settings: {
      synchronous_commit: "off",
      fsync: "off",
      full_page_writes: "off",
      autovacuum: "off",
      max_wal_size: "8GB",
      shared_buffers: "512MB",
    },
  });
  for (const size of SIZES) {
    const store = unwrap(await openPostgresStore({ url: server.url, schema: `of_${size}`, maxConnections: 2 }));
    await fill(store, size);
    stores.set(size, store);
    coordinators.set(size, new Coordinator({ store, clock: systemClock(Date.now) }));
  }
  // As a server does by itself where it has the time, and before anything is measured: cleaning up must not be part of a measurement.
  const pool = new Pool({ connectionString: server.url, max: 1 });
  await pool.query("VACUUM ANALYZE");
  await pool.query("CHECKPOINT");
  await pool.end();
}

async function fill(store: PostgresStore, size: number): Promise<void> {
  const after = {
    ...newRunRecord({ tenant, run, config, now }),
    status: "Active",
    rootShards: [ShardId.fromRaw(0n)],
  } as const;
  let guard: StoreVersion | undefined;
  for (let first = 0; first < size; first += PER_COMMIT) {
    const created = Array.from({ length: Math.min(PER_COMMIT, size - first) }, (_, index) => makeShard(first + index));
    const [answer] = await store.commit([
      { kind: "PutRun", tenant, run, guard, after, created, limits, noShardsIn: [] },
    ]);
    assert(answer?.kind === "Committed", "the shards are put there");
    guard = answer.version;
  }
}

function makeShard(index: number): ShardRecord {
  const bound = (at: number) => new TextEncoder().encode(String(at).padStart(10, "0"));
  const spec = ShardSpec.withRange({ start: bound(index), end: bound(index + 1) });
  const key = { run, shard: ShardId.fromRaw(BigInt(index)) };
  const record = newShardRecord({
    tenant,
    key,
    spec,
    cursor: Cursor.initial(),
    cursorSemantics: "Completed",
    parent: undefined,
    now,
  });
  if (index % 3 === 0) return { ...record, status: "Done" };
  if (index % 3 === 1) return record;
  return {
    ...record,
    lease: {
      owner: WorkerId.fromRaw(2n),
      deadline: LogicalTime.fromRaw((1n << 60n) + BigInt(index)),
      opId: OpId.fromRaw(1n),
    },
  };
}

async function stop(): Promise<void> {
  for (const store of stores.values()) await store.close();
  await server.dispose();
}

async function claimAndRelease(size: number, call: number): Promise<void> {
  const claimed = await coordinators.get(size)!.claim({ tenant, run, worker: WorkerId.fromRaw(BigInt(call)) });
  assert(claimed.ok, "there is something to claim");
  assert((await claimed.value.release()).ok, "it is given back");
}

const form = (size: number) => `of ${size.toLocaleString("en")}`;

compare("postgres: claim and release", {
  forms: Object.fromEntries(SIZES.map((size) => [form(size), (call: number) => claimAndRelease(size, call)])),
  bounds: SIZES.slice(1).map((size) => ({ form: form(size), ratioAtMost: 2, toBestOf: [form(SIZES[0]!)] })),
  options: { callsPerRun: 1, measureHeap: false, sampleMs: 30, rounds: 31 },
  before: start,
  after: stop,
});
