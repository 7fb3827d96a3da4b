// Ten thousand clients that return at the same moment stop a server that has just come back.
import { expect, test } from "vitest";
import { pauseMs, type Patience } from "./patience.ts";

const patience = (random: () => number): Patience => ({
  patienceMs: 30_000,
  replyTimeoutMs: 10_000,
  firstPauseMs: 20,
  maxPauseMs: 1_000,
  nowMs: () => 0,
  random,
  sleep: () => Promise.resolve(),
});

test("pauses double up to a limit, and are spread over half of it", () => {
  const range = (attempt: number) =>
    [0, 1].map((drawn) =>
      pauseMs(
        patience(() => drawn),
        attempt,
      ),
    );
  expect(range(0)).toEqual([10, 20]);
  expect(range(3)).toEqual([80, 160]);
  expect(range(50)).toEqual([500, 1_000]);
});

test("clients that were all asked to wait a second return over half a second, and none too early", () => {
  const pauses = Array.from({ length: 1_000 }, (_, client) =>
    pauseMs(
      patience(() => client / 1_000),
      0,
      1_000,
    ),
  );
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1_000);
  const tenths = new Set(pauses.map((ms) => Math.floor((ms - 1_000) / 50)));
  expect(tenths.size).toBeGreaterThanOrEqual(10);
});
