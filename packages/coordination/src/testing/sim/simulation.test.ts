// Here the real coordinator meets everything at once: many workers, a store that fails, clocks that are wrong. What can go
// wrong with such a test is that it sees nothing: that runs are all alike, that what must come up never does, that a
// broken rule goes unnoticed, or that what was found cannot be found again. So the kinds of events are counted, every
// rule is shown broken, and a run is made twice.

import { setImmediate } from "node:timers/promises";
import { effort } from "@gossip/tools/effort";
import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../memory/memory-store.ts";
import { BROKEN_STORES } from "./broken-stores.fixture.ts";
import { FAULT_KINDS, FAULT_LEVELS } from "./fault-level.ts";
import { formatViolation, type ViolationKind } from "./invariants/violation.ts";
import { OVERLOAD_KINDS, simulateOverload } from "./overload.ts";
import { REJECTION_KINDS, SIM_EVENT_KINDS } from "./sim-event.ts";
import { coverageOf, type SimReport } from "./sim-report.ts";
import { reproduceLine, shrink } from "./shrink.ts";
import type { SimOptions } from "./sim-options.ts";
import { simulate } from "./simulation.ts";
import { TamperingStore, type Tampering } from "./tampering-store.fixture.ts";

const SEED_COUNT = effort({ usual: 70, exploring: 420 });

/** A rule that is missing here does not compile. */
const EVERY_RULE: Readonly<Record<ViolationKind, true>> = {
  MutualExclusion: true,
  FenceMonotonicity: true,
  TerminalIrreversibility: true,
  UnparkWithoutFenceBump: true,
  RecordInvariant: true,
  CursorMonotonicity: true,
  CursorOutOfBounds: true,
  SplitCoverage: true,
  DerivedId: true,
  RunTerminalIrreversibility: true,
  CooldownViolation: true,
  MutationStream: true,
  CoverageConservation: true,
  EndedRun: true,
  UnsettledRun: true,
  AttemptLimit: true,
  UnauthorizedMutation: true,
  ReplayRefused: true,
  TimeRegression: true,
  ShardVanished: true,
  Ledger: true,
  WrongAnswer: true,
  Thrown: true,
};

/** What was wrong, with the line that shows it again. */
function complaintOf({ seed, level, violations }: SimReport): string[] {
  return violations.map((violation) => `${formatViolation(violation)} (${reproduceLine({ seed, level })})`);
}

/** Lists are tampered with below the checks; reads and writes of coordinators above them. */
function tamperWith({ onList, ...tampering }: Tampering): Pick<SimOptions, "makeStore" | "wrapStore"> {
  return {
    makeStore: (store) =>
      onList === undefined ? new MemoryStore(store) : new TamperingStore(new MemoryStore(store), { onList }),
    wrapStore: (store) => new TamperingStore(store, tampering),
  };
}

describe(`${SEED_COUNT} seeds of mixed levels`, () => {
  const reports: SimReport[] = [];

  test("break no rule, and come to an end once nothing goes wrong any more", async () => {
    for (let seed = 0; seed < SEED_COUNT; seed++) {
      const report = await simulate({ seed: BigInt(seed), level: FAULT_LEVELS[seed % FAULT_LEVELS.length]! });
      reports.push(report);
      expect(complaintOf(report)).toEqual([]);
      expect(report.converged ? "converged" : reproduceLine(report)).toBe("converged");
    }
    const ops = reports.reduce((sum, report) => sum + report.opsExecuted, 0);
    console.log(`simulated ${ops} operations with ${reports.length} seeds`);
  });

  test.each(SIM_EVENT_KINDS)("come to %s", (kind) => {
    expect(coverageOf(reports).events.get(kind)).toBeGreaterThan(0);
  });

  // In memory, a wrong tenant finds nothing at all, so a mismatch is never reported.
  test.each(REJECTION_KINDS.filter((kind) => kind !== "TenantMismatch"))("come to the rejection %s", (kind) => {
    expect(coverageOf(reports).rejections.get(kind)).toBeGreaterThan(0);
  });

  test.each(FAULT_KINDS)("meet with %s", (kind) => {
    expect(coverageOf(reports).faults.get(kind)).toBeGreaterThan(0);
  });

  test("never tell a tenant of another's shards", () => {
    expect(coverageOf(reports).rejections.get("TenantMismatch")).toBe(0);
  });

  test("compare the capacity that workers get with the true one, often", () => {
    expect(reports.reduce((sum, report) => sum + report.capacitySamples, 0)).toBeGreaterThan(500);
  });

  test("are all different", () => {
    expect(new Set(reports.map((report) => report.traceHash)).size).toBe(reports.length);
  });
});

