// Who may call what in which state: the specification's two tables, cell by cell, and its two worked traces, line by
// line. They are where the rules meet.

import { unwrap, type Result } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { findOp } from "../records/op-log.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import { kernel } from "./kernel.ts";
import { nameRefusal } from "./rule-order.fixture.ts";
import type { SplitShard, Transition } from "./transition.ts";
import {
  at,
  fence,
  holder,
  initial,
  KEY,
  leaseOf,
  makeHeldShard,
  makeRun,
  makeShard,
  op,
  replacePlan,
  residualPlan,
  RUN,
  shardId,
  TENANT,
  time,
  worker,
} from "./world.fixture.ts";

type Answer = Result<Transition<unknown>, { readonly kind: string }>;

/** How an answer reads in the tables. */
function nameAnswer(answer: Answer): string {
  if (!answer.ok) return nameRefusal(answer);
  return answer.value.writes === undefined ? "Replayed" : "ok";
}

const derived = shardId((1n << 63n) | 1n);
const NOW = time(50);
const lease = leaseOf(makeHeldShard());
const leased = (opId: number) => ({ tenant: TENANT, lease, opId: op(opId) });

const LEASED_OPS: readonly (readonly [string, (shard: ShardRecord, run: RunRecord, opId: number) => Answer])[] = [
  [
    "checkpoint",
    (shard, run, opId) => kernel.checkpoint({ run, shard }, { ...leased(opId), cursor: at("d"), renew: false }, NOW),
  ],
  ["complete", (shard, run, opId) => kernel.complete({ run, shard }, { ...leased(opId), point: at("d") }, NOW)],
  ["park", (shard, run, opId) => kernel.park({ run, shard }, { ...leased(opId), reason: "Other" }, NOW)],
  ["release", (shard, run, opId) => kernel.release({ run, shard }, leased(opId), NOW)],
  [
    "splitReplace",
    (shard, run, opId) =>
      kernel.splitReplace(
        { run, shard },
        { ...leased(opId), plan: replacePlan({ start: "a", end: "m" }, { start: "m", end: "z" }), maxChildren: 256 },
        NOW,
      ),
  ],
  [
    "splitResidual",
    (shard, run, opId) =>
      kernel.splitResidual(
        { run, shard, residual: undefined },
        { ...leased(opId), plan: residualPlan("a", "m", "z") },
        NOW,
      ),
  ],
];
const acquire = (shard: ShardRecord, run: RunRecord): Answer =>
  kernel.acquire({ run, shard }, { tenant: TENANT, key: KEY, worker: worker(2), opId: op(5) }, NOW);
const renew = (shard: ShardRecord, run: RunRecord): Answer =>
  kernel.renew({ run, shard }, { tenant: TENANT, lease }, NOW);
const unpark = (shard: ShardRecord, run: RunRecord): Answer =>
  kernel.unpark({ run, shard }, { tenant: TENANT, key: KEY, opId: op(6) }, NOW);

const STATES = {
  "Active, no lease": makeShard({ fenceEpoch: fence(2) }),
  "Active, no lease, older fence": makeShard({ fenceEpoch: fence(3) }),
  "Active, live lease, right holder": makeHeldShard(),
  "Active, live lease, older fence": makeHeldShard({ fenceEpoch: fence(3), lease: holder({ owner: worker(9) }) }),
  "Active, lapsed lease, right fence": makeHeldShard({ lease: holder({ deadline: NOW }) }),
  Done: makeShard({ status: "Done", fenceEpoch: fence(2) }),
  Split: makeShard({ status: "Split", fenceEpoch: fence(2), spawned: [derived] }),
  Parked: makeShard({ status: "Parked", parkReason: "Other", fenceEpoch: fence(2) }),
} as const;

