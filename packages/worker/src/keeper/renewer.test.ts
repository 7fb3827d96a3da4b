// Renewing too late loses the shard. Renewing for a loop that never comes back keeps the shard from every other worker.

import { FenceEpoch, LogicalTime, RunId, ShardId, TenantId, WorkerId } from "@gossip/contracts";
import { Lease, type RenewResult } from "@gossip/coordination";
import { coordError, InfraError, type RenewError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { LeaseTable, MAX_SLOTS } from "./lease-table.ts";
import { Renewer } from "./renewer.ts";

const LEASE_MS = 1000;

function lease(fence: bigint): Lease {
  const [tenant, run, shard, owner] = [TenantId.ZERO, RunId.fromRaw(1n), ShardId.fromRaw(1n), WorkerId.fromRaw(1n)];
  return Lease.of({
    tenant,
    run,
    shard,
    owner,
    fence: FenceEpoch.fromRaw(fence),
    deadline: LogicalTime.fromRaw(1000n),
  });
}

function setUp(
  answer: () => Result<RenewResult, RenewError> = () =>
    ok({
      newDeadline: LogicalTime.fromRaw(2000n),
      capacity: { availableCount: 0, earliestDeadline: undefined, isStarved: false },
    }),
) {
  let nowMs = 5000;
  const asked: bigint[] = [];
  const table = new LeaseTable();
  table.beat(nowMs);
  const renewer = new Renewer({
    table,
    leaseMs: LEASE_MS,
    maxBlockedMs: 10_000,
    nowMs: () => nowMs,
    renew: async ({ fence }) => {
      asked.push(fence);
      return answer();
    },
  });
  const passMs = async (ms: number): Promise<void> => {
    nowMs += ms;
    renewer.tick();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const hold = (slot: number, fence: bigint): void => {
    table.renewed(slot, nowMs);
    renewer.hold(slot, lease(fence));
  };
  return { table, renewer, asked, passMs, hold, nowMs: () => nowMs };
}

describe("Renewer", () => {
  test("renews a lease that was not renewed for half its time, and then leaves it for as long again", async () => {
    const { asked, passMs, hold, table, nowMs } = setUp();
    hold(3, 2n);
    await passMs(499);
    expect(asked).toEqual([]);
    await passMs(1);
    expect(asked).toEqual([2n]);
    expect(table.renewedMs(3)).toBe(nowMs());
    await passMs(499);
    expect(asked).toEqual([2n]);
    await passMs(1);
    expect(asked).toEqual([2n, 2n]);
  });

  test("asks once, however long the answer takes", async () => {
    const table = new LeaseTable();
    table.beat(5000);
    let asked = 0;
    const renewer = new Renewer({
      table,
      leaseMs: LEASE_MS,
      maxBlockedMs: 10_000,
      nowMs: () => 5000 + LEASE_MS,
      renew: () => {
        asked++;
        return new Promise<never>(() => undefined);
      },
    });
    table.renewed(0, 5000);
    renewer.hold(0, lease(1n));
    for (let ticks = 0; ticks < 3; ticks++) renewer.tick();
    expect(asked).toBe(1);
  });

  test("leaves alone what the main loop renews, and what it has given up", async () => {
    const { asked, passMs, hold, table, nowMs, renewer } = setUp();
    hold(0, 1n);
    hold(1, 2n);
    for (let turn = 0; turn < 10; turn++) {
      table.renewed(0, nowMs());
      if (turn === 1) renewer.drop(1);
      await passMs(300);
    }
    expect(asked).toEqual([]);
    expect(renewer.size).toBe(1);
  });

  test("lets go of a loop that has stood still for too long", async () => {
    const { asked, passMs, hold, table, nowMs } = setUp();
    hold(0, 1n);
    for (let turn = 0; turn < 100; turn++) await passMs(500);
    expect(asked).toHaveLength(20);
    table.beat(nowMs());
    await passMs(0);
    expect(asked).toHaveLength(21);
  });

  test.each([
    {
      error: coordError("StaleFence", { presented: FenceEpoch.fromRaw(1n), current: FenceEpoch.fromRaw(2n) }),
      asksAgain: false,
    },
    { error: coordError("RunTerminal", { status: "Cancelled" }), asksAgain: false },
    {
      error: coordError("BackendError", {
        reason: InfraError.transient({ operation: "renew.commit", message: "away" }),
      }),
      asksAgain: true,
    },
  ])("asks again after $error.kind: $asksAgain", async ({ error, asksAgain }) => {
    const { asked, passMs, hold } = setUp(() => err(error));
    hold(0, 1n);
    await passMs(600);
    await passMs(100);
    expect(asked).toHaveLength(asksAgain ? 2 : 1);
  });

  test("an answer that comes when the slot is another's changes nothing", async () => {
    const { asked, passMs, hold, table, renewer, nowMs } = setUp();
    hold(0, 1n);
    const pass = passMs(600);
    renewer.drop(0);
    hold(0, 2n);
    table.renewed(0, nowMs() - 100);
    await pass;
    expect(table.renewedMs(0)).toBe(nowMs() - 100);
    await passMs(400);
    expect(asked).toEqual([1n, 2n]);
  });
});

test("a table shows both sides the same times", () => {
  const here = new LeaseTable();
  const there = new LeaseTable(here.buffer);
  here.beat(2 ** 50);
  there.renewed(MAX_SLOTS - 1, 7);
  expect([there.beatMs, here.renewedMs(MAX_SLOTS - 1), here.renewedMs(0)]).toEqual([2 ** 50, 7, 0]);
  expect(() => here.renewed(MAX_SLOTS, 1)).toThrow("slot must be a whole number from 0 to 255");
  expect(() => new LeaseTable(new SharedArrayBuffer(8))).toThrow("a table of leases has");
});
