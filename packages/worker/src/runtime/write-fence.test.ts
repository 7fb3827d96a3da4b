// A user's sink refuses a writer with a smaller number. If a zombie of the parent had a greater one than the
// holder of the child, its writes would land on top of newer ones after every split.
import {
  Cursor,
  OpId,
  planSplitResidualAtPoint,
  RunId,
  ShardId,
  ShardSpec,
  TenantId,
  WorkerId,
} from "@gossip/contracts";
import { Coordinator, MemoryStore, type WorkerSession } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { writeFenceOf } from "./write-fence.ts";

const LEASE = 100n;
const run = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const key = (text: string): Uint8Array => new TextEncoder().encode(text);
const fenceOf = (session: WorkerSession): bigint => writeFenceOf(session.lease, LEASE);

test("it rises from holder to holder, also where a split began a shard anew and a clock lags", async () => {
  const store = new MemoryStore();
  const clock = new ManualClock(1000n);
  const lagging = new ManualClock(900n);
  const coordinator = new Coordinator({ store, clock });
  const elsewhere = new Coordinator({ store, clock: lagging });
  const spec = ShardSpec.withRange({ start: key("a"), end: key("z") });
  unwrap(
    await coordinator.createRunWithShards({
      ...run,
      config: { leaseDuration: LEASE },
      shards: [{ shard: ShardId.fromRaw(1n), spec, cursor: Cursor.initial() }],
      opId: OpId.random(),
    }),
  );
  const claim = async (from: Coordinator, worker: bigint): Promise<WorkerSession> =>
    unwrap(await from.claim({ ...run, worker: WorkerId.fromRaw(worker) }));

  const holders = [await claim(coordinator, 1n)];
  for (const worker of [2n, 3n, 4n]) {
    clock.advance(LEASE);
    holders.push(await claim(coordinator, worker));
  }
  // Given back and taken again within a millisecond.
  unwrap(await holders.at(-1)!.release());
  holders.push(await claim(coordinator, 5n));
  const parent = holders.at(-1)!;
  clock.advance(1n);
  unwrap(await parent.splitResidual(unwrap(planSplitResidualAtPoint(parent.spec, parent.cursor, key("m")))));
  const child = await claim(elsewhere, 6n);

  expect(child.lease.fence).toBeLessThan(holders[2]!.lease.fence);
  const fences = holders.map(fenceOf);
  expect(fences).toEqual([...fences].sort((a, b) => (a < b ? -1 : 1)));
  expect(new Set(fences).size).toBe(fences.length);
  for (const zombie of holders.slice(0, -1)) expect(fenceOf(child)).toBeGreaterThan(fenceOf(zombie));
});