describe("by the shard's state", () => {
  test.each([
    ["Active, no lease", "ok", "StaleFence", "StaleFence", "NotParked"],
    ["Active, no lease, older fence", "ok", "StaleFence", "StaleFence", "NotParked"],
    ["Active, live lease, right holder", "AlreadyLeased", "ok", "ok", "NotParked"],
    ["Active, live lease, older fence", "AlreadyLeased", "StaleFence", "StaleFence", "NotParked"],
    ["Active, lapsed lease, right fence", "ok", "LeaseExpired", "LeaseExpired", "NotParked"],
    ["Done", "ShardTerminal", "ShardTerminal", "ShardTerminal", "NotParked"],
    ["Split", "ShardTerminal", "ShardTerminal", "ShardTerminal", "NotParked"],
    ["Parked", "ShardTerminal", "ShardTerminal", "ShardTerminal", "ok"],
  ] as const)("%s: acquire %s, renew %s, leased %s, unpark %s", (state, acquired, renewed, operated, unparked) => {
    const shard = STATES[state];
    const run = makeRun();
    expect(nameAnswer(acquire(shard, run))).toBe(acquired);
    expect(nameAnswer(renew(shard, run))).toBe(renewed);
    expect(nameAnswer(unpark(shard, run))).toBe(unparked);
    for (const [name, operate] of LEASED_OPS) expect(nameAnswer(operate(shard, run, 7)), name).toBe(operated);
  });

  test.each(LEASED_OPS)("%s with a logged op id replays in every state", (_name, operate) => {
    const first = unwrap(operate(makeHeldShard(), makeRun(), 7)).writes as SplitShard;
    for (const [state, shard] of Object.entries(STATES)) {
      const { opLog, spawned } = first.shard;
      expect(nameAnswer(operate({ ...shard, opLog, spawned }, makeRun(), 7)), state).toBe("Replayed");
    }
  });
});

describe("by the run's state", () => {
  const RUNS = {
    Initializing: makeRun({ status: "Initializing", rootShards: [] }),
    Active: makeRun(),
    Done: makeRun({ status: "Done", completedAt: time(1) }),
    Failed: makeRun({ status: "Failed", completedAt: time(1) }),
    Cancelled: makeRun({ status: "Cancelled", completedAt: time(1) }),
  } as const;
  const command = { tenant: TENANT, run: RUN, opId: op(8) };
  const parked = makeShard({ status: "Parked", parkReason: "Other" });

  // The last two columns are ours: a run that has ended stops its workers, but takes what they finished.
  test.each([
    ["Initializing", "ok", "WrongStatus", "ok", "ShardNotFound", "ShardNotFound", "ShardNotFound"],
    ["Active", "WrongStatus", "ok", "ok", "ok", "ok", "ok"],
    ["Done", "WrongStatus", "RunTerminal", "RunTerminal", "RunTerminal", "RunTerminal", "ok"],
    ["Failed", "WrongStatus", "RunTerminal", "RunTerminal", "RunTerminal", "RunTerminal", "ok"],
    ["Cancelled", "WrongStatus", "RunTerminal", "RunTerminal", "RunTerminal", "RunTerminal", "ok"],
  ] as const)(
    "%s: register %s, complete and fail %s, cancel %s, unpark %s, acquire renew split %s, checkpoint complete park release %s",
    (state, registered, ended, canceled, unparked, started, finished) => {
      const run = RUNS[state];
      const counts = { active: 0, parked: 0 };
      expect(nameAnswer(kernel.registerShards({ run }, { ...command, shards: [initial(1, "a", "b")] }, NOW))).toBe(
        registered,
      );
      expect(nameAnswer(kernel.completeRun({ run, counts }, { ...command, options: {} }, NOW))).toBe(ended);
      expect(nameAnswer(kernel.failRun({ run }, command, NOW))).toBe(ended);
      expect(nameAnswer(kernel.cancelRun({ run }, command, NOW))).toBe(canceled);
      expect(nameAnswer(unpark(parked, run))).toBe(unparked);
      expect(nameAnswer(acquire(makeShard(), run))).toBe(started);
      expect(nameAnswer(renew(makeHeldShard(), run))).toBe(started);
      for (const [name, operate] of LEASED_OPS) {
        expect(nameAnswer(operate(makeHeldShard(), run, 7)), name).toBe(name.startsWith("split") ? started : finished);
      }
    },
  );
});