describe("simulate", () => {
  test.each(FAULT_LEVELS)("does the same with the same seed, at level %s", async (level) => {
    const options: SimOptions = { seed: 42n, level, keepsTrace: true };

    const first = await simulate(options);

    expect(await simulate(options)).toEqual(first);
    expect(first.trace.length).toBeGreaterThan(200);
  });

  test.each([7n, 8n])("does not depend on how it waits, with seed %d", async (seed) => {
    const options: SimOptions = { seed, level: "Radioactive" };

    const { traceHash } = await simulate(options);

    expect(await simulate({ ...options, settle: () => setImmediate() })).toMatchObject({ traceHash });
  });

  test("holds out longer, with more of everything", async () => {
    const size = { workers: 8, tenants: 2, runsPerTenant: 2, shardsPerRun: 15 };

    const report = await simulate({
      seed: 99n,
      level: "Radioactive",
      size,
      safetySteps: 1500,
      livenessSteps: 5000,
      maxShardsPerTenant: 100,
    });

    expect(complaintOf(report)).toEqual([]);
    expect(report.converged).toBe(true);
  });

  test.each([
    {
      what: "a level that there is not",
      options: { level: "Mild" as never },
      says: "fault level must be one of SunnyDay, Stormy, Radioactive",
    },
    { what: "a seed that is no seed", options: { seed: -1n }, says: "a seed must be a 64-bit integer" },
    { what: "more shards than bytes have values", options: { size: { shardsPerRun: 256 } }, says: "shards per run" },
    { what: "steps out of order", options: { steps: [3, 2] }, says: "steps must be in order" },
    { what: "steps that are none", options: { steps: [1.5] }, says: "number of a step" },
  ])("refuses $what", async ({ options, says }) => {
    await expect(Promise.resolve().then(() => simulate({ seed: 1n, level: "SunnyDay", ...options }))).rejects.toThrow(
      says,
    );
  });

  test("is shown every rule broken", () => {
    expect(new Set<string>(BROKEN_STORES.map(({ finds }) => finds))).toEqual(new Set(Object.keys(EVERY_RULE)));
  });

  test.each(BROKEN_STORES)("finds that $what", async ({ finds, tampering = {}, options = {} }) => {
    const found = new Set<string>();
    for (let seed = 0n; seed < 100n && !found.has(finds); seed++) {
      const { violations } = await simulate({ level: "Stormy", ...tamperWith(tampering), ...options, seed });
      for (const { kind } of violations) found.add(kind);
    }
    expect([...found]).toContain(finds);
  });
});

describe("shrink", () => {
  test("leaves only the steps that a broken rule needs, and they break it again", async () => {
    const { tampering } = BROKEN_STORES.find(({ what }) => what === "a split forgets a child")!;
    const options: SimOptions = { seed: 3n, level: "Stormy", ...tamperWith(tampering!) };
    const failed = await simulate(options);
    expect(failed.violations.map(({ kind }) => kind)).toContain("SplitCoverage");

    const shortest = await shrink(options, failed);

    expect(shortest.violations.map(({ kind }) => kind)).toContain("SplitCoverage");
    expect(shortest.stepsTaken.length).toBeLessThan(10);
    expect(await simulate({ ...options, steps: shortest.stepsTaken, keepsTrace: true })).toEqual(shortest);
  });

  test("leaves a run alone that broke nothing", async () => {
    const options: SimOptions = { seed: 1n, level: "SunnyDay", safetySteps: 20 };
    const report = await simulate(options);

    expect(await shrink(options, report)).toBe(report);
  });
});

describe("overload", () => {
  test.each(OVERLOAD_KINDS.flatMap((kind) => FAULT_LEVELS.map((level) => ({ kind, level }))))(
    "$kind at level $level: work goes on when it is over",
    async ({ kind, level }) => {
      const size = { workers: 4, tenants: 1, runsPerTenant: 2, shardsPerRun: 6 };
      const report = await simulateOverload({
        seed: 5n,
        level,
        size,
        kind,
        warmUpSteps: 20,
        rounds: 4,
        recoverySteps: 3000,
        maxShardsPerTenant: 60,
      });

      expect(complaintOf(report)).toEqual([]);
      expect(report.anyCompleted).toBe(true);
      expect(report.overloadGoodput).toBeGreaterThan(0);
      expect(report.converged).toBe(true);
    },
  );
});
