// The fence is what keeps a new leader above everything the old one may have issued. If it served too
// early, from too low a floor, or at a stale epoch, two leaders would issue the same timestamp.
import { unwrap } from "@gossip/stdx";
import { Epoch, LOGICAL_MAX, PHYSICAL_MS_MAX, Timestamp } from "@gossip/tso";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { DriverError } from "../driver/driver-error.ts";
import { leaderAt } from "../driver/leader-state.ts";
import { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { turnEventLoop } from "../testing/manual-time.ts";
import { until } from "../until.fixture.ts";
import { first, makeOracle, makeServingOracle, START_MS } from "./oracle.fixture.ts";

// Nothing here waits on a clock; a busy machine may still be slow.
vi.setConfig({ testTimeout: 60_000 });

const TRANSIENT: DriverError = { kind: "TransientDriver", reason: "no quorum" };

describe("a fence", () => {
  test("makes its bound durable before it serves", async () => {
    const { driver, oracle, store } = makeOracle({ failoverAdvanceMs: 500, prepare: (d) => d.hold() });
    await until(() => driver.loadCalls === 1);
    expect(oracle.state.kind).toBe("NotServing");
    expect(await oracle.getTs(1)).toEqual({ ok: false, error: { kind: "NotLeader" } });
    driver.release();
    await until(() => oracle.state.kind === "Serving");
    expect(store.highWaterMs).toBe(START_MS + 500);
    expect(driver.persistCalls).toEqual([{ atLeastMs: START_MS + 500, epoch: 1n }]);
  });

  test("starts above the last millisecond of the prior bound, whatever the clock and the advance", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: -2000, max: 2000 }),
        fc.constantFrom(0, 1, 700),
        async (priorOffsetMs, failoverAdvanceMs) => {
          const priorMs = START_MS + priorOffsetMs;
          const { oracle, store } = await makeServingOracle({ priorMs, failoverAdvanceMs });
          expect(store.highWaterMs).toBe(Math.max(priorMs + 1, START_MS) + failoverAdvanceMs);
          expect(store.highWaterMs).toBeGreaterThan(priorMs);
          expect(await first(oracle)).toBeGreaterThan(Timestamp.pack({ physicalMs: priorMs, logical: LOGICAL_MAX }));
        },
      ),
    );
  });

  test("is tried again after transient failures, with pauses that double up to a quarter of a second", async () => {
    const { driver, oracle, time } = makeOracle({
      prepare: (d) => d.persistFaults.push(...Array<DriverError>(10).fill(TRANSIENT)),
    });
    await turnEventLoop();
    for (const pauseMs of [25, 50, 100, 200, 250, 250, 250, 250, 250, 250]) {
      const callsBefore = driver.persistCalls.length;
      await time.advance(pauseMs - 1);
      expect(driver.persistCalls.length).toBe(callsBefore);
      expect(oracle.state.kind).toBe("NotServing");
      await time.advance(1);
      expect(driver.persistCalls.length).toBe(callsBefore + 1);
    }
    expect([driver.persistCalls.length, driver.loadCalls, oracle.state.kind]).toEqual([11, 11, "Serving"]);
    expect(oracle.metrics.counter("tsoracle.leader_transition.fence_transient_retries.total").value).toBe(10);
    expect(oracle.metrics.histogram("tsoracle.leader_transition.fence_latency").count).toBe(1);
  });

  test("says when it is stuck: at the eighth try, then at every twentieth", async () => {
    const { events, time } = makeOracle({
      prepare: (d) => {
        d.everyPersist = TRANSIENT;
      },
    });
    await time.advance(250 * 50);
    expect(events.slice(0, 3)).toEqual(
      [8, 28, 48].map((tries) => ({ kind: "FenceStuck", tries, reason: "no quorum" })),
    );
  });

  test("a failed load is tried again too", async () => {
    const { oracle, time } = makeOracle({ prepare: (d) => d.loadFaults.push(TRANSIENT) });
    await time.advance(25);
    expect(oracle.state.kind).toBe("Serving");
  });

  test("a follower event ends endless retrying, and with it the persists", async () => {
    const { driver, memory, oracle, time } = makeOracle({
      prepare: (d) => {
        d.everyPersist = TRANSIENT;
      },
    });
    await time.advance(300);
    memory.setLeadership({
      kind: "Follower",
      leaderEndpoint: unwrap(PeerEndpoint.parse("b:1")),
      leaderEpoch: Epoch.fromRaw(7n),
    });
    await turnEventLoop();
    const callsBefore = driver.persistCalls.length;
    await time.advance(60_000);
    expect(driver.persistCalls.length).toBe(callsBefore);
    expect(oracle.state).toEqual({ kind: "NotServing", leaderEndpoint: "b:1", leaderEpoch: 7n });
  });

  test.each([
    { kind: "NotLeader" } as const,
    { kind: "Fenced", expected: Epoch.fromRaw(1n), current: Epoch.fromRaw(2n) } as const,
  ])("$kind ends it without a hint, and the next election serves", async (fault) => {
    const { driver, memory, oracle } = makeOracle({ prepare: (d) => d.persistFaults.push(fault) });
    await until(() => driver.persistCalls.length === 1);
    await turnEventLoop();
    expect(oracle.state).toEqual({ kind: "NotServing" });
    memory.setLeadership(leaderAt(3n));
    await until(() => oracle.state.kind === "Serving");
    expect(oracle.state).toEqual({ kind: "Serving", epoch: 3n });
  });

  test.each([
    {
      fault: { kind: "PermanentDriver", reason: "EIO" } as const,
      ends: { kind: "Consensus", error: { kind: "PermanentDriver", reason: "EIO" } },
    },
    {
      fault: { kind: "Answers", highWaterMs: 5 } as const,
      ends: { kind: "Core", error: { kind: "InvalidLeadershipWindow", floorMs: START_MS, ceilingMs: 5 } },
    },
    {
      fault: { kind: "Throws" } as const,
      ends: { kind: "WatchPanic", message: "Error: an injected exception" },
    },
  ])("$fault.kind ends the oracle, which no longer serves", async ({ fault, ends }) => {
    const { oracle } = makeOracle({ prepare: (d) => d.persistFaults.push(fault) });
    expect(await oracle.finished).toEqual({ ok: false, error: ends });
    expect(oracle.state).toEqual({ kind: "NotServing" });
    expect(await oracle.getTs(1)).toMatchObject({ error: { kind: "NotLeader" } });
  });

  test("a bound outside 46 bits ends it", async () => {
    const { oracle } = makeOracle({ priorMs: PHYSICAL_MS_MAX });
    expect(await oracle.finished).toEqual({
      ok: false,
      error: { kind: "Consensus", error: { kind: "AdvanceOutOfRange", physicalMs: PHYSICAL_MS_MAX + 1001 } },
    });
  });

  test("survives churn: four elections with three transient faults each", async () => {
    const { driver, memory, oracle, time } = await makeServingOracle();
    let previous = await first(oracle);
    for (let round = 2; round < 6; round++) {
      driver.persistFaults.push(TRANSIENT, TRANSIENT, TRANSIENT);
      memory.setLeadership({ kind: "Unknown" });
      await turnEventLoop();
      memory.setLeadership(leaderAt(BigInt(round)));
      await time.advance(25 + 50 + 100);
      expect(oracle.state).toEqual({ kind: "Serving", epoch: BigInt(round) });
      const next = await first(oracle);
      expect(next).toBeGreaterThan(previous);
      previous = next;
    }
  });

  test("an event that comes while it waits for the driver is handled at once", async () => {
    const { driver, memory, oracle } = makeOracle({ prepare: (d) => d.hold() });
    await until(() => driver.loadCalls === 1);
    memory.setLeadership({ kind: "Follower", leaderEndpoint: unwrap(PeerEndpoint.parse("other:9")) });
    await until(() => oracle.state.kind === "NotServing" && oracle.state.leaderEndpoint !== undefined);
    driver.release();
    await turnEventLoop();
    expect(oracle.state).toEqual({ kind: "NotServing", leaderEndpoint: "other:9" });
    expect(driver.persistCalls).toEqual([]);
  });

  test("an event that comes while its bound is being made durable keeps it from serving", async () => {
    const { driver, memory, oracle } = makeOracle({ prepare: (d) => d.hold("persists") });
    const served: unknown[] = [];
    oracle.subscribe((state) => state.kind === "Serving" && served.push(state));
    await until(() => driver.persistCalls.length === 1);
    // The store still takes the bound: only this node knows that it no longer leads.
    memory.setLeadership({ kind: "Unknown" });
    await turnEventLoop();
    memory.setLeadership(leaderAt(1n));
    memory.setLeadership({ kind: "Unknown" });
    driver.persistFaults.push({ kind: "Answers", highWaterMs: START_MS + 5000 });
    driver.release();
    await turnEventLoop();
    expect([served, oracle.state]).toEqual([[], { kind: "NotServing" }]);
  });

  test("never serves at an epoch that has been overtaken", async () => {
    const { driver, memory, oracle } = makeOracle({ prepare: (d) => d.hold() });
    const served: unknown[] = [];
    oracle.subscribe((state) => state.kind === "Serving" && served.push(state.epoch));
    await until(() => driver.loadCalls === 1);
    memory.setLeadership(leaderAt(2n));
    await until(() => driver.loadCalls === 2);
    driver.release();
    await until(() => oracle.state.kind === "Serving");
    expect(served).toEqual([2n]);
  });

  test("an exception once it serves closes the gate again", async () => {
    const { oracle, store } = makeOracle();
    oracle.subscribe((state) => {
      if (state.kind === "Serving") throw new Error("a listener failed");
    });
    expect(await oracle.finished).toEqual({
      ok: false,
      error: { kind: "WatchPanic", message: "Error: a listener failed" },
    });
    expect(oracle.state).toEqual({ kind: "NotServing" });
    expect(store.highWaterMs).toBe(START_MS + 1000);
  });

  test("runs again for a new term without a gap", async () => {
    const { memory, oracle } = await makeServingOracle();
    const before = await first(oracle);
    memory.setLeadership(leaderAt(9n));
    await until(() => oracle.state.kind === "Serving" && oracle.state.epoch === 9n);
    expect(await first(oracle)).toBeGreaterThan(before);
    expect(oracle.metrics.counter("tsoracle.leader_transition.total").value).toBe(2);
  });

  test("a driver whose epochs go back is not trusted", async () => {
    const { memory, oracle } = await makeServingOracle({ leadership: leaderAt(5n) });
    memory.setLeadership(leaderAt(4n));
    expect(await oracle.finished).toMatchObject({ ok: false, error: { kind: "WatchPanic" } });
    expect(oracle.state).toEqual({ kind: "NotServing" });
  });
});
