// A rule that holds in every written test may still break in an order of events that no test covers: a request that
// was delayed while its sender crashed and returned, an answer lost between two clocks. So this test tries
// every order. The walk itself could see less than it seems to. Therefore
// the states are counted, the answers that must come up are asked for, and for every rule there is a
// protocol that breaks it.

import { describe, expect, test } from "vitest";
import { kernel } from "../../kernel/kernel.ts";
import { BROKEN_KERNELS } from "./broken-kernels.fixture.ts";
import { EXPLORE_WORLDS, type ExploreWorldName } from "./explore-worlds.ts";
import { explore, type ExploreReport } from "./explore.ts";

const NAMES = Object.keys(EXPLORE_WORLDS) as ExploreWorldName[];
const LEAST_STATES = 100_000;

function describeFailure({ failure }: ExploreReport): string {
  return failure === undefined
    ? "none"
    : JSON.stringify(failure, (_key, value) => (typeof value === "bigint" ? String(value) : value), 1);
}

describe("every interleaving of two workers and two shards", () => {
  const reports = new Map<ExploreWorldName, ExploreReport>();

  test.each(NAMES)("in the world of %s keeps every rule", (name) => {
    const report = explore({ bounds: EXPLORE_WORLDS[name] });

    reports.set(name, report);
    expect(describeFailure(report)).toBe("none");
    expect(report.stateCount).toBeGreaterThan(1000);
  });

  test("is at least 100,000 different states", () => {
    const counts = [...reports].map(
      ([name, { stateCount, moveCount, depth }]) => `${name} ${stateCount} states, ${moveCount} moves, depth ${depth}`,
    );
    const stateCount = [...reports.values()].reduce((sum, report) => sum + report.stateCount, 0);
    console.log(`explored ${stateCount} states: ${counts.join("; ")}`);

    expect(reports.size).toBe(NAMES.length);
    expect(stateCount).toBeGreaterThanOrEqual(LEAST_STATES);
  });

  // What must have been answered somewhere. A menu or a bound that is narrowed too far shows here.
  test.each([
    "Acquire Granted",
    "Acquire Repeated",
    "Acquire AlreadyLeased",
    "Acquire ShardTerminal",
    "Acquire RunTerminal",
    "Acquire Parked",
    "Renew Executed",
    "Renew LeaseExpired",
    "Renew StaleFence",
    "Renew ShardTerminal",
    "Renew RunTerminal",
    "Checkpoint Executed",
    "Checkpoint Replayed",
    "Checkpoint LeaseExpired",
    "Checkpoint StaleFence",
    "Checkpoint ShardTerminal",
    "Checkpoint CursorRegression",
    "Complete Executed",
    "Complete Replayed",
    "Complete StaleFence",
    "Park Executed",
    "Park Replayed",
    "Release Executed",
    "Release Replayed",
    "SplitReplace Executed",
    "SplitReplace Replayed",
    "SplitReplace SplitInvalid",
    "SplitResidual Executed",
    "SplitResidual Replayed",
    "SplitResidual SplitInvalid",
    "SplitResidual RunTerminal",
    "Unpark Executed",
    "Unpark Replayed",
    "CompleteRun Executed",
    "CompleteRun Replayed",
    "CompleteRun RunUnsettled",
    "CompleteRun RunTerminal",
    "FailRun Executed",
    "CancelRun Executed",
    "CancelRun RunTerminal",
    "DeleteRun Executed",
    "DeleteRun WrongStatus",
    "DeleteRun RunNotFound",
  ])("comes to the answer %s", (answer) => {
    const heard = [...reports.values()].flatMap((report) => [...report.answers.keys()]);

    expect(heard).toContain(answer);
  });
});

describe("explore", () => {
  test.each(BROKEN_KERNELS)("finds that $what", (broken) => {
    const report = explore({ bounds: EXPLORE_WORLDS[broken.world], kernel: { ...kernel, ...broken.kernel } });

    expect(report.failure?.violations.map(({ kind }) => kind)).toContain(broken.finds);
  });

  test("tells the shortest way to what is wrong", () => {
    const { failure } = explore({
      bounds: EXPLORE_WORLDS.leases,
      kernel: {
        ...kernel,
        renew() {
          throw new Error("broken");
        },
      },
    });

    expect(failure).toEqual({
      violations: [{ kind: "Thrown", message: "broken" }],
      trace: [
        "actor 1 sends Acquire 0000000000000001 worker 1 op 100",
        "actor 1 sends Renew 0000000000000001 worker 1 fence 2 until 3",
      ],
    });
  });

  test("sees the same states every time", () => {
    const bounds = EXPLORE_WORLDS.runs;
    const { stateCount, moveCount, depth } = explore({ bounds });

    expect(explore({ bounds })).toMatchObject({ stateCount, moveCount, depth });
  });

  test.each([
    { what: "no workers", bounds: { workers: [] }, says: "a world must have workers" },
    {
      what: "more requests than a log remembers",
      bounds: {
        workers: [
          { requests: 9, clockLag: 0 },
          { requests: 9, clockLag: 0 },
        ],
      },
      says: "requests in all",
    },
    {
      what: "an unknown request",
      bounds: { menu: ["Sneeze" as never] },
      says: "the menu must be of Acquire, Renew",
    },
    { what: "time that runs back", bounds: { ticks: -1 }, says: "steps of time" },
  ])("refuses $what", ({ bounds, says }) => {
    expect(() => explore({ bounds: { ...EXPLORE_WORLDS.leases, ...bounds } })).toThrow(says);
  });

  test("stops after the given number of states", () => {
    const { stateCount, depth } = explore({ bounds: EXPLORE_WORLDS.leases, stopAfter: 100 });

    expect(stateCount).toBeGreaterThan(100);
    expect(stateCount).toBeLessThan(10_000);
    expect(depth).toBeLessThan(5);
  });

  test("refuses a world that is larger than expected", () => {
    expect(() => explore({ bounds: EXPLORE_WORLDS.leases, maxStates: 10 })).toThrow("more than 10 states");
  });
});
