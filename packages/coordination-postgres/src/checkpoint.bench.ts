// A durable checkpoint through all of this, beside the best that the engine does: the same number of guarded writes in one statement
// for the same number of callers, of a row with the same bytes and nothing else. Same server, same table settings, interleaved.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, systemClock, type WorkerSession } from "@gossip/coordination";
import { openPostgresStore, type PostgresStore } from "@gossip/coordination-postgres";
import { assert, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { Pool } from "pg";

const MOST_SESSIONS = 64;
const RECORD_SIZE = 700;
const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);
const key = (index: number, step = 0) => new TextEncoder().encode(`${String(index).padStart(8, "0")}/${String(step).padStart(24, "0")}`);

const COMPARE_AND_SET = {
  name: "compare_and_set",
  text: `UPDATE best b SET version = b.version + 1, record = substring($3::bytea FROM given.place FOR ${RECORD_SIZE})
         FROM unnest($1::int[], $2::bigint[], $4::int[]) AS given(id, guard, place)
         WHERE b.id = given.id AND b.version = given.guard RETURNING b.id`,
};
const SINGLE_COMPARE_AND_SET = {
  name: "single_compare_and_set",
  text: "UPDATE best SET version = version + 1, record = $3 WHERE id = $1 AND version = $2 RETURNING id",
};

let server: PostgresServer;
let store: PostgresStore;
let pool: Pool;
let sessions: readonly WorkerSession[];
const versions: number[] = [];
let step = 0;

async function start(): Promise<void> {
  server = await startPostgres();
  store = unwrap(await openPostgresStore({ url: server.url }));
  const coordinator = new Coordinator({ store, clock: systemClock(Date.now) });
  const shards = Array.from({ length: MOST_SESSIONS }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index)),
    spec: ShardSpec.withRange({ start: key(index), end: key(index + 1) }),
    cursor: Cursor.initial(),
  }));
  unwrap(await coordinator.createRunWithShards({ tenant, run, config: { leaseDuration: 1n << 40n }, shards, opId: OpId.fromRaw(1n) }));
  const worker = WorkerId.fromRaw(1n);
  sessions = await Promise.all(shards.map(async ({ shard }) => unwrap(await coordinator.openSession({ tenant, key: { run, shard }, worker }))));

  pool = new Pool({ connectionString: server.url, max: 2 });
  await pool.query("CREATE TABLE best (id int PRIMARY KEY, version bigint NOT NULL, record bytea NOT NULL) WITH (fillfactor = 80)");
  await pool.query(`INSERT INTO best SELECT id, 0, $1 FROM generate_series(0, ${MOST_SESSIONS - 1}) id`, [Buffer.alloc(RECORD_SIZE)]);
  versions.length = 0;
  for (let id = 0; id < MOST_SESSIONS; id++) versions.push(0);
}

async function stop(): Promise<void> {
  await store.close();
  await pool.end();
  await server.dispose();
}

async function checkpoint(count: number): Promise<void> {
  step++;
  const made = await Promise.all(sessions.slice(0, count).map((session, index) => session.checkpoint(Cursor.withLastKey(key(index, step)))));
  for (const result of made) assert(result.ok, "the checkpoint is made");
}

async function compareAndSet(count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, id) => id);
  const guards = ids.map((id) => versions[id]!);
  const places = ids.map((id) => id * RECORD_SIZE + 1);
  const bytes = Buffer.alloc(count * RECORD_SIZE, step);
  const { rowCount } = await pool.query({ ...COMPARE_AND_SET, values: [ids, guards, bytes, places] });
  assert(rowCount === count, "every guard holds");
  for (const id of ids) versions[id]! += 1;
}

async function compareAndSetOne(): Promise<void> {
  const { rowCount } = await pool.query({ ...SINGLE_COMPARE_AND_SET, values: [0, versions[0], Buffer.alloc(RECORD_SIZE, step)] });
  assert(rowCount === 1, "the guard holds");
  versions[0]! += 1;
}

compare("durable checkpoint, 1 session", {
  forms: { ours: () => checkpoint(1), "one guarded write": compareAndSetOne },
  bounds: [{ form: "ours", ratioAtMost: 1 / 0.8, toBestOf: ["one guarded write"] }],
  options: { callsPerRun: 1, measureHeap: false, sampleMs: 40, rounds: 31 },
  before: start,
  after: stop,
});

compare("durable checkpoint, 10 sessions", {
  forms: { ours: () => checkpoint(10), "one statement for all": () => compareAndSet(10) },
  options: { callsPerRun: 10, measureHeap: false, sampleMs: 40, rounds: 31 },
  before: start,
  after: stop,
});

compare("durable checkpoint, 64 sessions", {
  forms: { ours: () => checkpoint(64), "one statement for all": () => compareAndSet(64) },
  bounds: [{ form: "ours", ratioAtMost: 1 / 0.7, toBestOf: ["one statement for all"] }],
  options: { callsPerRun: 64, measureHeap: false, sampleMs: 40, rounds: 31 },
  before: start,
  after: stop,
});
