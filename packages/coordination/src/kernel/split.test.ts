// A split that loses a key range loses the keys in it forever; one that is executed twice works on them twice. And a
// child that starts at the wrong cursor repeats or skips what the parent did.

import { Cursor, SplitResidualPlan, type OpId, type ShardId } from "@gossip/contracts";
import { Redacted, unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import type { RunRecord } from "../records/run-record.ts";
import type { OpLogEntry, ShardRecord } from "../records/shard-record.ts";
import type { LoadedShard } from "./find-shard.ts";
import { testRuleOrder } from "./rule-order.fixture.ts";
import { splitReplace, type SplitReplaceCommand } from "./split-replace.ts";
import { findSpawnedResidual, splitResidual, type SplitResidualCommand } from "./split-residual.ts";
import type { SplitShard, Transition } from "./transition.ts";
import {
  at,
  fence,
  holder,
  leaseOf,
  makeHeldShard,
  makeRun,
  op,
  range,
  replacePlan,
  residualPlan,
  shardId,
  STRANGER,
  TENANT,
  text,
  time,
  worker,
} from "./world.fixture.ts";

interface Situation<Command> {
  readonly run: RunRecord;
  readonly shard: ShardRecord;
  readonly isMissing?: boolean;
  readonly command: Command;
  readonly now: number;
}

const derived = shardId((1n << 63n) | 1n);
const other = (opId: OpId): OpLogEntry => ({
  opId,
  kind: "Unpark",
  result: "Completed",
  payloadHash: 5n as never,
  executedAt: time(5),
});
const withShard = <C>(s: Situation<C>, fields: Partial<ShardRecord>) => ({ ...s, shard: { ...s.shard, ...fields } });
const loaded = (s: Situation<unknown>): LoadedShard => ({
  run: s.run,
  shard: s.isMissing === true ? undefined : s.shard,
});

/** The rules that both splits begin with. */
const sharedRules = <C extends { readonly opId: OpId }>() =>
  [
    { refusal: "ShardNotFound", breakIt: (s: Situation<C>) => ({ ...s, isMissing: true }) },
    { refusal: "OpIdConflict", breakIt: (s: Situation<C>) => withShard(s, { opLog: [other(s.command.opId)] }) },
    { refusal: "TenantMismatch", breakIt: (s: Situation<C>) => withShard(s, { tenant: STRANGER }) },
    {
      refusal: "RunTerminal",
      breakIt: (s: Situation<C>) => ({ ...s, run: makeRun({ status: "Done", completedAt: time(1) }) }),
    },
    { refusal: "ShardTerminal", breakIt: (s: Situation<C>) => withShard(s, { status: "Parked" }) },
    { refusal: "StaleFence", breakIt: (s: Situation<C>) => withShard(s, { fenceEpoch: fence(9) }) },
    { refusal: "LeaseExpired", breakIt: (s: Situation<C>) => ({ ...s, now: 110 }) },
  ] as const;
const spawnFull = Array.from({ length: 1024 }, () => derived);

describe("splitReplace", () => {
  const base = (fields: Partial<ShardRecord> = {}): Situation<SplitReplaceCommand> => {
    const shard = makeHeldShard(fields);
    const plan = replacePlan({ start: "a", end: "m", cursor: shard.cursor }, { start: "m", end: "z" });
    return {
      run: makeRun(),
      shard,
      now: 50,
      command: { tenant: TENANT, lease: leaseOf(shard), plan, opId: op(7), maxChildren: 256 },
    };
  };
  const run = (s: Situation<SplitReplaceCommand>) => splitReplace(loaded(s), s.command, time(s.now));
  const withPlan = (s: Situation<SplitReplaceCommand>, ...children: Parameters<typeof replacePlan>) => ({
    ...s,
    command: { ...s.command, plan: replacePlan(...children) },
  });

  describe("checks in order", () => {
    testRuleOrder(
      base,
      [
        ...sharedRules<SplitReplaceCommand>(),
        {
          refusal: "SplitInvalid/BackendChildLimitExceeded",
          breakIt: (s) => ({ ...s, command: { ...s.command, maxChildren: 1 } }),
        },
        { refusal: "SplitInvalid/EndMismatch", breakIt: (s) => withShard(s, { spec: range("a", "zz") }) },
        { refusal: "SplitInvalid/InvalidChildCursor", breakIt: (s) => withShard(s, { cursor: at("b") }) },
        { refusal: "SplitInvalid/SpawnLimitExceeded", breakIt: (s) => withShard(s, { spawned: spawnFull }) },
      ],
      run,
    );
  });

  test("makes children by range start, active, unheld, with the parent's cursor in the lowest", () => {
    const s = withPlan(
      base({ cursor: at("c", "t"), cursorSemantics: "Dispatched" }),
      { start: "m", end: "z" },
      { start: "a", end: "m", cursor: at("c", "t") },
    );
    const { outcome, writes, events } = unwrap(run(s));
    const { shard, created } = writes as SplitShard;

    expect(created.map(({ spec, cursor }) => ({ spec, cursor }))).toEqual([
      { spec: range("a", "m"), cursor: at("c", "t") },
      { spec: range("m", "z"), cursor: Cursor.initial() },
    ]);
    for (const child of created) {
      expect(child).toMatchObject({
        status: "Active",
        fenceEpoch: 1n,
        lease: undefined,
        parent: 10n,
        cursorSemantics: "Dispatched",
        lastTime: 50n,
        attempts: 0,
      });
    }
    const children = created.map((child) => child.shard);
    expect(shard).toMatchObject({ status: "Split", lease: undefined, spawned: children, lastTime: 50n, attempts: 1 });
    expect(outcome).toMatchObject({ kind: "Executed", value: { children } });
    expect(events).toMatchObject([{ kind: "ShardSplit", parent: 10n, children }]);
  });

  test("repeated, in whatever order the children are listed, answers the same children", () => {
    const first = unwrap(run(base()));
    const children = first.outcome.value.children;
    const again = withShard(base(), (first.writes as SplitShard).shard);
    const reordered = withPlan(again, { start: "m", end: "z" }, { start: "a", end: "m" });
    for (const s of [again, reordered, { ...again, now: 9999 }]) {
      expect(unwrap(run(s))).toMatchObject({
        outcome: { kind: "Replayed", value: { children } },
        writes: undefined,
        events: [],
      });
    }
  });

  test("ids count on from what was spawned before", () => {
    const fresh = (unwrap(run(base())).writes as SplitShard).created.map((child) => child.shard);
    const later = (unwrap(run(base({ spawned: [derived] }))).writes as SplitShard).created.map((child) => child.shard);
    expect(later[0]).toBe(fresh[1]);
    expect(later[1]).not.toBe(fresh[0]);
  });

  test("the spawn limit is reached and not passed", () => {
    expect(run(base({ spawned: spawnFull.slice(2) }))).toMatchObject({ ok: true });
    expect(run(base({ spawned: spawnFull.slice(1) }))).toMatchObject({
      error: { reason: { kind: "SpawnLimitExceeded", current: 1023, additional: 2, max: 1024 } },
    });
  });

  test("a cut at or below the cursor's key is refused, for it would leave a gap in the work", () => {
    const s = base({ cursor: at("m") });
    const cut = (point: string) => withPlan(s, { start: point, end: "z" }, { start: "a", end: point, cursor: at("m") });
    expect(run(cut("m\0"))).toMatchObject({ ok: true });
    for (const point of ["m", "c"])
      expect(run(cut(point))).toMatchObject({ error: { reason: { kind: "InvalidChildCursor", childIndex: 1 } } });
    const both = withPlan(s, { start: "c", end: "z", cursor: at("d") }, { start: "a", end: "c", cursor: at("m") });
    expect(run(both)).toMatchObject({ error: { reason: { kind: "InvalidChildCursor", childIndex: 0 } } });
    const lowestFirst = withPlan(
      s,
      { start: "a", end: "c", cursor: at("m") },
      { start: "c", end: "z", cursor: at("d") },
    );
    expect(run(lowestFirst)).toMatchObject({ error: { reason: { kind: "InvalidChildCursor", childIndex: 0 } } });
  });

  test("errors name the caller's positions, the lowest first", () => {
    const s = withPlan(
      base(),
      { start: "t", end: "z", cursor: at("u") },
      { start: "a", end: "m" },
      { start: "m", end: "t", cursor: at("n") },
    );
    expect(run(s)).toMatchObject({ error: { reason: { kind: "InvalidChildCursor", childIndex: 0 } } });
  });
});

describe("splitResidual", () => {
  const base = (fields: Partial<ShardRecord> = {}): Situation<SplitResidualCommand> => {
    const shard = makeHeldShard(fields);
    return {
      run: makeRun(),
      shard,
      now: 50,
      command: { tenant: TENANT, lease: leaseOf(shard), plan: residualPlan("a", "m", "z"), opId: op(7) },
    };
  };
  const run = (s: Situation<SplitResidualCommand>, residual?: ShardRecord) =>
    splitResidual({ ...loaded(s), residual }, s.command, time(s.now));
  const withPlan = (s: Situation<SplitResidualCommand>, plan: SplitResidualPlan) => ({
    ...s,
    command: { ...s.command, plan },
  });
  const big = "x".repeat(16_385);
  const sized = (low: string, high: string): SplitResidualPlan => ({
    parentNewSpec: { ...range("a", "m"), metadata: text(low) },
    residualSpec: { ...range("m", "z"), metadata: text(high) },
  });

  describe("checks in order", () => {
    testRuleOrder(
      base,
      [
        ...sharedRules<SplitResidualCommand>(),
        { refusal: "SplitInvalid/InvalidChildSpec", breakIt: (s) => withPlan(s, sized("", big)) },
        { refusal: "SplitInvalid/EndMismatch", breakIt: (s) => withShard(s, { spec: range("a", "zz") }) },
        { refusal: "SplitInvalid/ParentCursorOutOfBounds", breakIt: (s) => withShard(s, { cursor: at("m") }) },
        { refusal: "SplitInvalid/SpawnLimitExceeded", breakIt: (s) => withShard(s, { spawned: spawnFull }) },
      ],
      run,
    );

    test("the new parent's size is looked at first", () => {
      expect(run(withPlan(base(), sized(big, big)))).toMatchObject({
        error: { reason: { kind: "InvalidChildSpec", childIndex: 0 } },
      });
      expect(run(withPlan(base(), sized("", big)))).toMatchObject({
        error: { reason: { kind: "InvalidChildSpec", childIndex: 1 } },
      });
    });

    test("an inverted part is a matter of tiling, not of size", () => {
      const plan = {
        parentNewSpec: { ...range("a", "m"), keyRangeEnd: text("A") },
        residualSpec: { ...range("m", "z"), keyRangeStart: text("A") },
      };
      expect(run(withPlan(base(), plan))).toMatchObject({ ok: false });
      expect(run(withPlan(base(), plan))).not.toMatchObject({ error: { reason: { kind: "InvalidChildSpec" } } });
    });
  });

  test("narrows the shard, which keeps lease, fence and cursor, and gives the rest to a new one", () => {
    const s = base({ cursor: at("c", "t"), attempts: 3 });
    const { outcome, writes, events } = unwrap(run(s));
    const { shard, created } = writes as SplitShard;
    const residual = created[0]!;

    expect(created.length).toBe(1);
    expect(residual).toMatchObject({
      status: "Active",
      fenceEpoch: 1n,
      cursor: Cursor.initial(),
      spec: range("m", "z"),
      parent: 10n,
      lastTime: 50n,
    });
    expect(shard).toMatchObject({
      status: "Active",
      spec: range("a", "m"),
      cursor: at("c", "t"),
      lease: holder(),
      fenceEpoch: 2n,
      spawned: [residual.shard],
      attempts: 3,
    });
    expect(outcome).toMatchObject({ kind: "Executed", value: { residual: residual.shard } });
    expect(events).toMatchObject([{ kind: "ShardResidualCreated", parent: 10n, residual: residual.shard }]);
  });

  test("cuts a shard that has no upper bound", () => {
    const s = withPlan(base({ spec: range("a", "") }), residualPlan("a", "m", ""));
    expect((unwrap(run(s)).writes as SplitShard).created[0]!.spec).toEqual(range("m", ""));
  });

  describe("repeated", () => {
    const first = () => {
      const transition: Transition<{ value: { residual: ShardId } }> = unwrap(run(base()));
      const { shard, created } = transition.writes as SplitShard;
      return { shard, residual: created[0]! };
    };

    test("is a replay while the log remembers it, whatever came after", () => {
      const { shard, residual } = first();
      const later = { ...shard, spawned: [...shard.spawned, derived], spec: range("a", "c") };
      for (const record of [shard, later, { ...later, fenceEpoch: fence(8), lease: holder({ owner: worker(3) }) }]) {
        expect(unwrap(run(withShard(base(), record)))).toMatchObject({
          outcome: { kind: "Replayed", value: { residual: residual.shard } },
          writes: undefined,
        });
      }
    });

    describe("after the log has forgotten it", () => {
      const forgotten = (fields: Partial<ShardRecord> = {}) =>
        withShard(base(), { ...first().shard, opLog: [], ...fields });

      test("is recognized by the id that it created", () => {
        const { residual } = first();
        const s = forgotten({ spawned: [derived, ...first().shard.spawned] });
        // The index is part of the id: at another place it is another shard.
        expect(findSpawnedResidual(s.shard, op(7))).toBeUndefined();
        expect(findSpawnedResidual(forgotten().shard, op(7))).toBe(residual.shard);
        expect(findSpawnedResidual(forgotten().shard, op(8))).toBeUndefined();
        expect(unwrap(run(forgotten(), residual))).toMatchObject({
          outcome: { kind: "Replayed", value: { residual: residual.shard } },
        });
      });

      test.each([
        ["the residual's start", residualPlan("a", "n", "z")],
        [
          "the residual's metadata",
          unwrap(SplitResidualPlan.tryNew({ parentNewSpec: range("a", "m"), residualSpec: range("m", "z", "other") })),
        ],
        [
          "the parent's metadata",
          unwrap(SplitResidualPlan.tryNew({ parentNewSpec: range("a", "m", "other"), residualSpec: range("m", "z") })),
        ],
      ])("conflicts where %s differs", (_what, plan) => {
        const result = run(withPlan(forgotten(), plan), first().residual);
        expect(result).toMatchObject({ error: { kind: "OpIdConflict", opId: 7n } });
        if (!result.ok && result.error.kind === "OpIdConflict")
          expect(Redacted.reveal(result.error.expectedHash)).toBe(0n);
      });

      test("metadata is not compared where the end has moved since", () => {
        const plan = unwrap(
          SplitResidualPlan.tryNew({ parentNewSpec: range("a", "m", "p"), residualSpec: range("m", "z", "r") }),
        );
        const moved = { ...first().residual, spec: range("m", "t") };
        const s = withPlan(forgotten({ spec: range("a", "c") }), plan);
        expect(unwrap(run(s, moved)).outcome.kind).toBe("Replayed");
      });

      test("goes before the lease, as every replay does", () => {
        const s = { ...forgotten(), now: 9999, run: makeRun({ status: "Failed", completedAt: time(1) }) };
        expect(unwrap(run(s, first().residual)).outcome.kind).toBe("Replayed");
      });
    });
  });
});
