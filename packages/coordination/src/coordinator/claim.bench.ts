// A claim must not cost more the more shards there are: that is what an index is for. Each call claims a shard and
// completes it, out of 1,000, 100,000 and 1,000,000 that are there.
import { Cursor, LogicalTime, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import {
  Coordinator,
  MemoryStore,
  newRunRecord,
  newShardRecord,
  RANGE_EXHAUSTED,
  RunConfig,
} from "@gossip/coordination";
import { assert, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";

const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const now = LogicalTime.fromRaw(50n);
const config = unwrap(RunConfig.tryNew({ leaseDuration: 1000n }));
const limits = { maxShardsPerTenant: 10_000_000, maxShardsTotal: 10_000_000 };
const key = (index: number) => new TextEncoder().encode(String(index).padStart(32, "0"));

/** A store with runs of so many shards each, put there directly: registering takes 10,000 at a time. */
function seed(shardCount: number, runCount: number): (call: number) => Promise<unknown> {
  const store = new MemoryStore({ slabCapacity: 64 * (shardCount + 1024) * runCount + (1 << 20) });
  const coordinator = new Coordinator({ store, clock: { now: () => now } });
  const ids = Array.from({ length: shardCount }, (_, index) => ShardId.fromRaw(BigInt(index)));
  for (let number = 1; number <= runCount; number++) {
    const run = RunId.fromRaw(BigInt(number));
    const created = ids.map((shard, index) =>
      newShardRecord({
        tenant,
        key: { run, shard },
        spec: ShardSpec.withRange({ start: key(index), end: key(index + 1) }),
        cursor: Cursor.initial(),
        cursorSemantics: "Completed",
        parent: undefined,
        now,
      }),
    );
    const record = {
      ...newRunRecord({ tenant, run, config, now }),
      status: "Active" as const,
      rootShards: ids.slice(0, 1),
    };
    const [answer] = store.commit([
      { kind: "PutRun", tenant, run, guard: undefined, after: record, created, limits, noShardsIn: [] },
    ]);
    assert(answer?.kind === "Committed", "the run is put there");
  }

  // A run that is used up gives way to the next, so that a small one stays small and is never empty.
  let left = shardCount;
  let run = 1n;
  return async (call) => {
    if (left < shardCount / 2 && run < BigInt(runCount)) {
      run++;
      left = shardCount;
    }
    left--;
    const session = unwrap(
      await coordinator.claim({ tenant, run: RunId.fromRaw(run), worker: WorkerId.fromRaw(BigInt(call & 255)) }),
    );
    return session.complete(RANGE_EXHAUSTED, { opId: OpId.fromRaw(BigInt(call)) });
  };
}

// A smoke run measures nothing and need not wait for a million shards.
const scale = process.argv.includes("--smoke") ? 1_000 : 1;
const forms = {
  "1,000 shards": seed(1_000, Math.ceil(200 / scale)),
  "100,000 shards": seed(100_000 / scale, 2),
  "1,000,000 shards": seed(1_000_000 / scale, 1),
};

compare("claim and complete", {
  forms,
  bounds: [
    { form: "1,000,000 shards", ratioAtMost: 2, toBestOf: ["1,000 shards"] },
    { form: "100,000 shards", ratioAtMost: 2, toBestOf: ["1,000 shards"] },
  ],
  // A claim uses its shard up, so warming up must not take too many of them.
  options: { measureHeap: false, warmMs: 60 },
});
