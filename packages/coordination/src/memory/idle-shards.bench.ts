// What an idle shard costs in memory, bounds of 32 bytes each, beside 1,000,000 others: the rows, the index, the map, and
// what the slab keeps of its blocks. Its 64 bytes in the slab come on top: those were taken when the store was made.
import { Cursor, LogicalTime, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import {
  MemoryStore,
  newRunRecord,
  newShardRecord,
  planMemory,
  RunConfig,
  type ShardRecord,
} from "@gossip/coordination";
import { assert, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";

const PER_RUN = 1_000;
// A smoke run measures nothing and need not wait for a million shards.
const RUNS = process.argv.includes("--smoke") ? 1 : 1_000;
const SLAB_CAPACITY = RUNS * PER_RUN * 2 ** 8;
const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const now = LogicalTime.fromRaw(50n);
const config = unwrap(RunConfig.tryNew({ leaseDuration: 1000n }));
const limits = { maxShardsPerTenant: 100_000_000, maxShardsTotal: 100_000_000 };
const key = (index: number) => new TextEncoder().encode(String(index).padStart(32, "0"));
const spec = Array.from({ length: PER_RUN }, (_, index) =>
  ShardSpec.withRange({ start: key(index), end: key(index + 1) }),
);

let store: MemoryStore;
let lastRun = 0n;

/** One more run of 1,000 shards. Their ids are their own; all else that is made here is garbage when it returns. */
function addRun(): void {
  const run = RunId.fromRaw(++lastRun);
  const created: ShardRecord[] = spec.map((range, index) => {
    const shard = ShardId.fromRaw((lastRun << 20n) | BigInt(index));
    return newShardRecord({
      tenant,
      key: { run, shard },
      spec: range,
      cursor: Cursor.initial(),
      cursorSemantics: "Completed",
      parent: undefined,
      now,
    });
  });
  const after = { ...newRunRecord({ tenant, run, config, now }), status: "Active" as const, rootShards: [] };
  const [answer] = store.commit([
    { kind: "PutRun", tenant, run, guard: undefined, after, created, limits, noShardsIn: [] },
  ]);
  assert(answer?.kind === "Committed", "the run is put there");
}

function memoryInUse(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

compare("an idle shard beside 1,000,000", {
  forms: { "add 1,000": addRun },
  options: { callsPerRun: PER_RUN, measureHeap: false, rounds: 21 },
  before() {
    store = new MemoryStore({ slabCapacity: SLAB_CAPACITY });
    const empty = memoryInUse();
    for (let count = 0; count < RUNS; count++) addRun();
    if (RUNS === 1) return;
    const bytes = (memoryInUse() - empty + store.slabBytesUsed) / (RUNS * PER_RUN);
    process.stdout.write(`  ${Math.round(bytes)} bytes an idle shard at 1,000,000, its 64 in the slab included\n`);
    const { heapBytes } = planMemory({ shards: RUNS * PER_RUN, runs: RUNS, specSize: 64, cursorSize: 0, loggedOps: 0 });
    assert(bytes - 64 <= heapBytes / (RUNS * PER_RUN), "planMemory must plan for what a shard takes");
    assert(bytes <= 1024, `an idle shard may take 1,024 bytes, and takes ${Math.round(bytes)}`);
  },
});
