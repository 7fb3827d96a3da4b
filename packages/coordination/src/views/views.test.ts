// What an operator reads decides what they do. A count that misses a state, or a filter that lets one through, sends them
// after the wrong shard.

import { ShardStatus } from "@gossip/contracts";
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { at, fence, holder, makeHeldShard, makeShard, range, shardId, text, time } from "../kernel/world.fixture.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import { estimateProgress } from "./progress-estimate.ts";
import { evaluateRunTerminal, RunProgress } from "./run-progress.ts";
import { ShardFilter } from "./shard-filter.ts";
import { snapshotOf } from "./shard-snapshot.ts";
import { summarizeShard } from "./shard-summary.ts";

const NOW = time(50);
const derived = shardId((1n << 63n) | 1n);
const held = makeHeldShard({ cursor: at("f") });
const lapsed = makeHeldShard({ lease: holder({ deadline: NOW }), cursor: at("d") });
const free = makeShard({ shard: derived, parent: shardId(10) });
const parked = makeShard({ status: "Parked", parkReason: "NotFound", cursor: at("b") });
const done = makeShard({ status: "Done" });
const split = makeShard({ status: "Split", spawned: [derived] });

describe("RunProgress", () => {
  test("counts every state, and the watermark over active shards alone", () => {
    expect(RunProgress.of([held, lapsed, free, parked, done, split], NOW)).toEqual({
      total: 6,
      active: 3,
      done: 1,
      split: 1,
      parked: 1,
      leased: 1,
      watermark: text("d"),
    });
    expect(RunProgress.of([], NOW)).toEqual(RunProgress.NONE);
  });

  test("the total is the sum of the states, and what is leased is active", () => {
    const record = fc.constantFrom(held, lapsed, free, parked, done, split);
    fc.assert(
      fc.property(fc.array(record), (records) => {
        const { total, active, done: finished, split: replaced, parked: aside, leased } = RunProgress.of(records, NOW);
        expect(active + finished + replaced + aside).toBe(total);
        expect(leased).toBeLessThanOrEqual(active);
      }),
    );
  });

  test.each([
    [[done, split], true, true, false, "AllDone"],
    [[done, parked], true, false, true, "HasFailures"],
    [[done, parked, free], false, false, true, "StillActive"],
    [[held], false, false, false, "StillActive"],
  ] as const)("case %#", (records, isSettled, isSuccess, hasFailures, verdict) => {
    const progress = RunProgress.of(records, NOW);
    expect(RunProgress.isSettled(progress)).toBe(isSettled);
    expect(RunProgress.isSuccess(progress)).toBe(isSuccess);
    expect(RunProgress.hasFailures(progress)).toBe(hasFailures);
    expect(evaluateRunTerminal(progress)).toBe(verdict);
  });

  test("no shards, no verdict", () => {
    expect(() => evaluateRunTerminal(RunProgress.NONE)).toThrow(InvariantViolation);
  });

  test("can be written as JSON", () => {
    expect(JSON.parse(JSON.stringify(RunProgress.toJson(RunProgress.of([held], NOW))))).toMatchObject({
      active: 1,
      watermark: "Zg",
    });
  });
});

describe("ShardFilter", () => {
  const matching = (filter: ShardFilter) =>
    [held, lapsed, free, parked, done, split].filter((record) => ShardFilter.matches(filter, record, NOW));

  test.each([
    ["ALL", ShardFilter.ALL, [held, lapsed, free, parked, done, split]],
    ["ACTIVE", ShardFilter.ACTIVE, [held, lapsed, free]],
    ["AVAILABLE", ShardFilter.AVAILABLE, [lapsed, free]],
    ["PARKED", ShardFilter.PARKED, [parked]],
    ["leased", { isLeased: true }, [held]],
    ["roots", { rootOnly: true }, [held, lapsed, parked, done, split]],
    ["roots that are free", { ...ShardFilter.AVAILABLE, rootOnly: true }, [lapsed]],
  ])("%s", (_name, filter, expected: readonly ShardRecord[]) => {
    expect(matching(filter)).toEqual(expected);
  });

  test.each(ShardStatus.values)("by status %s", (status) => {
    expect(matching({ status }).every((record) => record.status === status)).toBe(true);
    expect(matching({ status }).length).toBeGreaterThan(0);
  });
});

describe("summarizeShard", () => {
  test("shows a deadline exactly where the lease holds", () => {
    expect(summarizeShard(held, NOW)).toMatchObject({
      isLeased: true,
      leaseDeadline: 110n,
      acquireCount: 1,
      lastKey: text("f"),
    });
    expect(summarizeShard(lapsed, NOW)).toMatchObject({ isLeased: false, leaseDeadline: undefined });
  });

  test("tells the rest as it is", () => {
    expect(summarizeShard(makeShard({ status: "Parked", parkReason: "Other", fenceEpoch: fence(7) }), NOW)).toEqual({
      shard: 10n,
      status: "Parked",
      parkReason: "Other",
      isLeased: false,
      leaseDeadline: undefined,
      acquireCount: 6,
      lastKey: undefined,
      keyRangeStart: text("a"),
      keyRangeEnd: text("z"),
      parent: undefined,
      spawnedCount: 0,
    });
  });
});

test("a snapshot contains what a worker needs, and no lease", () => {
  expect(Object.keys(snapshotOf(held))).toEqual(["status", "spec", "cursor", "cursorSemantics", "parent", "spawned"]);
});

describe("estimateProgress", () => {
  const estimate = (...records: ShardRecord[]) =>
    estimateProgress(records.map((record) => summarizeShard(record, NOW))).fraction;

  test("nothing is nothing", () => {
    expect(estimateProgress([])).toEqual({ fraction: 0, shardCount: 0 });
  });

  test("half of the key space is half, whatever all keys begin with", () => {
    const spec = range("logs/2026/\0", "logs/2026/\u0064");
    expect(estimate(makeShard({ spec, cursor: at("logs/2026/\u0032") }))).toBeCloseTo(0.5, 6);
  });

  test("shards count by their width, splits by their children", () => {
    const wide = makeShard({ status: "Done", spec: range("\0", "\u0030") });
    const narrow = makeShard({ spec: range("\u0030", "\u0040") });
    expect(estimate(wide, narrow, split)).toBeCloseTo(0.75, 6);
  });

  test("a missing end is above every key", () => {
    expect(estimate(makeShard({ spec: range("\0", ""), cursor: at("\u0040") }))).toBeCloseTo(0.25, 6);
  });

  test("ranges too narrow to measure count alike", () => {
    const long = "x".repeat(20);
    const one = makeShard({ status: "Done", spec: range(`a${long}`, `a${long}\0`) });
    const other = makeShard({ spec: range(`b${long}`, `b${long}\0`) });
    expect(estimate(one, other)).toBeCloseTo(0.5, 6);
  });

  test("lies between 0 and 1, and never moves back as a cursor advances", () => {
    const key = fc
      .array(fc.constantFrom(0x61, 0x62, 0x6d, 0x79), { minLength: 1, maxLength: 5 })
      .map((bytes) => String.fromCharCode(...bytes));
    fc.assert(
      fc.property(key, key, (a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        const early = estimate(makeShard({ cursor: at(low) }));
        const late = estimate(makeShard({ cursor: at(high) }));
        expect(early).toBeGreaterThanOrEqual(0);
        expect(late).toBeLessThanOrEqual(1);
        expect(late).toBeGreaterThanOrEqual(early);
      }),
    );
  });
});
