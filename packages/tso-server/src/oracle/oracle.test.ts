// What a caller of the oracle sees: order of refusals, the deadline that keeps a deposed leader from
// answering, the caps on time, and a shutdown after which no client is served.
import { InvariantViolation } from "@gossip/stdx";
import { MAX_GRANT_COUNT, Timestamp } from "@gossip/tso";
import { describe, expect, test } from "vitest";
import { leaderAt } from "../driver/leader-state.ts";
import { MemoryDriver } from "../driver/memory-driver.ts";
import { turnEventLoop } from "../testing/manual-time.ts";
import { Oracle } from "./oracle.ts";
import { until } from "../until.fixture.ts";
import { first, makeOracle, makeServingOracle, START_MS } from "./oracle.fixture.ts";

describe("getTs", () => {
  test("a bad count is refused before anything else is asked", async () => {
    const { oracle } = makeOracle({ leadership: { kind: "Unknown" } });
    for (const count of [0, -1, 1.5, MAX_GRANT_COUNT + 1]) {
      expect(await oracle.getTs(count)).toEqual({ ok: false, error: { kind: "InvalidCount", count } });
    }
  });

  test("answers many requests from one look at the clock", async () => {
    const { oracle } = await makeServingOracle();
    const answers = oracle.getTsMany([1, 0, 5]);
    expect(answers).toMatchObject([
      { ok: true, value: { physicalMs: START_MS, logicalStart: 0, count: 1, epoch: 1n } },
      { ok: false, error: { kind: "InvalidCount" } },
      { ok: true, value: { physicalMs: START_MS, logicalStart: 1, count: 5 } },
    ]);
  });

  test("counts every request once, under its published name", async () => {
    const { oracle } = await makeServingOracle();
    await Promise.all(oracle.getTsMany([1, 0, 5]).map(async (answer) => answer));
    const value = (name: Parameters<typeof oracle.metrics.counter>[0]) => oracle.metrics.counter(name).value;
    expect([
      value("tsoracle.get_ts.requests.total"),
      value("tsoracle.get_ts.success.total"),
      value("tsoracle.get_ts.timestamps_issued"),
      value("tsoracle.not_leader.total"),
    ]).toEqual([3, 2, 6, 0]);
  });
});

describe("the serving deadline", () => {
  test("past it the grant is thrown away and the caller sent elsewhere; a renewed one serves again", async () => {
    let untilMs = 1000;
    const { oracle, time } = await makeServingOracle({ leadership: leaderAt(1n, () => untilMs) });
    const before = await first(oracle);
    await time.advance(999);
    expect([oracle.isReady, (await oracle.getTs(1)).ok]).toEqual([true, true]);
    await time.advance(1);
    expect([oracle.isReady, await oracle.getTs(1)]).toEqual([false, { ok: false, error: { kind: "NotLeader" } }]);
    untilMs = 2000;
    expect(oracle.isReady).toBe(true);
    expect(await first(oracle)).toBeGreaterThan(before);
  });

  test("it is looked at after the grant: a pause in between is noticed", async () => {
    // The deadline passes while the request is being granted, as when the process is stopped there.
    let reads = 0;
    const { oracle } = await makeServingOracle({ leadership: leaderAt(1n, () => (reads++ === 0 ? -1 : 1e9)) });
    expect(await oracle.getTs(1)).toEqual({ ok: false, error: { kind: "NotLeader" } });
    expect(await oracle.getTs(1)).toMatchObject({ ok: true, value: { logicalStart: 1 } });
  });

  test("callers who waited for an extension are held to it too", async () => {
    const { driver, oracle, time } = await makeServingOracle({
      failoverAdvanceMs: 0,
      leadership: leaderAt(1n, () => 500),
    });
    driver.hold();
    time.stepClock(1);
    const answer = oracle.getTs(1);
    await time.advance(500);
    driver.release();
    expect(await answer).toEqual({ ok: false, error: { kind: "NotLeader" } });
  });
});

