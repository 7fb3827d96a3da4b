// A failure that is recorded without its checkpoint, twice, or not at all makes the ledger of a run useless: an operator
// retries what was never skipped, or never learns what was. So answers are lost at every point, and the ledger is compared
// with the cursor.

import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { compareBytes, unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { MemoryStore } from "../memory/memory-store.ts";
import type { FailureInput } from "../records/item-failure.ts";
import type { WorkerSession } from "../session/worker-session.ts";
import { FaultInjectingStore, type CommitFault } from "../testing/fault-injecting-store.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { Coordinator } from "./coordinator.ts";

const OF_RUN = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const key = (index: number) => Uint8Array.of(index);
const failed = (index: number): FailureInput => ({ key: key(index), attempts: 1, reason: "ItemFailed", error: "no" });
const FAULTS: readonly CommitFault[] = ["Conflict", "Failed", "UnknownNotMade", "UnknownMade", "UnknownLate"];

/** A coordinator whose next commits go wrong in these ways, one after the other, and a session to use it with. */
async function open(maxAttempts = 8) {
  const faults: (CommitFault | undefined)[] = [];
  const store = new FaultInjectingStore(new MemoryStore(), { onCommit: () => faults.shift() });
  const retry = { sleep: () => Promise.resolve(), maxAttempts };
  const coordinator = new Coordinator({ store, clock: new ManualClock(1n), retry });
  const spec = ShardSpec.withRange({ start: key(0), end: key(255) });
  const shards = [{ shard: ShardId.fromRaw(1n), spec, cursor: Cursor.initial() }];
  const config = { leaseDuration: 1000n };
  unwrap(await coordinator.createRunWithShards({ ...OF_RUN, config, shards, opId: OpId.fromRaw(1n) }));
  const session: WorkerSession = unwrap(await coordinator.claim({ ...OF_RUN, worker: WorkerId.fromRaw(1n) }));
  const ledger = async () => unwrap(await coordinator.listFailures(OF_RUN)).items.map((failure) => failure.key[0]);
  return { coordinator, session, faults, ledger };
}

describe("a checkpoint with failures", () => {
  const pairs = FAULTS.flatMap((first) => [
    [first, undefined] as const,
    ...FAULTS.map((second) => [first, second] as const),
  ]);

  test.each(pairs)("is recorded exactly once, though its commits meet with %s and %s", async (first, second) => {
    const { session, faults, ledger } = await open();
    faults.push(first, second);
    unwrap(await session.checkpoint(Cursor.withLastKey(key(5)), { failures: [failed(3), failed(5)] }));
    expect(await ledger()).toEqual([3, 5]);
    unwrap(await session.checkpoint(Cursor.withLastKey(key(9)), { failures: [failed(8)] }));
    expect(await ledger()).toEqual([3, 5, 8]);
  });

  test.each(FAULTS)("that gives up after %s has recorded its failures exactly if the cursor moved", async (fault) => {
    const { coordinator, session, faults, ledger } = await open(1);
    faults.push(fault);
    const options = { opId: OpId.fromRaw(77n), failures: [failed(5)] };
    const answer = await session.checkpoint(Cursor.withLastKey(key(5)), options);
    expect(answer.ok).toBe(false);
    const { cursor } = unwrap(await coordinator.getShard({ tenant: TenantId.ZERO, key: session.shardKey }))!;
    const isMoved = cursor.lastKey !== undefined && compareBytes(cursor.lastKey, key(5)) === 0;
    expect(await ledger()).toEqual(isMoved ? [5] : []);
    // Repeated later with the same op id, and with what the caller knows by then: the first execution counts.
    faults.length = 0;
    for (;;) {
      const again = await session.checkpoint(Cursor.withLastKey(key(5)), { ...options, failures: [failed(4)] });
      if (again.ok) break;
    }
    expect(await ledger()).toEqual(isMoved ? [5] : [4]);
  });
});

test("removing failures can be repeated after any fault", async () => {
  for (const fault of FAULTS.filter((each) => each !== "Conflict")) {
    const { coordinator, session, faults, ledger } = await open();
    unwrap(await session.checkpoint(Cursor.withLastKey(key(5)), { failures: [failed(3), failed(5)] }));
    faults.push(fault);
    unwrap(await coordinator.resolveFailures({ ...OF_RUN, keys: [key(3)] }));
    expect(await ledger()).toEqual([5]);
  }
});

test("malformed failures, details and workers throw and change nothing", async () => {
  const { coordinator, session, ledger } = await open();
  const at = Cursor.withLastKey(key(5));
  const junk: readonly unknown[] = [5, "text", {}, [undefined], [{}], [{ ...failed(5), key: "text" }]];
  const fields: readonly object[] = [
    { attempts: 0 },
    { attempts: 1.5 },
    { reason: "Bad" },
    { error: 5 },
    { key: new Uint8Array(4097) },
  ];
  for (const failures of [...junk, ...fields.map((field) => [{ ...failed(5), ...field }])]) {
    await expect(session.checkpoint(at, { failures: failures as FailureInput[] })).rejects.toThrow(/must|array/);
  }
  await expect(session.checkpoint(at, { failures: [failed(6)] })).rejects.toThrow("must not lie above the cursor");
  await expect(session.park("Other", { detail: { attempts: -1, error: "" } })).rejects.toThrow("attempts");
  const info = { name: "n", host: "h", pid: 1, version: "1", startedAt: 1n, shards: [], itemCount: 0 };
  const register = (change: object, ttl: unknown = 5n) =>
    coordinator.registerWorker({
      ...OF_RUN,
      worker: WorkerId.fromRaw(1n),
      info: { ...info, ...change } as never,
      ttl: ttl as bigint,
    });
  for (const change of [
    { pid: -1 },
    { name: 5 },
    { shards: 5 },
    { shards: [5] },
    { itemCount: 0.5 },
    { itemsPerSecond: NaN },
  ])
    await expect(register(change)).rejects.toThrow();
  await expect(register({}, 0n)).rejects.toThrow("ttl");
  expect(await ledger()).toEqual([]);
  expect(session.cursor.lastKey).toBe(undefined);
  expect(session.isClosed).toBe(false);
});
