// Extending the window is the only thing a caller can ever wait for. Done once per caller it would
// stall a fleet; done without its checks it would serve a window that is not durable.
import { Epoch, MAX_GRANT_COUNT, Timestamp, WindowGrant } from "@gossip/tso";
import { describe, expect, test, vi } from "vitest";
import type { Fault } from "../testing/faulty-driver.ts";
import { turnEventLoop } from "../testing/manual-time.ts";
import { until } from "../until.fixture.ts";
import { first, makeServingOracle, START_MS } from "./oracle.fixture.ts";

// Nothing here waits on a clock; a busy machine may still be slow.
vi.setConfig({ testTimeout: 60_000 });

/** With no low-water mark in reach: the whole first window is one millisecond. */
const EDGE = { failoverAdvanceMs: 0, windowAheadMs: 100 };

describe("an exhausted window", () => {
  test("fifty callers cost one persist, and all are served", async () => {
    const { driver, oracle, time } = await makeServingOracle(EDGE);
    time.stepClock(1);
    const answers = await Promise.all(Array.from({ length: 50 }, async () => oracle.getTs(1)));
    expect(answers.every((answer) => answer.ok)).toBe(true);
    expect([driver.persistCalls.length, oracle.metrics.counter("tsoracle.window.waits.total").value]).toEqual([2, 50]);
    expect(new Set(answers.map((answer) => answer.ok && WindowGrant.first(answer.value))).size).toBe(50);
  });

  test("more than one extension can hold is served by the next ones, in order", async () => {
    const { oracle, time } = await makeServingOracle({ failoverAdvanceMs: 0, windowAheadMs: 3, maxLeadMs: 60 });
    time.stepClock(1);
    const answers = await Promise.all(Array.from({ length: 20 }, async () => oracle.getTs(MAX_GRANT_COUNT)));
    const starts = answers.map((answer) => (answer.ok ? answer.value.physicalMs : 0));
    expect(starts).toEqual(Array.from({ length: 20 }, (_, index) => START_MS + 1 + index));
  });

  test("requests that still fit are served while the persist is under way", async () => {
    const { driver, oracle, time } = await makeServingOracle(EDGE);
    driver.hold();
    time.stepClock(1);
    const late = oracle.getTs(1);
    time.stepClock(-1);
    expect(oracle.getTs(1)).toMatchObject({ ok: true, value: { physicalMs: START_MS } });
    driver.release();
    expect(await late).toMatchObject({ ok: true, value: { physicalMs: START_MS + 1 } });
  });

  test("a clock that moves on every reading is served with no window ahead at all", async () => {
    const { oracle, time } = await makeServingOracle({ failoverAdvanceMs: 0, windowAheadMs: 0 });
    for (let call = 0; call < 20; call++) {
      time.stepClock(1);
      expect(await oracle.getTs(1)).toMatchObject({ ok: true });
    }
  });

  test("a caller that joins with a later clock than the persist was for gets its own", async () => {
    const { driver, oracle, time } = await makeServingOracle({ failoverAdvanceMs: 0, windowAheadMs: 5 });
    driver.hold();
    time.stepClock(1);
    const early = oracle.getTs(1);
    time.stepClock(1000);
    const late = oracle.getTs(1);
    driver.release();
    expect(await early).toMatchObject({ ok: true });
    expect(await late).toMatchObject({ ok: true, value: { physicalMs: START_MS + 1001 } });
  });
});

