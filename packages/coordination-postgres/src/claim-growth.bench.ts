// A claim beside 1,000, 100,000 and 1,000,000 shards that it is not about: it must not cost more than twice as much. The shards are
// put there by the server itself, copies of one row, and half of them are finished.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, systemClock } from "@gossip/coordination";
import { openPostgresStore, type PostgresStore } from "@gossip/coordination-postgres";
import { assert, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { Pool } from "pg";

const SIZES = process.argv.includes("--smoke") ? [1_000] : [1_000, 100_000, 1_000_000];
const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);
const worker = WorkerId.fromRaw(1n);

let server: PostgresServer;
const stores = new Map<number, PostgresStore>();
const coordinators = new Map<number, Coordinator>();

async function start(): Promise<void> {
  server = await startPostgres({ settings: { synchronous_commit: "off", fsync: "off" } });
  const pool = new Pool({ connectionString: server.url, max: 1 });
  for (const size of SIZES) {
    const schema = `with_${size}`;
    const store = unwrap(await openPostgresStore({ url: server.url, schema, maxConnections: 2 }));
    const coordinator = new Coordinator({ store, clock: systemClock(Date.now) });
    const shards = Array.from({ length: 64 }, (_, index) => ({
      shard: ShardId.fromRaw(BigInt(index)),
      spec: ShardSpec.withRange({ start: Uint8Array.of(index), end: Uint8Array.of(index + 1) }),
      cursor: Cursor.initial(),
    }));
    unwrap(await coordinator.createRunWithShards({ tenant, run, config: { leaseDuration: 1n << 40n }, shards, opId: OpId.fromRaw(1n) }));
    // In the same run and in the same indexes: half of them finished, half of them held.
    await pool.query(`
      INSERT INTO ${schema}.shards (run_id, shard, version, status, lease_owner, lease_deadline, spread, fence, attempts, key_range_start, record)
      SELECT s.run_id, decode(lpad(to_hex(n + 1000), 16, '0'), 'hex'), 1, CASE n % 2 WHEN 0 THEN 'Done' ELSE 'Active' END,
             '\\x0000000000000002', '\\x00000fffffffffff', (n * 2654435761) % 4294967296, s.fence, 0, decode(lpad(to_hex(n), 16, '0'), 'hex'), s.record
      FROM generate_series(1, ${size}) n, (SELECT * FROM ${schema}.shards LIMIT 1) s`);
    await pool.query(`UPDATE ${schema}.runs SET shard_count = shard_count + ${size}`);
    await pool.query("VACUUM ANALYZE");
    stores.set(size, store);
    coordinators.set(size, coordinator);
  }
  await pool.end();
}

async function stop(): Promise<void> {
  for (const store of stores.values()) await store.close();
  await server.dispose();
}

async function claimAndRelease(size: number): Promise<void> {
  const claimed = await coordinators.get(size)!.claim({ tenant, run, worker });
  assert(claimed.ok, "there is something to claim");
  assert((await claimed.value.release()).ok, "it is given back");
}

const form = (size: number) => `beside ${size.toLocaleString("en")}`;

compare("claim and release", {
  forms: Object.fromEntries(SIZES.map((size) => [form(size), () => claimAndRelease(size)])),
  bounds: SIZES.slice(1).map((size) => ({ form: form(size), ratioAtMost: 2, toBestOf: [form(SIZES[0]!)] })),
  options: { callsPerRun: 1, measureHeap: false, sampleMs: 30, rounds: 31 },
  before: start,
  after: stop,
});
