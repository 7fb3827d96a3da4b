// A fault run that finds nothing is worth as much as its verdict. So each promise is broken here, by a word in the log that the store
// does not bear out, and the verdict must say so.
import { expect, test } from "vitest";
import { Cursor, OpId, RunId, ShardId, TenantId, WorkerId } from "../../packages/contracts/src/index.ts";
import { Coordinator, MemoryStore, systemClock } from "../../packages/coordination/src/index.ts";
import { unwrap } from "../../packages/stdx/src/index.ts";
import { FAULT_TENANT, key, lacking, makeRoots, type FaultLine } from "./fault-log.ts";
import { judge } from "./fault-verdict.ts";

const SHARD = ShardId.format(ShardId.fromRaw(0n));
const HOLDER = 7;

/** A store with a shard at place 20, and what the process that brought it there wrote down. */
async function workOnShard({ complete = false } = {}): Promise<{ store: MemoryStore; told: FaultLine[] }> {
  const store = new MemoryStore();
  const tenant = TenantId.fromBytes(FAULT_TENANT);
  const run = RunId.fromRaw(1n);
  const coordinator = new Coordinator({ store, clock: systemClock(() => 1) });
  unwrap(
    await coordinator.createRunWithShards({
      tenant,
      run,
      config: { leaseDuration: 100n },
      shards: makeRoots(2),
      opId: OpId.fromRaw(1n),
    }),
  );
  const session = unwrap(
    await coordinator.openSession({
      tenant,
      key: { run, shard: ShardId.fromRaw(0n) },
      worker: WorkerId.fromRaw(BigInt(HOLDER)),
    }),
  );
  const fence = Number(session.lease.fence);
  const told: FaultLine[] = [["Acquired", 1, SHARD, fence, -1, HOLDER]];
  for (const place of [10, 20]) {
    unwrap(await session.checkpoint(Cursor.withLastKey(key(place))));
    told.push(["Checkpointed", 1, SHARD, fence, place, HOLDER]);
  }
  if (complete) {
    unwrap(await session.complete(Cursor.withLastKey(key(20))));
    told.push(["Completed", 1, SHARD, fence, 20, HOLDER]);
  }
  return { store, told };
}

test("what the store bears out is not broken, and is counted", async () => {
  const { store, told } = await workOnShard({ complete: true });
  const refused: FaultLine = ["Refused", "checkpoint", "StaleFence"];
  const { counts, broken } = await judge(store, [...told, refused]);
  expect(broken).toEqual([]);
  expect(counts).toEqual({ Acquired: 1, Checkpointed: 2, Completed: 1, "Refused checkpoint: StaleFence": 1 });
});

const lies: readonly { readonly name: string; readonly lines: readonly FaultLine[]; readonly says: RegExp }[] = [
  {
    name: "a checkpoint that is not stored",
    lines: [["Checkpointed", 1, SHARD, 2, 21, HOLDER]],
    says: /is at 20, and 21 was acknowledged/,
  },
  {
    name: "a cursor that goes back within a fence",
    lines: [["Checkpointed", 1, SHARD, 2, 15, HOLDER]],
    says: /went back from 20 to 15/,
  },
  {
    name: "a shard that is given out before what was acknowledged",
    lines: [["Acquired", 1, SHARD, 3, 10, HOLDER]],
    says: /given out at 10 under fence 3 after 20/,
  },
  {
    name: "a fence that was never stored",
    lines: [["Acquired", 1, SHARD, 9, 20, HOLDER]],
    says: /fence below one that was given out/,
  },
  {
    name: "a second holder of a fence",
    lines: [["Checkpointed", 1, SHARD, 2, 20, HOLDER + 1]],
    says: /had 2 holders under fence 2/,
  },
  {
    name: "a completion that is not stored",
    lines: [["Completed", 1, SHARD, 2, 20, HOLDER]],
    says: /was completed and is Active/,
  },
  {
    name: "a shard that is gone",
    lines: [["Checkpointed", 1, ShardId.format(ShardId.fromRaw(5n)), 2, 1, HOLDER]],
    says: /is gone/,
  },
];

test.for(lies)("says so of $name", async ({ lines, says }) => {
  const { store, told } = await workOnShard();
  const { broken } = await judge(store, [...told, ...lines]);
  expect(broken).toContainEqual(expect.stringMatching(says));
});

test("says so of a shard that was completed twice", async () => {
  const { store, told } = await workOnShard({ complete: true });
  const { broken } = await judge(store, [...told, ["Completed", 1, SHARD, 3, 20, HOLDER + 1]]);
  expect(broken).toContainEqual(expect.stringMatching(/was completed 2 times/));
});

test("a run with too few faults is reported by what is missing", () => {
  expect(lacking({ kills: 2, Split: 5 }, { kills: 2, Split: 6, Deleted: 1 })).toEqual([
    "Split: 5 of 6",
    "Deleted: 0 of 1",
  ]);
});
