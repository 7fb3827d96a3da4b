// A claim in a run of 1,000, 100,000 and 1,000,000 shards, a third of them finished, a third held by others and a third free: it must not
// cost more than twice as much. A million take three million keys and minutes to be put there.
import { Cursor, LogicalTime, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, newRunRecord, newShardRecord, systemClock, type ShardRecord } from "@gossip/coordination";
import { openEtcdStore, type EtcdStore } from "@gossip/coordination-etcd";
import { assert, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { etcdMissing, startEtcd, type EtcdServer } from "@gossip/tools/engines";

const SIZES = process.argv.includes("--smoke") ? [1_000] : [1_000, 100_000, 1_000_000];
const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);
const now = LogicalTime.fromRaw(1n);
const config = { cursorSemantics: "Completed", leaseDuration: 1n << 40n, maxShardRetries: undefined } as const;
/** Leases that end within an hour, beginning in a week. */
const LATER = BigInt(Date.now()) + 604_800_000n;
const limits = { maxShardsPerTenant: 1e9, maxShardsTotal: 1e9 };

let server: EtcdServer;
const stores = new Map<number, EtcdStore>();
const coordinators = new Map<number, Coordinator>();

async function start(): Promise<void> {
  server = await startEtcd([
    "--auto-compaction-mode=revision",
    "--auto-compaction-retention=10000",
    `--quota-backend-bytes=${2 ** 33}`,
  ]);
  for (const size of SIZES) {
    const store = unwrap(await openEtcdStore({ endpoints: [server.endpoint], prefix: `of-${size}` }));
    const after = {
      ...newRunRecord({ tenant, run, config, now }),
      status: "Active",
      rootShards: [ShardId.fromRaw(0n)],
    } as const;
    const created = Array.from({ length: size }, (_, index) => makeShard(index));
    const [answer] = await store.commit([
      { kind: "PutRun", tenant, run, guard: undefined, after, created, limits, noShardsIn: [] },
    ]);
    assert(answer?.kind === "Committed", "the shards are put there");
    stores.set(size, store);
    coordinators.set(size, new Coordinator({ store, clock: systemClock(Date.now) }));
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
      deadline: LogicalTime.fromRaw(LATER + BigInt(index) * 36n),
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

const missing = etcdMissing();
if (missing === undefined) {
  compare("etcd: claim and release", {
    forms: Object.fromEntries(SIZES.map((size) => [form(size), (call: number) => claimAndRelease(size, call)])),
    bounds: SIZES.slice(1).map((size) => ({ form: form(size), ratioAtMost: 2, toBestOf: [form(SIZES[0]!)] })),
    options: { callsPerRun: 1, measureHeap: false, sampleMs: 30, rounds: 31 },
    before: start,
    after: stop,
  });
} else console.log(`Skipped: ${missing}`);