test("the lease and idempotency timeline", () => {
  const run = makeRun();
  let shard = makeShard();
  const take = (answer: Answer): string => {
    if (answer.ok && answer.value.writes?.kind === "UpdateShard") shard = answer.value.writes.shard;
    return nameAnswer(answer);
  };
  const acquireAs = (id: number, now: number, opId: number) =>
    take(kernel.acquire({ run, shard }, { tenant: TENANT, key: KEY, worker: worker(id), opId: op(opId) }, time(now)));

  expect(acquireAs(1, 10, 100)).toBe("ok");
  expect(shard).toMatchObject({ fenceEpoch: 2n, lease: { deadline: 110n } });
  const first = leaseOf(shard);
  const checkpoint = (by: typeof first, now: number, key: string, opId: number) =>
    take(
      kernel.checkpoint(
        { run, shard },
        { tenant: TENANT, lease: by, cursor: at(key), opId: op(opId), renew: false },
        time(now),
      ),
    );
  const complete = (by: typeof first, now: number, opId: number) =>
    take(kernel.complete({ run, shard }, { tenant: TENANT, lease: by, point: at("y"), opId: op(opId) }, time(now)));

  expect(checkpoint(first, 20, "c", 1)).toBe("ok");
  expect(findOp(shard.opLog, op(1))?.payloadHash).toBe(0x4ceb0b8f2c7c9c99n);
  expect(checkpoint(first, 21, "c", 1)).toBe("Replayed");
  expect(checkpoint(first, 22, "d", 1)).toBe("OpIdConflict");
  expect(acquireAs(1, 23, 101)).toBe("AlreadyLeased");
  expect(take(kernel.renew({ run, shard }, { tenant: TENANT, lease: first }, time(50)))).toBe("ok");
  expect(shard).toMatchObject({ fenceEpoch: 2n, lease: { deadline: 150n } });
  expect(checkpoint(first, 149, "e", 2)).toBe("ok");
  expect(checkpoint(first, 150, "f", 3)).toBe("LeaseExpired");
  expect(acquireAs(2, 150, 102)).toBe("ok");
  expect(shard).toMatchObject({ fenceEpoch: 3n, lease: { deadline: 250n }, cursor: at("e") });
  const second = leaseOf(shard);
  expect(checkpoint(first, 151, "f", 3)).toBe("StaleFence");
  expect(checkpoint(first, 152, "e", 2)).toBe("Replayed");
  expect(complete(second, 160, 9)).toBe("ok");
  expect(shard).toMatchObject({ status: "Done", lease: undefined });
  expect(complete(second, 161, 9)).toBe("Replayed");
  expect(complete(second, 162, 10)).toBe("ShardTerminal");
  expect(acquireAs(3, 163, 103)).toBe("ShardTerminal");
});

test("the split trace", () => {
  const run = makeRun();
  const shard = makeHeldShard();
  const command = { tenant: TENANT, lease: leaseOf(shard) };

  const narrowing = unwrap(
    kernel.splitResidual(
      { run, shard, residual: undefined },
      { ...command, plan: residualPlan("a", "m", "z"), opId: op(77) },
      NOW,
    ),
  );
  expect(narrowing.outcome.value.residual).toBe(0xa279b1750d20f91an);
  const narrowed = narrowing.outcome.value.shard;
  expect(narrowed.spawned.length).toBe(1);
  expect(narrowed.lease).toEqual(shard.lease);
  expect(findOp(narrowed.opLog, op(77))?.payloadHash).toBe(0x4be2bdea63447e13n);

  const replace = (record: ShardRecord, ...children: Parameters<typeof replacePlan>) =>
    unwrap(
      kernel.splitReplace(
        { run, shard: record },
        { ...command, plan: replacePlan(...children), opId: op(78), maxChildren: 256 },
        NOW,
      ),
    );
  const low = { start: "a", end: "g" };
  const high = { start: "g", end: "m" };
  const replacing = replace(narrowed, low, high);
  const split = replacing.outcome.value.shard;
  expect(replacing.outcome.value.children).toEqual([0xecd9101282446c4fn, 0xb7a8141691e7e8b5n]);
  expect(findOp(split.opLog, op(78))?.payloadHash).toBe(0x3851b7b1181772den);
  expect(split).toMatchObject({ status: "Split", lease: undefined });
  expect(split.spawned.length).toBe(3);

  const reversed = replace(split, high, low);
  expect(reversed.outcome).toEqual({
    kind: "Replayed",
    value: { shard: split, children: replacing.outcome.value.children },
  });
});
