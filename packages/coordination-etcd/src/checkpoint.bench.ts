// A durable checkpoint as `runWorkers` issues it, compared with the best that the engine does for the same number of callers:
// guarded writes of values of the same size, one transaction each, or all that are pending in one transaction. Like the
// runtime, a session renews its lease only once a third of it has elapsed; the form that renews every time is shown for
// comparison. Every caller goes on as soon as its write is answered. Same server, same client, interleaved.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, systemClock, type WorkerSession } from "@gossip/coordination";
import { openEtcdStore, type EtcdStore } from "@gossip/coordination-etcd";
import { EtcdClient } from "@gossip/etcd-client";
import { assert, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { etcdMissing, startEtcd, type EtcdServer } from "@gossip/tools/engines";
import { GuardedKeys } from "./guarded-keys.fixture.ts";

const MOST_SESSIONS = 64;
/** Long enough that what the other forms left in the caches does not count, as for the other stores. */
const SAMPLE_MS = 500;
/** What a shard's record takes when its log is full. */
const RECORD_SIZE = 640;
const RECORD_KEY_SIZE = 48;
const STEPS = 4;
const LEASE_MS = 30_000;
const WARM_CALLS = 3000;
const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);

let server: EtcdServer;
let store: EtcdStore;
let client: EtcdClient;
let sessions: readonly WorkerSession[];
let alone: GuardedKeys;
let oneAtATime: GuardedKeys;
let twoAtATime: GuardedKeys;
let step = 0;
/** When each session last renewed its lease. */
let renewedMs: number[] = [];

/** Room for 2^32 steps behind each shard's own part. */
function keyOf(index: number, at: number): Uint8Array {
  const key = new Uint8Array(33).fill(0x61);
  const view = new DataView(key.buffer);
  view.setUint32(0, index);
  view.setUint32(29, at);
  return key;
}

/** A server, so many sessions on it, and everything gone through often enough to be compiled: a process that checkpoints does so for hours. */
async function start(count: number): Promise<void> {
  server = await startEtcd(["--auto-compaction-mode=revision", "--auto-compaction-retention=10000"]);
  store = unwrap(await openEtcdStore({ endpoints: [server.endpoint] }));
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
  sessions = await Promise.all(
    shards
      .slice(0, count)
      .map(async ({ shard }) => unwrap(await coordinator.openSession({ tenant, key: { run, shard }, worker }))),
  );
  renewedMs = sessions.map(() => performance.now());

  client = new EtcdClient({ endpoints: [server.endpoint] });
  // Keys as long as those of records.
  alone = new GuardedKeys(client, "alone/".padEnd(RECORD_KEY_SIZE, "k"), { inFlight: 1 });
  oneAtATime = new GuardedKeys(client, "one/".padEnd(RECORD_KEY_SIZE, "k"), { inFlight: 1 });
  twoAtATime = new GuardedKeys(client, "two/".padEnd(RECORD_KEY_SIZE, "k"), { inFlight: 2 });
  if (process.argv.includes("--smoke")) return;
  for (let round = 0; round < Math.ceil(WARM_CALLS / (count * STEPS)); round++) {
    await each(count, checkpoint);
    await each(count, renewingCheckpoint);
    await each(count, (key, at) => twoAtATime.put(key, newValue(at)));
    if (count === 1) await each(count, (key, at) => alone.putAlone(key, newValue(at)));
  }
}

async function stop(): Promise<void> {
  await store.close();
  client.close();
  await server.dispose();
}

/** Let callers go through some steps, each at its own pace. */
async function each(count: number, take: (caller: number, at: number) => Promise<void>): Promise<void> {
  const first = step + 1;
  step += STEPS;
  const go = async (caller: number): Promise<void> => {
    for (let at = first; at < first + STEPS; at++) await take(caller, at);
  };
  await Promise.all(Array.from({ length: count }, (_, caller) => go(caller)));
}

/** As the runtime does: renew once a third of the lease has elapsed. */
function checkpoint(caller: number, at: number): Promise<void> {
  return write(caller, at, performance.now() - renewedMs[caller]! >= LEASE_MS / 3);
}

function renewingCheckpoint(caller: number, at: number): Promise<void> {
  return write(caller, at, true);
}

async function write(caller: number, at: number, renew: boolean): Promise<void> {
  if (renew) renewedMs[caller] = performance.now();
  const made = await sessions[caller]!.checkpoint(Cursor.withLastKey(keyOf(caller, at)), { renew });
  assert(made.ok, "the checkpoint is made");
}

const newValue = (at: number): Uint8Array => new Uint8Array(RECORD_SIZE).fill(at);

function compareAll(): void {
  compare("etcd: durable checkpoint, 1 session", {
    forms: {
      ours: () => each(1, checkpoint),
      "ours, renewing every time": () => each(1, renewingCheckpoint),
      "one guarded write": () => each(1, (key, at) => alone.putAlone(key, newValue(at))),
    },
    bounds: [{ form: "ours", ratioAtMost: 1 / 0.8, toBestOf: ["one guarded write"] }],
    options: { callsPerRun: STEPS, measureHeap: false, sampleMs: SAMPLE_MS, rounds: 15 },
    before: () => start(1),
    after: stop,
  });

  for (const { count, atLeast } of [
    { count: 10, atLeast: undefined },
    { count: 64, atLeast: 0.7 },
  ]) {
    const baselines = ["a transaction each", "one transaction at a time", "two transactions at a time"];
    compare(`etcd: durable checkpoint, ${count} sessions`, {
      forms: {
        ours: () => each(count, checkpoint),
        "ours, renewing every time": () => each(count, renewingCheckpoint),
        [baselines[0]!]: () => each(count, (key, at) => alone.putAlone(key, newValue(at))),
        [baselines[1]!]: () => each(count, (key, at) => oneAtATime.put(key, newValue(at))),
        [baselines[2]!]: () => each(count, (key, at) => twoAtATime.put(key, newValue(at))),
      },
      bounds: atLeast === undefined ? [] : [{ form: "ours", ratioAtMost: 1 / atLeast, toBestOf: baselines }],
      options: { callsPerRun: count * STEPS, measureHeap: false, sampleMs: SAMPLE_MS, rounds: 15 },
      before: () => start(count),
      after: stop,
    });
  }
}

const missing = etcdMissing();
if (missing === undefined) compareAll();
else console.log(`Skipped: ${missing}`);
