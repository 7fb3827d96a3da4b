// Where issued time leads the clock as far as it may, requests wait for the clock. One caller that asks for far more than
// a clock can give must not make the others wait, and no request may wait for longer than `leadWaitMs`.
import { MAX_GRANT_COUNT } from "@gossip/tso";
import { describe, expect, test } from "vitest";
import { turnEventLoop } from "../testing/manual-time.ts";
import { makeServingOracle, type OracleFixture } from "./oracle.fixture.ts";
import type { Answer } from "./answer.ts";
import { MAX_ANSWERS_PER_TURN } from "./oracle-options.ts";

const LEAD_WAIT_MS = 100;
const CAPPED = { failoverAdvanceMs: 0, windowAheadMs: 5, maxLeadMs: 10, leadWaitMs: LEAD_WAIT_MS };

/** An oracle whose issued time leads the clock as far as it may. */
async function cappedOracle(options: Parameters<typeof makeServingOracle>[0] = {}): Promise<OracleFixture> {
  const fixture = await makeServingOracle({ ...CAPPED, ...options });
  for (let ms = 0; ms <= CAPPED.maxLeadMs; ms++) {
    const answer = await fixture.oracle.getTs(MAX_GRANT_COUNT);
    expect(answer.ok).toBe(true);
  }
  return fixture;
}

interface Asked {
  answer: Answer | undefined;
  /** Simulated time from the question to its answer. */
  waitedMs: number;
}

/** Ask, and note when the answer came. */
function ask({ oracle, time }: OracleFixture, count: number, caller?: object): Asked {
  const askedAtMs = time.monotonicClock.nowMs();
  const asked: Asked = { answer: undefined, waitedMs: Number.NaN };
  void Promise.resolve(oracle.getTs(count, caller)).then((answer) => {
    asked.answer = answer;
    asked.waitedMs = time.monotonicClock.nowMs() - askedAtMs;
  });
  return asked;
}

async function pass({ time }: OracleFixture, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed++) await time.advance(1);
  await turnEventLoop();
}

describe("a request that waits for the clock", () => {
  test("waits at most leadWaitMs, however many are ahead of it", async () => {
    const fixture = await cappedOracle();
    const caller = {};
    const asked = Array.from({ length: 2000 }, () => ask(fixture, MAX_GRANT_COUNT, caller));
    asked.push(ask(fixture, 1, caller));
    await pass(fixture, LEAD_WAIT_MS);
    expect(Math.max(...asked.map(({ waitedMs }) => waitedMs))).toBe(LEAD_WAIT_MS);
    // A full-size request takes one millisecond of time, so that many were granted and the others refused.
    expect(asked.filter(({ answer }) => answer!.ok).length).toBe(LEAD_WAIT_MS);
    expect(asked.at(-1)!.answer).toEqual({ ok: false, error: { kind: "TimeRunaway", maxLeadMs: CAPPED.maxLeadMs } });
  });

  test("waits no longer where every persist takes several milliseconds", async () => {
    const fixture = await cappedOracle();
    const { driver } = fixture;
    const asked = Array.from({ length: 500 }, () => ask(fixture, MAX_GRANT_COUNT));
    for (let round = 0; round < LEAD_WAIT_MS / 5; round++) {
      driver.hold("persists");
      await pass(fixture, 5);
      driver.release();
      await turnEventLoop();
    }
    await pass(fixture, 5);
    // A persist that is in flight when its time is up is waited for: the request may be granted from it.
    expect(Math.max(...asked.map(({ waitedMs }) => waitedMs))).toBeLessThanOrEqual(LEAD_WAIT_MS + 5);
    expect(asked.every(({ answer }) => answer !== undefined)).toBe(true);
  });

  test("is not refused for a slow persist while issued time is within its lead", async () => {
    const fixture = await makeServingOracle({ ...CAPPED, maxLeadMs: 10_000, windowAheadMs: 1000 });
    fixture.driver.hold("persists");
    fixture.time.stepClock(1);
    const asked = ask(fixture, 1);
    await pass(fixture, 5 * LEAD_WAIT_MS);
    expect(asked.answer).toBeUndefined();
    fixture.driver.release();
    await turnEventLoop();
    expect(asked.answer).toMatchObject({ ok: true });
  });

  test("is refused at once where leadWaitMs is 0", async () => {
    const fixture = await cappedOracle({ leadWaitMs: 0 });
    const asked = ask(fixture, 1);
    await turnEventLoop();
    expect([asked.waitedMs, asked.answer?.ok]).toEqual([0, false]);
  });
});

/** Let `ms` pass, and return the most requests that were answered in one turn of the event loop. */
async function mostInOneTurn(fixture: OracleFixture, ms: number): Promise<number> {
  const answered = fixture.oracle.metrics.counter("tsoracle.get_ts.requests.total");
  let [most, before, isOver] = [0, answered.value, false];
  const watch = (): void => {
    most = Math.max(most, answered.value - before);
    before = answered.value;
    if (!isOver) setImmediate(watch);
  };
  watch();
  await pass(fixture, ms);
  isOver = true;
  return most;
}

