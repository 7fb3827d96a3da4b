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
  const result = await runLargeFleet(COMMON);

  test("asks its store for little more than its checkpoints, and claims without waste", () => {
    const steady = result.opsPerSecond.slice(22, 34).reduce((sum, ops) => sum + ops, 0) / 12 / COMMON.workers;
    expect(steady).toBeLessThan(2.5 / (COMMON.checkpointMs / 1000));
    expect(result.claimAttempts).toBeLessThan(1.5 * result.claims);
    expect(result.completed).toBeGreaterThan(COMMON.workers / 2);
    expect(result.splits).toBeGreaterThan(0);
  });

  test("detects each death within a lease", () => {
    expect(result.detectionMs).toHaveLength(COMMON.workers / 100);
    expect(result.detectionMs.at(-1)).toBeLessThanOrEqual(COMMON.leaseMs);
  });

  test("loses no lease to an outage that is shorter than a lease, but those of paused workers", () => {
    expect(result.lostLeases).toBeLessThanOrEqual(COMMON.workers / 100);
  });
});
