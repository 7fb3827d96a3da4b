// Views leave as JSON for dashboards and for workers in other processes. What is lost on the way is lost silently, and a log's
// hashes must not go along.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PayloadHash } from "../hashing/payload-hash.ts";
import { at, fence, makeHeldShard, makeRun, makeShard, op, range, shardId, time } from "../kernel/world.fixture.ts";
import { CapacityHint } from "../records/capacity-hint.ts";
import { RunProgress } from "./run-progress.ts";
import { summarizeRun } from "./run-summary.ts";
import { snapshotOf } from "./shard-snapshot.ts";
import { summarizeShard } from "./shard-summary.ts";
import { capacityHintJson, runProgressJson, runSummaryJson, shardSnapshotJson, shardSummaryJson } from "./view-json.ts";

const NOW = time(50);
const derived = shardId((1n << 63n) | 1n);
const shards = [
  makeShard(),
  makeHeldShard({ cursor: at("f", "t"), spec: range("a", "z", "m") }),
  makeShard({ shard: derived, parent: shardId(10), cursorSemantics: "Dispatched" }),
  makeShard({ status: "Parked", parkReason: "NotFound", cursor: at("b"), fenceEpoch: fence((1n << 64n) - 1n) }),
  makeShard({ status: "Split", spawned: [derived], spec: range("", "") }),
];
const runs = [
  makeRun(),
  makeRun({
    status: "Initializing",
    rootShards: [],
    config: { cursorSemantics: "Dispatched", leaseDuration: 1n, maxShardRetries: 3 },
  }),
  makeRun({
    status: "Done",
    completedAt: time(9),
    lastTime: time(9),
    opLog: [
      {
        opId: op(1),
        kind: "CompleteRun",
        payloadHash: 0xabcdefn as PayloadHash,
        executedAt: time(9),
        result: { kind: "Ack" },
      },
    ],
  }),
];

const sent = (json: unknown): unknown => JSON.parse(JSON.stringify(json));

describe("a view comes back as it went", () => {
  test.each(shards.map((shard) => ({ name: `${shard.status} ${shard.shard}`, shard })))(
    "of a shard that is $name",
    ({ shard }) => {
      const summary = summarizeShard(shard, NOW);
      expect(shardSummaryJson.fromJson(sent(shardSummaryJson.toJson(summary)))).toEqual({ ok: true, value: summary });
      const snapshot = snapshotOf(shard);
      expect(shardSnapshotJson.fromJson(sent(shardSnapshotJson.toJson(snapshot)))).toEqual({
        ok: true,
        value: snapshot,
      });
    },
  );

  test.each(runs)("of a run that is $status", (run) => {
    const summary = summarizeRun(run);
    expect(runSummaryJson.fromJson(sent(runSummaryJson.toJson(summary)))).toEqual({ ok: true, value: summary });
    expect(JSON.stringify(runSummaryJson.toJson(summary))).not.toContain("abcdef");
  });

  test("of how a run stands, with a watermark and without", () => {
    for (const records of [shards, []]) {
      const progress = RunProgress.of(records, NOW);
      expect(runProgressJson.fromJson(sent(runProgressJson.toJson(progress)))).toEqual({ ok: true, value: progress });
    }
  });

  test.each([CapacityHint.ZERO, { availableCount: 3, earliestDeadline: time(9), isStarved: true }])(
    "of capacity hints: %o",
    (hint) => {
      expect(capacityHintJson.fromJson(sent(capacityHintJson.toJson(hint)))).toEqual({ ok: true, value: hint });
    },
  );
});

test("whatever is no view is refused, and nothing throws", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      for (const codec of [runSummaryJson, shardSummaryJson, shardSnapshotJson, runProgressJson, capacityHintJson])
        expect(codec.fromJson(json).ok).toBe(false);
    }),
  );
  const hint = capacityHintJson.toJson(CapacityHint.ZERO);
  expect(capacityHintJson.fromJson({ ...hint, isStarved: 1 })).toMatchObject({
    error: { field: "isStarved", expected: "true or false" },
  });
});
