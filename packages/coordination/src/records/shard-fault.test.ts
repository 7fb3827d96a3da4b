// A record that contradicts itself must never be stored: every later decision would rest on it. Each rule is
// shown able to fail, and the first of two broken ones is the one that is named.

import { InvariantViolation } from "@gossip/stdx";
import { fixedExamples } from "@gossip/tools/fixed-examples";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { at, fence, holder, makeHeldShard, makeShard, op, shardId, time } from "../kernel/world.fixture.ts";
import type { PayloadHash } from "../hashing/payload-hash.ts";
import { appendOp } from "./op-log.ts";
import { assertShardRecord, findShardFault } from "./shard-fault.ts";
import { acquireCount, isLeasedAt, type OpLogEntry, type ShardRecord } from "./shard-record.ts";

const derived = shardId((1n << 63n) | 5n);
const logged = (id: number, executedAt = 1): OpLogEntry => ({
  opId: op(id),
  kind: "Checkpoint",
  result: "Completed",
  payloadHash: 9n as PayloadHash,
  executedAt: time(executedAt),
});

// In the order of the rules. Each names every field that its rule reads, so that pairs that go together can be found.
const FAULTS: readonly (readonly [rule: string, words: string, broken: Partial<ShardRecord>])[] = [
  ["1: parked without a reason", "park reason", { status: "Parked", parkReason: undefined, lease: undefined }],
  ["1: a reason without being parked", "park reason", { status: "Active", parkReason: "Other" }],
  ["3: terminal with a lease", "no lease", { status: "Done", lease: holder() }],
  ["4: no fence", "fence", { fenceEpoch: fence(0) }],
  ["5: a log that is too long", "16 operations", { opLog: Array.from({ length: 17 }, (_, id) => logged(id)) }],
  ["6: split into nothing", "spawned something", { status: "Split", lease: undefined, spawned: [] }],
  ["7: a parent of a root", "parent", { shard: shardId(10), parent: shardId(3) }],
  ["7: derived without a parent", "parent", { shard: derived, parent: undefined }],
  ["8: a root among the spawned", "derived id", { spawned: [shardId(11)] }],
  ["9: an op id twice", "logged twice", { opLog: [logged(1), logged(1)] }],
  ["10: too many spawned", "1024 shards", { spawned: Array.from({ length: 1025 }, () => derived) }],
  ["11: no last time", "last time", { lastTime: time(0) }],
  ["11: a lease that was over when it was given", "lease must end", { lease: holder({ deadline: time(10) }) }],
  ["11: something logged later", "logged after", { opLog: [logged(1, 11)] }],
  ["12: a log out of order", "not go back", { opLog: [logged(1, 5), logged(2, 4)] }],
  ["13: a cursor out of range", "within the range", { cursor: at("z") }],
];

describe("findShardFault", () => {
  test("a record in order has none", () => {
    expect(findShardFault(makeShard())).toBeUndefined();
    expect(findShardFault(makeHeldShard())).toBeUndefined();
    expect(findShardFault(makeShard({ shard: derived, parent: shardId(3) }))).toBeUndefined();
  });

  test.each(FAULTS)("%s", (_rule, words, broken) => {
    const record = makeHeldShard(broken);
    expect(findShardFault(record)).toContain(words);
    expect(() => assertShardRecord(record)).toThrow(InvariantViolation);
  });

  test("knowing the record before hides no fault of what changed", () => {
    for (const [rule, words, broken] of FAULTS) {
      expect(findShardFault(makeHeldShard(broken), makeHeldShard()), rule).toContain(words);
    }
  });

  test("knowing the record before changes nothing that is found of its log", () => {
    const seen = new Set<string>();
    const inputs = [
      fc.uniqueArray(fc.nat({ max: 20 }), { maxLength: 16 }),
      fc.nat({ max: 20 }),
      fc.integer({ min: 1, max: 16 }),
    ] as const;
    fc.assert(
      fc.property(...inputs, (ids, next, capacity) => {
        const known = makeHeldShard({ opLog: ids.slice(-capacity).map((id) => logged(id)) });
        const record = makeHeldShard({ ...known, opLog: appendOp(known.opLog, logged(next), capacity) });
        const fault = findShardFault(record);
        expect(findShardFault(record, known)).toBe(fault);
        // Once more, now that the log before has been looked into.
        expect(findShardFault(record, known)).toBe(fault);
        seen.add(`${fault !== undefined} ${known.opLog.some(({ opId }) => opId === op(next))}`);
      }),
      { numRuns: 500, examples: fixedExamples(200, ...inputs) },
    );
    // An id that is forgotten with the new entry may be used again.
    expect(seen).toEqual(new Set(["false false", "false true", "true true"]));
  });

  test("of two broken rules the first is named", () => {
    for (const [index, [, words, broken]] of FAULTS.entries()) {
      for (const [, , later] of FAULTS.slice(index + 1)) {
        const overlap = Object.keys(later).some((field) => field in broken);
        if (!overlap) expect(findShardFault(makeHeldShard({ ...later, ...broken })), words).toContain(words);
      }
    }
  });
});

test("a lease holds until its deadline and not at it", () => {
  const record = makeHeldShard();
  expect(isLeasedAt(record, time(109))).toBe(true);
  expect(isLeasedAt(record, time(110))).toBe(false);
  expect(isLeasedAt(makeShard(), time(1))).toBe(false);
});

test("acquisitions are counted by the fence, as far as 32 bits go", () => {
  expect(acquireCount(makeShard())).toBe(0);
  expect(acquireCount(makeHeldShard())).toBe(1);
  expect(acquireCount(makeShard({ fenceEpoch: fence((1n << 64n) - 1n) }))).toBe(0xffff_ffff);
});
