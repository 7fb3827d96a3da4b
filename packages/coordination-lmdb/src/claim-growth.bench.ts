// A claim in a run of 1,000, 100,000 and 1,000,000 shards, a third of them finished, a third held by others and a third free: it must not cost
// more than twice as much. The disk is left out of it, since waiting for it would hide the rest.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cursor, LogicalTime, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, newRunRecord, newShardRecord, systemClock, type ShardRecord } from "@gossip/coordination";
import { openLmdbStore, type LmdbStore } from "@gossip/coordination-lmdb";
import { assert, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";

const SIZES = process.argv.includes("--smoke") ? [1_000] : [1_000, 100_000, 1_000_000];
const PER_COMMIT = 10_000;
/**
 * Filling by the ten thousand leaves the engine a long list of free pages in no order, which it mends a piece with every commit: the first
 * two hundred claims of a million take 2 to 5 ms each for it, once and not for every process that opens the folder. Left out: it is a price
 * of the filling, and not of how many there are.
 */
const SETTLING_CALLS = process.argv.includes("--smoke") ? 1 : 400;
const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);
const now = LogicalTime.fromRaw(1n);
const config = { cursorSemantics: "Completed", leaseDuration: 1n << 40n, maxShardRetries: undefined } as const;
const limits = { maxShardsPerTenant: 1e9, maxShardsTotal: 1e9 };

let folder: string;
const stores = new Map<number, LmdbStore>();
const coordinators = new Map<number, Coordinator>();

async function start(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), "gossip-bench-"));
  for (const size of SIZES) {
    const path = join(folder, String(size));
    const store = unwrap(await openLmdbStore({ path, durability: "Written" }));
    const after = {
      ...newRunRecord({ tenant, run, config, now }),
      status: "Active",
      rootShards: [ShardId.fromRaw(0n)],
    } as const;
    let guard: number | undefined;
    for (let first = 0; first < size; first += PER_COMMIT) {
      const created = Array.from({ length: Math.min(PER_COMMIT, size - first) }, (_, index) =>
        makeShard(first + index),
      );
      const [answer] = await store.commit([
        { kind: "PutRun", tenant, run, guard, after, created, limits, noShardsIn: [] },
      ]);
      assert(answer?.kind === "Committed", "the shards are put there");
      guard = answer.version as number;
    }
    // Opened anew, so that what filling has left with the operating system is on disk and out of the way.
    await store.close();
    const opened = unwrap(await openLmdbStore({ path, durability: "Written" }));
    stores.set(size, opened);
    coordinators.set(size, new Coordinator({ store: opened, clock: systemClock(Date.now) }));
    for (let call = 0; call < SETTLING_CALLS; call++) await claimAndRelease(size, call);
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
  await rm(folder, { recursive: true });
}

async function claimAndRelease(size: number, call: number): Promise<void> {
  const claimed = await coordinators.get(size)!.claim({ tenant, run, worker: WorkerId.fromRaw(BigInt(call)) });
  assert(claimed.ok, "there is something to claim");
  assert((await claimed.value.release()).ok, "it is given back");
}

const form = (size: number) => `of ${size.toLocaleString("en")}`;

compare("lmdb: claim and release", {
  forms: Object.fromEntries(SIZES.map((size) => [form(size), (call: number) => claimAndRelease(size, call)])),
  bounds: SIZES.slice(1).map((size) => ({ form: form(size), ratioAtMost: 2, toBestOf: [form(SIZES[0]!)] })),
  options: { callsPerRun: 1, measureHeap: false, sampleMs: 30, rounds: 31 },
  before: start,
  after: stop,
});
