// A fleet that retries in step brings its store down again, and one that misses a death leaves work undone. This is the small
// form of `fleet.bench.ts`.
import { describe, expect, test } from "vitest";
import { runLargeFleet } from "./large-fleet.fixture.ts";

const COMMON = {
  workers: 200,
  shards: 2000,
  seed: 1,
  leaseMs: 30_000,
  checkpointMs: 10_000,
  shardMs: 30_000,
  roundTripMs: 2,
  seconds: 60,
  outage: { from: 35, to: 38 },
  crashAt: 20,
} as const;

describe("a fleet through crashes, pauses and an outage", async () => {
  const jittered = await runLargeFleet({ ...COMMON, isJittered: true });

  test("asks its store for little more than its checkpoints, and claims without waste", () => {
    const steady = jittered.opsPerSecond.slice(22, 34).reduce((sum, ops) => sum + ops, 0) / 12 / COMMON.workers;
    expect(steady).toBeLessThan(2.5 / (COMMON.checkpointMs / 1000));
    expect(jittered.claimAttempts).toBeLessThan(1.5 * jittered.claims);
    expect(jittered.completed).toBeGreaterThan(COMMON.workers / 2);
    expect(jittered.splits).toBeGreaterThan(0);
  });

  test("detects each death within a lease", () => {
    expect(jittered.detectionMs).toHaveLength(COMMON.workers / 100);
    expect(jittered.detectionMs.at(-1)).toBeLessThanOrEqual(COMMON.leaseMs);
  });

  test("loses no lease to an outage that is shorter than a lease, but those of paused workers", () => {
    expect(jittered.lostLeases).toBeLessThanOrEqual(COMMON.workers / 100);
  });
});
