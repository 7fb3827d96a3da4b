// A durable checkpoint as `runWorkers` issues it, against the engine's best guarded write for the same number of callers: as many guarded writes of
// as many bytes in one batch, flushed together. Once with the driver's own settings, once with ours. Same disk, interleaved.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, systemClock, type WorkerSession } from "@gossip/coordination";
import { openLmdbStore, type LmdbStore } from "@gossip/coordination-lmdb";
import { assert, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { open, type RootDatabase } from "lmdb";

const MOST_SESSIONS = 64;
/** The default of the worker runtime, which renews with the first checkpoint after a third of it. */
const LEASE_MS = 30_000;
/** Long enough for a form to fill the caches with its own data, as a process does that checkpoints for hours. */
const SAMPLE_MS = 500;
/** The size of a shard's record whose log is full. */
const RECORD_SIZE = 700;
const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);
const KEY_SIZE = 33;

/** The engine by itself: rows of the same size, each with its current version. */
interface Engine {
  readonly db: RootDatabase<Buffer, Buffer>;
  readonly versions: number[];
}

let folder: string;
let store: LmdbStore;
let sessions: readonly WorkerSession[];
let renewedMs: number[];
let defaults: Engine;
let asOurs: Engine;
let step = 0;

async function start(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), "gossip-bench-"));
  store = unwrap(await openLmdbStore({ path: join(folder, "ours") }));
  const coordinator = new Coordinator({ store, clock: systemClock(Date.now) });
  const shards = Array.from({ length: MOST_SESSIONS }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index)),
    spec: ShardSpec.withRange({ start: key(index), end: key(index + 1) }),
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
  sessions = await Promise.all(
    shards.map(async ({ shard }) => unwrap(await coordinator.openSession({ tenant, key: { run, shard }, worker }))),
  );
  renewedMs = sessions.map(() => Date.now());
  defaults = await openEngine("defaults", {});
  asOurs = await openEngine("as-ours", { overlappingSync: false });
}

async function openEngine(name: string, options: { readonly overlappingSync?: boolean }): Promise<Engine> {
  const path = join(folder, name);
  const db = open<Buffer, Buffer>({ path, encoding: "binary", keyEncoding: "binary", useVersions: true, ...options });
  const versions = Array.from({ length: MOST_SESSIONS }, () => 1);
  for (let row = 0; row < MOST_SESSIONS; row++) await db.put(rowKey(row), Buffer.alloc(RECORD_SIZE), 1);
  return { db, versions };
}

async function stop(): Promise<void> {
  await Promise.all([store.close(), defaults.db.close(), asOurs.db.close()]);
  await rm(folder, { recursive: true });
}

/** A key within a shard. Cheap to make, because it is not what is measured. */
function key(index: number, at = 0): Uint8Array {
  const bytes = new Uint8Array(KEY_SIZE);
  bytes[0] = index;
  for (let shift = 0; shift < 4; shift++) bytes[KEY_SIZE - 1 - shift] = at >>> (8 * shift);
  return bytes;
}

function rowKey(row: number): Buffer {
  const bytes = Buffer.alloc(49);
  bytes.writeUInt32BE(row, 45);
  return bytes;
}

/** A checkpoint of each session, as the worker runtime does it. */
async function checkpoint(count: number): Promise<void> {
  const nowMs = Date.now();
  const answers = sessions.slice(0, count).map((session, index) => {
    const renew = nowMs - renewedMs[index]! >= LEASE_MS / 3;
    if (renew) renewedMs[index] = nowMs;
    return session.checkpoint(cursorAt(index), { renew });
  });
  step++;
  for (const answer of await Promise.all(answers)) assert(answer.ok, "the checkpoint is committed");
}

async function checkpointAndRenew(count: number): Promise<void> {
  const answers = sessions
    .slice(0, count)
    .map((session, index) => session.checkpoint(cursorAt(index), { renew: true }));
  step++;
  for (const answer of await Promise.all(answers)) assert(answer.ok, "the checkpoint is committed");
}

function cursorAt(index: number): Cursor {
  return Cursor.withLastKey(key(index, step));
}

async function compareAndSet({ db, versions }: Engine, count: number): Promise<void> {
  const writes: Promise<boolean>[] = [];
  for (let row = 0; row < count; row++) {
    const version = versions[row]!;
    writes.push(db.put(rowKey(row), Buffer.alloc(RECORD_SIZE, step), version + 1, version));
    versions[row] = version + 1;
  }
  for (const isMade of await Promise.all(writes)) assert(isMade, "every guard holds");
  await db.flushed;
}

const BASELINES = { "lmdb, its own settings": () => defaults, "lmdb, our settings": () => asOurs };
const options = (count: number, rounds = 15) => ({
  callsPerRun: count,
  measureHeap: false,
  sampleMs: SAMPLE_MS,
  rounds,
});
const baselines = (count: number) =>
  Object.entries(BASELINES).map(([name, engine]) => [name, () => compareAndSet(engine(), count)] as const);

// The speed of a disk changes by more than the margin of the last bound, so that one takes more rounds.
for (const { count, atLeast, rounds } of [
  { count: 1, atLeast: 0.8 },
  { count: 10 },
  { count: MOST_SESSIONS, atLeast: 0.7, rounds: 45 },
]) {
  const sessionCount = `${count} ${count === 1 ? "session" : "sessions"}`;
  compare(`lmdb: durable checkpoint, ${sessionCount}`, {
    forms: {
      ours: () => checkpoint(count),
      // It also moves the shard in the claim index, which the engine's forms do not have.
      "ours, renewing every time": () => checkpointAndRenew(count),
      ...Object.fromEntries(baselines(count)),
    },
    bounds: atLeast === undefined ? [] : [{ form: "ours", ratioAtMost: 1 / atLeast, toBestOf: Object.keys(BASELINES) }],
    options: options(count, rounds),
    before: start,
    after: stop,
  });
}