describe("a persist that fails", () => {
  async function failing(fault: Fault) {
    const fixture = await makeServingOracle(EDGE);
    fixture.driver.persistFaults.push(fault);
    fixture.time.stepClock(1);
    const answer = await fixture.oracle.getTs(1);
    return { ...fixture, answer };
  }

  test("NotLeader steps down with a hint that names no epoch, and later requests leave the driver alone", async () => {
    const { answer, driver, oracle } = await failing({ kind: "NotLeader", observed: Epoch.fromRaw(8n) });
    expect(answer).toEqual({ ok: false, error: { kind: "NotLeader" } });
    expect(oracle.state).toEqual({ kind: "NotServing" });
    const callsBefore = driver.persistCalls.length;
    expect(await oracle.getTs(1)).toEqual({ ok: false, error: { kind: "NotLeader" } });
    expect(driver.persistCalls.length).toBe(callsBefore);
    expect(oracle.metrics.counter("tsoracle.not_leader.total").value).toBe(2);
  });

  test("Fenced steps down with a hint that carries the new epoch", async () => {
    const { answer, oracle } = await failing({
      kind: "Fenced",
      expected: Epoch.fromRaw(1n),
      current: Epoch.fromRaw(8n),
    });
    expect(answer).toEqual({ ok: false, error: { kind: "NotLeader", leaderEpoch: 8n } });
    expect(oracle.state).toEqual({ kind: "NotServing", leaderEpoch: 8n });
  });

  test("a transient failure is passed on and serving goes on", async () => {
    const { answer, oracle } = await failing({ kind: "TransientDriver", reason: "timeout" });
    expect(answer).toEqual({ ok: false, error: { kind: "TransientDriver", reason: "timeout" } });
    expect([oracle.state.kind, oracle.isReady]).toEqual(["Serving", true]);
    expect(await oracle.getTs(1)).toMatchObject({ ok: true });
  });

  test("a permanent failure is passed on and serving goes on, but the node calls itself unready", async () => {
    const { answer, events, oracle } = await failing({ kind: "PermanentDriver", reason: "EIO" });
    expect(events).toEqual([{ kind: "PersistFailed", reason: "EIO" }]);
    expect(answer).toEqual({ ok: false, error: { kind: "PermanentDriver", reason: "EIO" } });
    expect([oracle.state.kind, oracle.isReady]).toEqual(["Serving", false]);
    expect(await oracle.getTs(1)).toMatchObject({ ok: true });
    expect(oracle.isReady).toBe(true);
  });

  test("a driver that throws has failed for good", async () => {
    const { answer, oracle } = await failing({ kind: "Throws" });
    expect(answer).toEqual({
      ok: false,
      error: { kind: "PermanentDriver", reason: "Error: an injected exception" },
    });
    expect(oracle.state.kind).toBe("Serving");
  });

  test("a bound that does not advance leaves the window exhausted, and serving goes on", async () => {
    const { answer, oracle } = await failing({ kind: "Answers", highWaterMs: 5 });
    expect(answer).toEqual({ ok: false, error: { kind: "WindowExhausted" } });
    expect(oracle.state.kind).toBe("Serving");
    expect(oracle.metrics.counter("tsoracle.window.extensions.ignored.not_advanced.total").value).toBe(1);
  });

  test("a bound that is none at all is refused", async () => {
    const { answer } = await failing({ kind: "Answers", highWaterMs: Number.NaN });
    expect(answer).toMatchObject({ ok: false, error: { kind: "PhysicalMsOutOfRange" } });
  });

  test("every caller of the stampede gets the error, and the next one tries again", async () => {
    const { driver, oracle, time } = await makeServingOracle(EDGE);
    driver.persistFaults.push({ kind: "TransientDriver", reason: "timeout" });
    time.stepClock(1);
    const answers = await Promise.all(Array.from({ length: 9 }, async () => oracle.getTs(1)));
    expect(answers.filter((answer) => !answer.ok && answer.error.kind === "TransientDriver").length).toBe(9);
    expect(driver.persistCalls.length).toBe(2);
    expect(await oracle.getTs(1)).toMatchObject({ ok: true });
  });

  test("a persist that returns after the leadership is dropped by its epoch", async () => {
    const { driver, memory, oracle, time } = await makeServingOracle(EDGE);
    driver.hold();
    time.stepClock(1);
    const answer = oracle.getTs(1);
    await turnEventLoop();
    memory.setLeadership({ kind: "Unknown" });
    await until(() => oracle.state.kind === "NotServing");
    driver.release();
    expect(await answer).toEqual({ ok: false, error: { kind: "NotLeader" } });
  });
});

describe("extension ahead of need", () => {
  test("starts when half of the window is used, and no caller waits for it", async () => {
    const { driver, oracle, time } = await makeServingOracle({ failoverAdvanceMs: 1000, windowAheadMs: 3000 });
    time.stepClock(499);
    expect(oracle.getTs(1)).toMatchObject({ ok: true });
    await turnEventLoop();
    expect(driver.persistCalls.length).toBe(1);
    time.stepClock(1);
    expect(oracle.getTs(1)).toMatchObject({ ok: true });
    expect(oracle.getTs(1)).toMatchObject({ ok: true });
    await turnEventLoop();
    expect(driver.persistCalls.map((call) => call.atLeastMs - START_MS)).toEqual([1000, 1000 + 1 + 3000]);
  });

  test("a caller is never made to wait while time moves a millisecond at a time, at one persist a window", async () => {
    const { driver, oracle, time } = await makeServingOracle();
    for (let ms = 0; ms < 30_000; ms += 10) {
      time.stepClock(10);
      expect(oracle.getTs(5)).not.toBeInstanceOf(Promise);
      await Promise.resolve();
      await Promise.resolve();
      await turnEventLoop();
    }
    expect(oracle.metrics.counter("tsoracle.window.waits.total").value).toBe(0);
    // The fence, then one every three seconds.
    expect(driver.persistCalls.length).toBeLessThanOrEqual(12);
    expect(driver.persistCalls.length).toBeGreaterThanOrEqual(10);
  });

  test("one that fails is tried again a little later, not at every request", async () => {
    const { driver, oracle, time } = await makeServingOracle();
    driver.everyPersist = { kind: "TransientDriver", reason: "timeout" };
    for (let ms = 0; ms < 500; ms += 1) {
      time.stepClock(1);
      for (let call = 0; call < 5; call++) expect(oracle.getTs(1)).toMatchObject({ ok: true });
      await turnEventLoop();
    }
    time.stepClock(499);
    await first(oracle);
    await turnEventLoop();
    expect(driver.persistCalls.length).toBeLessThanOrEqual(3);
    expect(oracle.state.kind).toBe("Serving");
  });

  test("after an idle hour the window starts at the clock, not at the old bound", async () => {
    const { driver, oracle, time } = await makeServingOracle();
    await time.advance(3_600_000);
    expect(Timestamp.physicalMs(await first(oracle))).toBe(START_MS + 3_600_000);
    await first(oracle);
    await turnEventLoop();
    expect(driver.persistCalls.length).toBe(2);
  });
});
