// A hint that outlives the first lease tells a worker to wait while a shard is free.
import { LogicalTime } from "@gossip/contracts";
import { expect, test } from "vitest";
import { RunCapacity } from "./run-capacity.ts";

const at = (raw: number) => LogicalTime.fromRaw(BigInt(raw));
const capacity: RunCapacity = { now: at(10), availableCount: 2, earliestDeadline: at(20), starvedUntil: at(15) };

test("a capacity holds from the time that it was read for until the first lease expires", () => {
  expect(RunCapacity.hintAt(capacity, at(9))).toBeUndefined();
  expect(RunCapacity.hintAt(capacity, at(10))).toEqual({
    availableCount: 2,
    earliestDeadline: at(20),
    isStarved: true,
  });
  expect(RunCapacity.hintAt(capacity, at(15))?.isStarved).toBe(false);
  expect(RunCapacity.hintAt(capacity, at(19))).toBeDefined();
  expect(RunCapacity.hintAt(capacity, at(20))).toBeUndefined();
});

test("without leases a capacity holds forever, and without a mark nothing starves", () => {
  const idle = { ...capacity, earliestDeadline: undefined, starvedUntil: undefined };
  expect(RunCapacity.hintAt(idle, at(1_000_000))).toEqual({
    availableCount: 2,
    earliestDeadline: undefined,
    isStarved: false,
  });
});
