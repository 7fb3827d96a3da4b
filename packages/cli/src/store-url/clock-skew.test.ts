// A clock that runs ahead by more than a lease takes the shards of every other worker, again and again, and all of them
// do the same work.
import type { ClockSkew } from "@gossip/coordination/internal";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { judgeSkew, watchSkew } from "./clock-skew.ts";

const bounds = { leaseMs: 10_000, hasOracle: false };

describe("judgeSkew", () => {
  test.each([
    [undefined, "fine"],
    [{ skewMs: 2400, uncertaintyMs: 0 }, "fine"],
    [{ skewMs: -2600, uncertaintyMs: 200 }, "fine"],
    [{ skewMs: -2800, uncertaintyMs: 200 }, "warning"],
    [{ skewMs: 10_100, uncertaintyMs: 200 }, "warning"],
    [{ skewMs: 10_300, uncertaintyMs: 200 }, "error"],
    [{ skewMs: -60_000, uncertaintyMs: 1 }, "error"],
  ])("%j is %s", (skew, verdict) => {
    const judged = judgeSkew(skew, bounds);
    expect(judged.ok ? (judged.value === undefined ? "fine" : "warning") : "error").toBe(verdict);
    expect(judgeSkew(skew, { ...bounds, hasOracle: true })).toEqual({ ok: true, value: undefined });
  });

  test("says in which direction, and what to do", () => {
    expect(judgeSkew({ skewMs: -60_000, uncertaintyMs: 1 }, bounds)).toMatchObject({
      error: {
        kind: "ClockSkewed",
        message: expect.stringMatching(/^this machine's clock is 1 min behind .* --tso; /) as string,
      },
    });
  });
});

describe("watchSkew", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("warns once, ends the work once, and stops on request", async () => {
    const skews: ClockSkew[] = [0, 3000, 3100, 0, 3000, 20_000, 20_000].map((skewMs) => ({ skewMs, uncertaintyMs: 0 }));
    const heard: string[] = [];
    const stop = watchSkew({
      ...bounds,
      measure: async () => skews.shift(),
      onWarning: () => heard.push("warning"),
      onError: ({ kind }) => heard.push(kind),
    });
    await vi.advanceTimersByTimeAsync(59_999);
    expect(skews).toHaveLength(7);
    await vi.advanceTimersByTimeAsync(7 * 60_000);
    expect(heard).toEqual(["warning", "warning", "ClockSkewed"]);
    stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