describe("many requests that wait", () => {
  test("are refused in portions when their time is up, and all of them at that time", async () => {
    const fixture = await cappedOracle();
    const asked = Array.from({ length: 20_000 }, () => ask(fixture, MAX_GRANT_COUNT));
    await pass(fixture, LEAD_WAIT_MS - 1);
    expect(await mostInOneTurn(fixture, 1)).toBeLessThanOrEqual(2 * MAX_ANSWERS_PER_TURN);
    expect(Math.max(...asked.map(({ waitedMs }) => waitedMs))).toBe(LEAD_WAIT_MS);
    expect(asked.filter(({ answer }) => answer!.ok).length).toBe(LEAD_WAIT_MS);
  });

  test.each([
    { outcome: "granted", fault: undefined },
    { outcome: "refused", fault: { kind: "TransientDriver", reason: "away" } as const },
  ])("are $outcome in portions when the window was extended or could not be", async ({ outcome, fault }) => {
    const fixture = await makeServingOracle({ ...CAPPED, maxLeadMs: 10_000, windowAheadMs: 1000 });
    fixture.driver.hold("persists");
    fixture.time.stepClock(5000);
    fixture.driver.everyPersist = fault;
    const asked = Array.from({ length: 20_000 }, () => ask(fixture, 1));
    fixture.driver.release();
    expect(await mostInOneTurn(fixture, 1)).toBeLessThanOrEqual(MAX_ANSWERS_PER_TURN);
    expect(new Set(asked.map(({ answer }) => answer?.ok))).toEqual(new Set([outcome === "granted"]));
  });
});

describe("callers that wait together", () => {
  test("a caller with one small request is served ahead of another's thousands of large ones", async () => {
    const fixture = await cappedOracle();
    const [greedy, modest] = [{}, {}];
    for (let request = 0; request < 20_000; request++) ask(fixture, MAX_GRANT_COUNT, greedy);
    for (let call = 0; call < 60; call++) {
      const asked = ask(fixture, 1, modest);
      await pass(fixture, 3);
      expect(asked.answer).toMatchObject({ ok: true });
      expect(asked.waitedMs).toBeLessThanOrEqual(2);
    }
  });

  test("share time evenly, whether they ask for much at a time or for little", async () => {
    const fixture = await cappedOracle();
    const sizes = [MAX_GRANT_COUNT, MAX_GRANT_COUNT / 4, MAX_GRANT_COUNT / 64];
    const asked = sizes.map((size) => {
      const caller = {};
      return Array.from({ length: (20 * MAX_GRANT_COUNT) / size }, () => ask(fixture, size, caller));
    });
    await pass(fixture, 30);
    const shares = asked.map((requests, index) => {
      const granted = requests.filter(({ answer }) => answer?.ok === true).length;
      return (granted * sizes[index]!) / MAX_GRANT_COUNT;
    });
    expect(shares).toEqual([10, 10, 10]);
  });

  test("each request is answered once, in the caller's order", async () => {
    const fixture = await cappedOracle();
    const order: string[] = [];
    const callers = ["a", "b", "c"].map((name) => ({ name }));
    for (let request = 0; request < 4; request++)
      for (const caller of callers)
        void Promise.resolve(fixture.oracle.getTs(MAX_GRANT_COUNT, caller)).then(() =>
          order.push(`${caller.name}${request}`),
        );
    await pass(fixture, 12);
    expect(order).toEqual(["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"]);
    expect(fixture.oracle.metrics.counter("tsoracle.get_ts.success.total").value).toBe(CAPPED.maxLeadMs + 1 + 12);
  });
});

describe("the number of requests that wait", () => {
  test("is bounded: more are refused at once, but a caller keeps its equal share", async () => {
    const fixture = await cappedOracle({ maxWaiting: 10 });
    const [greedy, modest] = [{}, {}];
    const many = Array.from({ length: 12 }, () => ask(fixture, MAX_GRANT_COUNT, greedy));
    const few = Array.from({ length: 6 }, () => ask(fixture, 1, modest));
    await turnEventLoop();
    const overloaded = { ok: false, error: { kind: "Overloaded", maxWaiting: 10 } };
    expect(many.map(({ answer }) => answer)).toEqual([
      ...Array.from({ length: 10 }, () => undefined),
      overloaded,
      overloaded,
    ]);
    expect(few.map(({ answer }) => answer)).toEqual([...Array.from({ length: 5 }, () => undefined), overloaded]);
    await pass(fixture, LEAD_WAIT_MS);
    expect([...many, ...few].every(({ answer }) => answer !== undefined)).toBe(true);
  });
});
