// Commits wait for opens, and opens for commits. One that waits for a process that was stopped waits forever, and one that gives up on a process
// that has only just come lets both go on at the same time.
import { fc, test } from "@fast-check/vitest";
import { expect } from "vitest";
import { Patience } from "./patience.ts";

const LIMIT_MS = 50;
const GAP_MS = 20;

/** Looks: how long after the one before, and who is there. */
const looks = fc.array(fc.record({ afterMs: fc.nat(30), others: fc.uniqueArray(fc.constantFrom("a", "b", "c")) }));

test.prop([looks])("waits exactly while one is there that was not there at each look of the last LIMIT_MS", (given) => {
  const patience = new Patience({ limitMs: LIMIT_MS, gapMs: GAP_MS });
  /** For each, when it was seen first in the looks without a gap until now. */
  const sinceMs = new Map<string, number>();
  let nowMs = 0;
  for (const { afterMs, others } of given) {
    nowMs += afterMs;
    for (const other of ["a", "b", "c"] as const) {
      if (!others.includes(other)) sinceMs.delete(other);
      else if (!sinceMs.has(other) || afterMs > GAP_MS) sinceMs.set(other, nowMs);
    }
    const isWorth = others.some((other) => nowMs - sinceMs.get(other)! < LIMIT_MS);
    expect(patience.isWorthWaiting(others, nowMs)).toBe(isWorth);
  }
});

test("waits for no one where no one is", () => {
  expect(new Patience({ limitMs: 1, gapMs: 1 }).isWorthWaiting([], 0)).toBe(false);
});
