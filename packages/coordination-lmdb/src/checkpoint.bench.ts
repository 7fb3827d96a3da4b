// A durable checkpoint as `runWorkers` issues it, against the engine's best guarded write for the same number of callers:
// as many guarded writes of as many bytes in one batch, flushed together. Once with the driver's own settings, once with
// ours. Same disk, interleaved.
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
const SAMPLE_MS = 500;
/**
 * After another form ran, a checkpoint of ours takes about a tenth longer at first, and less so for a second. One of the
 * engine does not. A process that checkpoints for hours does not notice.
 */
const SETTLE_MS = 1000;
/** The size of the record of one of these shards whose log is full. */
const RECORD_SIZE = 645;
const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);
const KEY_SIZE = 33;

/** The engine by itself: rows of the same size, each with its current version. */
interface Engine {
  readonly db: RootDatabase<Buffer, Buffer>;
  readonly versions: number[];
}

/** Settings of the driver that differ from its own. */
interface EngineOptions {
  readonly overlappingSync?: boolean;
  readonly pageSize?: number;
}

/** A store of ours with a session for each shard. */
interface Ours {
  readonly store: LmdbStore;
  readonly sessions: readonly WorkerSession[];
  /** When the lease of each session was last renewed. */
  readonly renewedMs: number[];
}

let folder: string;
let ours: Ours;
/** A store of its own: moving entries of the claim index all the time scatters the pages of the tree. */
let renewing: Ours;
let defaults: Engine;
let asOurs: Engine;
let step = 0;

async function start(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), "gossip-bench-"));
  ours = await openOurs("ours");
  renewing = await openOurs("renewing");
  defaults = await openEngine("defaults", {});
  asOurs = await openEngine("as-ours", { overlappingSync: false, pageSize: 8192 });
}

async function openOurs(name: string): Promise<Ours> {
  const store = unwrap(await openLmdbStore({ path: join(folder, name) }));
  const coordinator = new Coordinator({ store, clock: systemClock(Date.now) });
  const shards = Array.from({ length: MOST_SESSIONS }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index)),
    spec: ShardSpec.withRange({ start: key(index), end: key(index + 1) }),
    cursor: Cursor.initial(),
  }));
  const config = { leaseDuration: BigInt(LEASE_MS) };
  unwrap(await coordinator.createRunWithShards({ tenant, run, config, shards, opId: OpId.fromRaw(1n) }));
  const worker = WorkerId.fromRaw(1n);
  const sessions = await Promise.all(
    shards.map(async ({ shard }) => unwrap(await coordinator.openSession({ tenant, key: { run, shard }, worker }))),
  );
  return { store, sessions, renewedMs: sessions.map(() => Date.now()) };
}

async function openEngine(name: string, options: EngineOptions): Promise<Engine> {
  const path = join(folder, name);
  const db = open<Buffer, Buffer>({ path, encoding: "binary", keyEncoding: "binary", useVersions: true, ...options });
  const versions = Array.from({ length: MOST_SESSIONS }, () => 1);
  for (let row = 0; row < MOST_SESSIONS; row++) await db.put(rowKey(row), Buffer.alloc(RECORD_SIZE), 1);
  return { db, versions };
}

async function stop(): Promise<void> {
  await Promise.all([ours.store.close(), renewing.store.close(), defaults.db.close(), asOurs.db.close()]);
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

/** A checkpoint of each session, renewing as often as the worker runtime does, or every time. */
async function checkpoint({ sessions, renewedMs }: Ours, count: number, renewAfterMs = LEASE_MS / 3): Promise<void> {
  const nowMs = Date.now();
  const answers = sessions.slice(0, count).map((session, index) => {
    const renew = nowMs - renewedMs[index]! >= renewAfterMs;
    if (renew) renewedMs[index] = nowMs;
    return session.checkpoint(cursorAt(index), { renew });
  });
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
  settleMs: SETTLE_MS,
  rounds,
});
const baselines = (count: number) =>
  Object.entries(BASELINES).map(([name, engine]) => [name, () => compareAndSet(engine(), count)] as const);

// The speed of a disk changes by more than the margin of the last bound, so that one takes more rounds.
for (const { count, atLeast, rounds } of [
  { count: 1, atLeast: 0.8 },
  { count: 10 },
  { count: MOST_SESSIONS, atLeast: 0.7, rounds: 31 },
]) {
  const sessionCount = `${count} ${count === 1 ? "session" : "sessions"}`;
  compare(`lmdb: durable checkpoint, ${sessionCount}`, {
    forms: {
      ours: () => checkpoint(ours, count),
      // Also moves the entry of the shard in the claim index, which the forms of the engine do not have.
      "ours, renewing every time": () => checkpoint(renewing, count, 0),
      ...Object.fromEntries(baselines(count)),
    },
    bounds: atLeast === undefined ? [] : [{ form: "ours", ratioAtMost: 1 / atLeast, toBestOf: Object.keys(BASELINES) }],
    options: options(count, rounds),
    before: start,
    after: stop,
  });
}
