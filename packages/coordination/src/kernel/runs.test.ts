// A run decides whether its shards may be worked on. A run that ends too early abandons work; one that comes back
// from its end lets old workers in again.

import type { OpId, RunStatus } from "@gossip/contracts";
import { unwrap, type Result } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { registerShardsHash } from "../hashing/payload-hash.ts";
import type { RunConfigInput } from "../records/run-config.ts";
import { isPaged, type RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import { createRunWithShards } from "./create-run-with-shards.ts";
import { createRun, type LoadedRun } from "./create-run.ts";
import { deleteRun } from "./delete-run.ts";
import { cancelRun, completeRun, failRun, type CompleteRunOptions, type UnsettledCounts } from "./end-run.ts";
import { lastRegistered, registerShards } from "./register-shards.ts";
import { testRuleOrder } from "./rule-order.fixture.ts";
import type { PutRun, Transition } from "./transition.ts";
import { initial, makeRun, op, RUN, SHARD, STRANGER, TENANT, time } from "./world.fixture.ts";

const SHARDS = [initial(10, "a", "m"), initial(11, "m", "z")];
const fresh = (fields: Partial<RunRecord> = {}) => makeRun({ status: "Initializing", rootShards: [], ...fields });
const ended = (status: RunStatus) => makeRun({ status, completedAt: time(1) });
const usedFor = (opId: OpId): RunRecord["opLog"] => [
  { opId, kind: "CancelRun", payloadHash: 5n as never, executedAt: time(1), result: { kind: "Ack" } },
];
const config: RunConfigInput = { leaseDuration: 100n };
const TERMINAL = ["Done", "Failed", "Cancelled"] as const;

describe("createRun", () => {
  interface Situation {
    readonly loaded: LoadedRun;
    readonly config: RunConfigInput;
  }
  const run = (s: Situation) => createRun(s.loaded, { tenant: TENANT, run: RUN, config: s.config }, time(5));

  testRuleOrder<Situation>(
    () => ({ loaded: { kind: "Missing" }, config }),
    [
      { refusal: "InvalidConfig/ZeroLeaseDuration", breakIt: (s) => ({ ...s, config: { leaseDuration: 0n } }) },
      { refusal: "RunAlreadyExists", breakIt: (s) => ({ ...s, loaded: { kind: "Found", record: fresh() } }) },
    ],
    run,
  );

  test("an id that was deleted stays used", () => {
    expect(run({ loaded: { kind: "Deleted" }, config })).toMatchObject({
      error: { kind: "RunAlreadyExists", run: 1n },
    });
  });

  test("starts initializing, without shards", () => {
    const { outcome, writes, events } = unwrap(run({ loaded: { kind: "Missing" }, config }));
    expect(outcome).toMatchObject({
      status: "Initializing",
      createdAt: 5n,
      completedAt: undefined,
      rootShards: [],
      opLog: [],
      lastTime: 5n,
    });
    expect(writes).toEqual({ kind: "PutRun", run: outcome, created: [], noShardsIn: [] });
    expect(events).toEqual([{ kind: "RunCreated", tenant: TENANT, run: RUN, at: 5n }]);
  });
});

describe("registerShards", () => {
  interface Situation {
    readonly run: RunRecord | undefined;
    readonly shards: typeof SHARDS;
    readonly opId: OpId;
  }
  const run = (s: Situation) =>
    registerShards({ run: s.run }, { tenant: TENANT, run: RUN, shards: s.shards, opId: s.opId }, time(5));
  const base = (): Situation => ({ run: fresh(), shards: SHARDS, opId: op(3) });
  const withRun = (s: Situation, fields: Partial<RunRecord>) => ({ ...s, run: s.run && { ...s.run, ...fields } });

  testRuleOrder<Situation>(
    base,
    [
      { refusal: "RunNotFound", breakIt: (s) => ({ ...s, run: undefined }) },
      { refusal: "TenantMismatch", breakIt: (s) => withRun(s, { tenant: STRANGER }) },
      { refusal: "OpIdConflict", breakIt: (s) => withRun(s, { opLog: usedFor(s.opId) }) },
      { refusal: "WrongStatus", breakIt: (s) => withRun(s, { status: "Active", rootShards: [SHARD] }) },
      { refusal: "ManifestInvalid/Empty", breakIt: (s) => ({ ...s, shards: [] }) },
    ],
    run,
  );

  test("makes the run active with its shards, as they were listed", () => {
    const shards = SHARDS.toReversed();
    const { outcome, writes, events } = unwrap(run({ ...base(), shards }));
    const { run: active, created } = writes as PutRun;
    expect(outcome).toMatchObject({ kind: "Executed", value: { shards: [11n, 10n] } });
    expect(active).toMatchObject({ status: "Active", rootShards: [11n, 10n], lastTime: 5n });
    expect(active.opLog).toEqual([
      {
        opId: op(3),
        kind: "RegisterShards",
        payloadHash: registerShardsHash(SHARDS),
        executedAt: time(5),
        result: { kind: "RegisteredShards", shards: [11n, 10n] },
      },
    ]);
    expect(created.map((shard) => [shard.shard, shard.spec, shard.fenceEpoch, shard.parent, shard.lastTime])).toEqual(
      shards.map((input) => [input.shard, input.spec, 1n, undefined, 5n]),
    );
    expect(events).toMatchObject([{ kind: "RunActivated", shardCount: 2, at: 5n }]);
  });

  test("repeated in any order answers the shards as they were listed first", () => {
    const active = (unwrap(run(base())).writes as PutRun).run;
    for (const after of [active, { ...active, ...ended("Done"), opLog: active.opLog }]) {
      const again = unwrap(run({ run: after, shards: SHARDS.toReversed(), opId: op(3) }));
      expect(again).toMatchObject({ outcome: { kind: "Replayed", value: { shards: [10n, 11n] } }, writes: undefined });
    }
  });

  describe("in pages", () => {
    const command = { tenant: TENANT, run: RUN };
    const first = { ...command, shards: [initial(21, "c", "d"), initial(20, "a", "c")], opId: op(1), more: true };
    const paged = () => unwrap(registerShards({ run: fresh() }, first, time(5))).writes as PutRun;
    const last = () => paged().created.find(({ shard }) => shard === 21n)!;

    test("a page leaves the run initializing and keeps its highest shard in the log, and no event tells of it", () => {
      const { writes, events, outcome } = unwrap(registerShards({ run: fresh() }, first, time(5)));
      expect(outcome).toMatchObject({ kind: "Executed", value: { shards: [21n, 20n] } });
      expect((writes as PutRun).run).toMatchObject({ status: "Initializing", rootShards: [], lastTime: 5n });
      expect((writes as PutRun).run.opLog.map(({ result }) => result)).toEqual([
        { kind: "RegisteredShards", shards: [21n] },
      ]);
      expect(lastRegistered((writes as PutRun).run)).toBe(21n);
      expect(events).toEqual([]);
    });

    test("a page that is not the last cannot be repeated as the last, nor the other way round", () => {
      const run = paged().run;
      const again = registerShards({ run, lastShard: last() }, { ...first, more: false }, time(6));
      expect(again).toMatchObject({ error: { kind: "OpIdConflict" } });
      expect(unwrap(registerShards({ run, lastShard: last() }, first, time(6)))).toMatchObject({
        outcome: { kind: "Replayed", value: { shards: [21n, 20n] } },
        writes: undefined,
      });
    });

    test("a page begins at or above the end of the one before, and the last one counts all", () => {
      const loaded = { run: paged().run, lastShard: last(), earlierCount: 2 };
      const page = (start: string) => ({ ...command, shards: [initial(22, start, "f")], opId: op(2) });
      expect(registerShards(loaded, page("c"), time(6))).toMatchObject({
        error: { kind: "ManifestInvalid", reason: { kind: "OverlappingRanges", shardA: 21n, shardB: 22n } },
      });
      const { writes, events } = unwrap(registerShards(loaded, page("d"), time(6)));
      expect((writes as PutRun).run).toMatchObject({ status: "Active", rootShards: [22n] });
      expect(isPaged((writes as PutRun).run)).toBe(true);
      expect(events).toMatchObject([{ kind: "RunActivated", shardCount: 3 }]);
      expect(isPaged((unwrap(run(base())).writes as PutRun).run)).toBe(false);
    });

    test("the log of a run of many pages stays small", () => {
      let run = fresh();
      let lastShard: ShardRecord | undefined;
      for (let page = 1; page <= 20; page++) {
        const shards = [initial(page, `k${page + 10}`, `k${page + 11}`)];
        const { writes } = unwrap(
          registerShards({ run, lastShard }, { ...command, shards, opId: op(page), more: true }, time(5)),
        );
        ({ run } = writes as PutRun);
        lastShard = (writes as PutRun).created[0];
      }
      expect(run.opLog.flatMap(({ result }) => (result.kind === "Ack" ? [] : result.shards))).toHaveLength(8);
    });
  });

  test.each(TERMINAL)("a run that is %s takes no shards", (status) => {
    expect(run({ ...base(), run: ended(status) })).toMatchObject({ error: { kind: "WrongStatus", status } });
  });

  test("happens at the run's last time where the clock stepped back", () => {
    const { run: active, created } = unwrap(run({ ...base(), run: fresh({ lastTime: time(40) }) })).writes as PutRun;
    expect(active.lastTime).toBe(40n);
    expect(created.every((shard) => shard.lastTime === 40n)).toBe(true);
  });
});

describe("createRunWithShards", () => {
  const run = (loaded: LoadedRun, fields: { shards?: typeof SHARDS; config?: RunConfigInput; opId?: OpId } = {}) =>
    createRunWithShards(
      { loaded },
      { tenant: TENANT, run: RUN, config, shards: SHARDS, opId: op(3), ...fields },
      time(5),
    );
  const missing: LoadedRun = { kind: "Missing" };
  const found = (record: RunRecord): LoadedRun => ({ kind: "Found", record });

  test("is one transition with both events", () => {
    const { outcome, writes, events } = unwrap(run(missing));
    expect(outcome).toMatchObject({ kind: "Executed", value: { status: "Active", rootShards: [10n, 11n] } });
    expect((writes as PutRun).created.length).toBe(2);
    expect(events.map((event) => event.kind)).toEqual(["RunCreated", "RunActivated"]);
  });

  test("a manifest that is refused leaves nothing to write", () => {
    expect(run(missing, { shards: [] })).toMatchObject({
      error: { kind: "RegisterShardsFailed", reason: { kind: "ManifestInvalid", reason: { kind: "Empty" } } },
    });
  });

  test("finishes what an earlier attempt began, and repeats what it finished", () => {
    expect(unwrap(run(found(fresh()))).events.map((event) => event.kind)).toEqual(["RunActivated"]);
    const active = unwrap(run(missing)).outcome.value;
    expect(unwrap(run(found(active)))).toMatchObject({
      outcome: { kind: "Replayed", value: active },
      writes: undefined,
      events: [],
    });
  });

  test.each([
    ["InvalidConfig first", run(found(fresh()), { config: { leaseDuration: 0n } }), { kind: "InvalidConfig" }],
    ["a deleted id", run({ kind: "Deleted" }), { kind: "RunAlreadyExists" }],
    [
      "another's run before its config",
      run(found(fresh({ tenant: STRANGER })), { config: { leaseDuration: 7n } }),
      { kind: "GetRunFailed", reason: { kind: "TenantMismatch" } },
    ],
    [
      "another config before the manifest",
      run(found(fresh()), { config: { leaseDuration: 7n }, shards: [] }),
      { kind: "ConfigMismatch", run: 1n },
    ],
    [
      "another manifest under the op id",
      run(found(unwrap(run(missing)).outcome.value), { shards: SHARDS.slice(1) }),
      { kind: "RegisterShardsFailed", reason: { kind: "OpIdConflict" } },
    ],
    [
      "registered by another op",
      run(found(unwrap(run(missing)).outcome.value), { opId: op(4) }),
      { kind: "RegisterShardsFailed", reason: { kind: "WrongStatus" } },
    ],
  ])("%s", (_name, result, error) => {
    expect(result).toMatchObject({ ok: false, error });
  });
});

interface Ending {
  readonly run: RunRecord | undefined;
  readonly counts: UnsettledCounts;
  readonly options: CompleteRunOptions;
  readonly opId: OpId;
}
type End = (
  s: Ending,
) => Result<Transition<{ readonly kind: string; readonly value: RunRecord }>, { readonly kind: string }>;
const ENDINGS: readonly (readonly [name: string, target: RunStatus, event: string, end: End])[] = [
  [
    "completeRun",
    "Done",
    "RunCompleted",
    (s) => completeRun(s, { tenant: TENANT, run: RUN, opId: s.opId, options: s.options }, time(5)),
  ],
  ["failRun", "Failed", "RunFailed", (s) => failRun(s, { tenant: TENANT, run: RUN, opId: s.opId }, time(5))],
  ["cancelRun", "Cancelled", "RunCancelled", (s) => cancelRun(s, { tenant: TENANT, run: RUN, opId: s.opId }, time(5))],
];
const ending = (): Ending => ({ run: makeRun(), counts: { active: 0, parked: 0 }, options: {}, opId: op(3) });
const withRun = (s: Ending, fields: Partial<RunRecord>) => ({ ...s, run: s.run && { ...s.run, ...fields } });

describe.each(ENDINGS)("%s", (name, target, event, end) => {
  describe("checks in order", () => {
    testRuleOrder<Ending>(
      ending,
      [
        { refusal: "RunNotFound", breakIt: (s) => ({ ...s, run: undefined }) },
        { refusal: "TenantMismatch", breakIt: (s) => withRun(s, { tenant: STRANGER }) },
        { refusal: "OpIdConflict", breakIt: (s) => withRun(s, { opLog: usedFor(s.opId) }) },
        ...(name === "cancelRun"
          ? []
          : [
              {
                refusal: "WrongStatus",
                breakIt: (s: Ending) => withRun(s, { status: "Initializing", rootShards: [] }),
              },
            ]),
        ...(name === "completeRun"
          ? [{ refusal: "RunUnsettled", breakIt: (s: Ending) => ({ ...s, counts: { active: 1, parked: 0 } }) }]
          : []),
      ],
      end,
    );

    test.each(TERMINAL)("RunTerminal of a run that is %s before anything about its shards", (status) => {
      const s = { ...ending(), run: ended(status), counts: { active: 1, parked: 1 } };
      expect(end(s)).toMatchObject({ error: { kind: "RunTerminal", status } });
      expect(end(withRun(s, { opLog: usedFor(s.opId) }))).toMatchObject({ error: { kind: "OpIdConflict" } });
    });
  });

  test("ends the run and says when", () => {
    const { outcome, writes, events } = unwrap(end(withRun(ending(), { lastTime: time(9) })));
    expect(outcome).toMatchObject({ kind: "Executed", value: { status: target, completedAt: 9n, lastTime: 9n } });
    expect(writes).toMatchObject({ kind: "PutRun", created: [] });
    expect(events).toEqual([{ kind: event, tenant: TENANT, run: RUN, at: 9n }]);
  });

  test("repeated is a replay", () => {
    const run = unwrap(end(ending())).outcome.value;
    expect(unwrap(end({ ...ending(), run, counts: { active: 3, parked: 3 } }))).toMatchObject({
      outcome: { kind: "Replayed", value: run },
      writes: undefined,
    });
  });
});

describe("completeRun", () => {
  const end = ENDINGS[0]![3];

  test.each([
    [{ active: 0, parked: 0 }, {}, "ok", ["Active", "Parked"]],
    [{ active: 0, parked: 2 }, {}, "RunUnsettled", []],
    [{ active: 1, parked: 0 }, {}, "RunUnsettled", []],
    [{ active: 0, parked: 2 }, { acceptParked: true }, "ok", ["Active"]],
    [{ active: 1, parked: 2 }, { acceptParked: true }, "RunUnsettled", []],
    [{ active: 1, parked: 2 }, { force: true }, "ok", []],
  ] as const)("%o with %o: %s", (counts, options, answer, noShardsIn) => {
    const result = end({ ...ending(), counts, options });
    if (answer === "ok") expect(unwrap(result).writes).toMatchObject({ noShardsIn });
    else expect(result).toMatchObject({ error: { kind: answer, ...counts } });
  });

  test("the options are not part of the payload", () => {
    const run = unwrap(end({ ...ending(), options: { force: true } })).outcome.value;
    expect(unwrap(end({ ...ending(), run })).outcome.kind).toBe("Replayed");
  });
});

test("cancelRun takes a run that is still initializing", () => {
  expect(
    unwrap(cancelRun({ run: fresh() }, { tenant: TENANT, run: RUN, opId: op(1) }, time(5))).outcome.value.status,
  ).toBe("Cancelled");
});

describe("deleteRun", () => {
  const run = (record: RunRecord | undefined) => deleteRun(record, { tenant: TENANT, run: RUN }, time(5));

  testRuleOrder<RunRecord | undefined>(
    () => ended("Done"),
    [
      { refusal: "RunNotFound", breakIt: () => undefined },
      { refusal: "TenantMismatch", breakIt: (record) => record && { ...record, tenant: STRANGER } },
      {
        refusal: "WrongStatus",
        breakIt: (record) => record && { ...record, status: "Active", completedAt: undefined },
      },
    ],
    run,
  );

  test("removes and tells", () => {
    expect(unwrap(run(ended("Failed")))).toMatchObject({
      writes: { kind: "RemoveRun" },
      events: [{ kind: "RunDeleted" }],
    });
    expect(run(fresh())).toMatchObject({ error: { kind: "WrongStatus", status: "Initializing" } });
  });
});
