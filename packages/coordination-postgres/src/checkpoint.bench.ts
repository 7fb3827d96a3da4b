// A durable checkpoint as `runWorkers` issues it, against the best that the engine does for the same number of callers: guarded writes of rows of the
// same size, with everything that is pending in one statement. Every session, and every caller of the baseline, continues as soon as its
// write has returned. Same server, same table settings, interleaved.
//
// `runWorkers` renews with a checkpoint once a third of the lease has elapsed since the last renewal, and so does the first form. The
// form that renews every time is shown beside it, without a bound.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, systemClock, type WorkerSession } from "@gossip/coordination";
import { openPostgresStore, type PostgresStore } from "@gossip/coordination-postgres";
import { assert, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { Pool } from "pg";
import { BatchedRows } from "./batched-rows.fixture.ts";

const MOST_SESSIONS = 64;
/** The default of a run. */
const LEASE_MS = 30_000;
/**
 * A process that checkpoints does so for hours. In a few dozen milliseconds a form mostly pays for what the others before it have left in the
 * caches, and more so the more memory it touches.
 */
const SAMPLE_MS = 500;
/** What a shard's record takes when its log is full, and the key of its cursor beside it. */
const RECORD_SIZE = 680;
const STEPS = 8;
const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);

/** A session, and when its lease was last renewed. */
interface Holder {
  readonly session: WorkerSession;
  renewedMs: number;
}

let server: PostgresServer;
let store: PostgresStore;
let pool: Pool;
let holders: readonly Holder[];
let oneAtATime: BatchedRows;
let twoAtATime: BatchedRows;
let step = 0;

/** A key within a shard with room for 2^32 steps, made as cheaply as can be: it is not what is measured. */
function keyOf(index: number, at: number): Uint8Array {
  const key = new Uint8Array(33);
  key[0] = index;
  for (let shift = 0; shift < 4; shift++) key[32 - shift] = at >>> (8 * shift);
  return key;
}

async function start(): Promise<void> {
  server = await startPostgres();
  await startBaselines();
  store = unwrap(await openPostgresStore({ url: server.url }));
  const coordinator = new Coordinator({ store, clock: systemClock(Date.now) });
  const shards = Array.from({ length: MOST_SESSIONS }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index)),
    spec: ShardSpec.withRange({ start: keyOf(index, 0), end: keyOf(index + 1, 0) }),
    cursor: Cursor.initial(),
  }));
  unwrap(
    await coordinator.createRunWithShards({
      tenant,
      run,
      config: { leaseDuration: BigInt(LEASE_MS) },
      shards,
      opId: OpId.fromRaw(1n),
    }),
  );
  const worker = WorkerId.fromRaw(1n);
  holders = await Promise.all(
    shards.map(async ({ shard }) => ({
      renewedMs: performance.now(),
      session: unwrap(await coordinator.openSession({ tenant, key: { run, shard }, worker })),
    })),
  );
}

async function startBaselines(): Promise<void> {
  pool = new Pool({ connectionString: server.url, max: 4 });
  oneAtATime = await BatchedRows.make(pool, 1, { count: MOST_SESSIONS, recordSize: RECORD_SIZE, inFlight: 1 });
  twoAtATime = await BatchedRows.make(pool, 2, { count: MOST_SESSIONS, recordSize: RECORD_SIZE, inFlight: 2 });
}

async function stop(): Promise<void> {
  await store.close();
  await pool.end();
  await server.dispose();
}

/** Lets callers take some steps, each at its own pace. */
async function each(count: number, take: (caller: number, at: number) => Promise<void>): Promise<void> {
  const first = step + 1;
  step += STEPS;
  const go = async (caller: number): Promise<void> => {
    for (let at = first; at < first + STEPS; at++) await take(caller, at);
  };
  await Promise.all(Array.from({ length: count }, (_, caller) => go(caller)));
}

async function write(caller: number, at: number, isRenewing: boolean): Promise<void> {
  const holder = holders[caller]!;
  const nowMs = performance.now();
  const renew = isRenewing || nowMs - holder.renewedMs >= LEASE_MS / 3;
  const made = await holder.session.checkpoint(Cursor.withLastKey(keyOf(caller, at)), { renew });
  assert(made.ok, "the checkpoint is made");
  if (renew) holder.renewedMs = nowMs;
}

const checkpoint = (caller: number, at: number): Promise<void> => write(caller, at, false);
const renewingCheckpoint = (caller: number, at: number): Promise<void> => write(caller, at, true);

/** Other bytes each time, as a record has: the server does not log what a row has in common with its predecessor. */
function newRecord(at: number): Buffer {
  return Buffer.alloc(RECORD_SIZE, at);
}

compare("postgres: durable checkpoint, 1 session", {
  forms: {
    ours: () => each(1, checkpoint),
    "ours, renewing every time": () => each(1, renewingCheckpoint),
    "one guarded write": () => each(1, (row, at) => oneAtATime.putAlone(row, newRecord(at))),
  },
  bounds: [{ form: "ours", ratioAtMost: 1 / 0.8, toBestOf: ["one guarded write"] }],
  options: { callsPerRun: STEPS, measureHeap: false, sampleMs: SAMPLE_MS, rounds: 15 },
  before: start,
  after: stop,
});

for (const { count, atLeast } of [
  { count: 10, atLeast: undefined },
  { count: 64, atLeast: 0.7 },
]) {
  const baselines = ["one statement at a time", "two statements at a time"];
  compare(`postgres: durable checkpoint, ${count} sessions`, {
    forms: {
      ours: () => each(count, checkpoint),
      "ours, renewing every time": () => each(count, renewingCheckpoint),
      [baselines[0]!]: () => each(count, (row, at) => oneAtATime.put(row, newRecord(at))),
      [baselines[1]!]: () => each(count, (row, at) => twoAtATime.put(row, newRecord(at))),
    },
    bounds: atLeast === undefined ? [] : [{ form: "ours", ratioAtMost: 1 / atLeast, toBestOf: baselines }],
    options: { callsPerRun: count * STEPS, measureHeap: false, sampleMs: SAMPLE_MS, rounds: 15 },
    before: start,
    after: stop,
  });
}