describe("the caps on time", () => {
  test("a leap into the future is not believed, reported, and never made durable", async () => {
    const { events, oracle, store, time } = await makeServingOracle({ maxForwardStepMs: 3_600_000 });
    time.stepClock(86_400_000);
    await time.advance(5000);
    const physicalMs = Timestamp.physicalMs(await first(oracle));
    expect(physicalMs).toBe(START_MS + 5000);
    expect(store.highWaterMs).toBeLessThan(START_MS + 60_000);
    for (let call = 0; call < 10; call++) await first(oracle);
    expect(events).toEqual([{ kind: "ClockRefused", readingMs: START_MS + 86_405_000, usedMs: START_MS + 5000 }]);
    expect(oracle.metrics.counter("tsoracle.clock.refused.total").value).toBe(11);
    await time.advance(60_000);
    await first(oracle);
    expect(events.length).toBe(2);
  });

  test("a step back is followed by service, and the way forth again is believed", async () => {
    const { oracle, time } = await makeServingOracle();
    const before = await first(oracle);
    time.stepClock(-7_200_000);
    const back = await first(oracle);
    time.stepClock(7_200_000);
    await time.advance(10);
    const again = await first(oracle);
    expect([back > before, again > back, Timestamp.physicalMs(again)]).toEqual([true, true, START_MS + 10]);
  });

  test("issued time may lead the clock only so far: then callers wait for the clock", async () => {
    const { oracle, store, time } = await makeServingOracle({
      failoverAdvanceMs: 0,
      windowAheadMs: 5,
      maxLeadMs: 10,
      leadWaitMs: 50,
    });
    for (let ms = 0; ms <= 10; ms++) expect(await oracle.getTs(MAX_GRANT_COUNT)).toMatchObject({ ok: true });
    const waiting = oracle.getTs(MAX_GRANT_COUNT);
    await turnEventLoop();
    expect(store.highWaterMs).toBe(START_MS + 10);
    await time.advance(1);
    expect(await waiting).toMatchObject({ ok: true, value: { physicalMs: START_MS + 11 } });
  });

  test("and are refused where the clock does not come", async () => {
    const { oracle, store, time } = await makeServingOracle({
      failoverAdvanceMs: 0,
      windowAheadMs: 5,
      maxLeadMs: 10,
      leadWaitMs: 50,
    });
    for (let ms = 0; ms <= 10; ms++) expect((await oracle.getTs(MAX_GRANT_COUNT)).ok).toBe(true);
    time.stepClock(-1000);
    const waiting = [1, 2].map(async (count) => oracle.getTs(count));
    await time.advance(50);
    expect(await Promise.all(waiting)).toEqual(
      [1, 2].map(() => ({ ok: false, error: { kind: "TimeRunaway", maxLeadMs: 10 } })),
    );
    expect(store.highWaterMs).toBe(START_MS + 10);
    expect(oracle.metrics.counter("tsoracle.clock.runaway.total").value).toBe(2);
    expect(oracle.state.kind).toBe("Serving");
  });

  test("a bound that was ahead of the clock before the fence does not count as running away", async () => {
    const { oracle } = await makeServingOracle({ priorMs: START_MS + 60_000, maxLeadMs: 3001 });
    expect(Timestamp.physicalMs(await first(oracle))).toBe(START_MS + 60_001);
    for (let ms = 0; ms < 2500; ms++) expect((await oracle.getTs(MAX_GRANT_COUNT)).ok).toBe(true);
  });
});

describe("the life of an oracle", () => {
  test("shutdown closes the gate before it waits for anything", async () => {
    const { oracle } = await makeServingOracle();
    const ending = oracle.shutdown();
    expect(oracle.state).toEqual({ kind: "NotServing" });
    expect(oracle.getTs(1)).toMatchObject({ error: { kind: "NotLeader" } });
    expect(await ending).toEqual({ ok: true, value: undefined });
    expect(await oracle.finished).toEqual({ ok: true, value: undefined });
  });

  test("shutdown waits for a fence that is under way, for as long as its grace", async () => {
    const { driver, oracle, time } = makeOracle({ prepare: (d) => d.hold() });
    await until(() => driver.loadCalls === 1);
    let hasEnded = false;
    const ending = oracle.shutdown({ graceMs: 2000 }).then((result) => {
      hasEnded = true;
      return result;
    });
    await time.advance(1999);
    expect(hasEnded).toBe(false);
    await time.advance(1);
    expect(await ending).toEqual({ ok: true, value: undefined });
    expect(oracle.metrics.counter("tsoracle.shutdown.watch_aborted.total").value).toBe(1);
    driver.release();
    expect(await oracle.finished).toEqual({ ok: true, value: undefined });
    expect(driver.persistCalls).toEqual([]);
  });

  test("a stream of events that ends is an error, and the gate is closed", async () => {
    const { memory, oracle } = await makeServingOracle();
    await memory.close();
    expect(await oracle.finished).toEqual({ ok: false, error: { kind: "WatchStreamClosed" } });
    expect(oracle.state).toEqual({ kind: "NotServing" });
    expect(await oracle.shutdown()).toEqual({ ok: false, error: { kind: "WatchStreamClosed" } });
  });

  test("tells its listeners of every change until they stop listening", async () => {
    const { memory, oracle } = await makeServingOracle();
    const heard: string[] = [];
    const stop = oracle.subscribe((state) => heard.push(state.kind));
    memory.setLeadership({ kind: "Unknown" });
    await turnEventLoop();
    memory.setLeadership(leaderAt(2n));
    await until(() => oracle.state.kind === "Serving");
    stop();
    memory.setLeadership({ kind: "Unknown" });
    await until(() => oracle.state.kind === "NotServing");
    expect(heard).toEqual(["NotServing", "NotServing", "Serving"]);
  });

  test("runs on the system's own time when given none", async () => {
    const oracle = new Oracle({ driver: new MemoryDriver() });
    await until(() => oracle.isReady);
    const before = Date.now();
    expect(Timestamp.physicalMs(await first(oracle))).toBeGreaterThanOrEqual(before - 1);
    expect((await oracle.shutdown()).ok).toBe(true);
  });

  test.each([
    { windowAheadMs: -1 },
    { windowAheadMs: 0.5 },
    { maxLeadMs: 3000 },
    { maxForwardStepMs: 0 },
    { maxWaiting: 0 },
    { failoverAdvanceMs: Number.NaN },
  ])("does not start with %j", (options) => {
    expect(() => new Oracle({ driver: new MemoryDriver(), ...options })).toThrow(InvariantViolation);
  });
});
