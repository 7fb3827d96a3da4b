import { compareBytes, unwrap } from "@gossip/stdx";
import { Cursor, SplitReplacePlan, type ShardId } from "@gossip/contracts";
import { deriveSplitShardId } from "../../hashing/derive-split-shard-id.ts";
import { newShardRecord } from "../../records/shard-record.ts";
import type { ConformanceCase } from "./conformance-case.ts";
import { at, initial, KEY, op, range, replaceAt, residualAt, RUN, TENANT, type World } from "./world.ts";

const keyOf = (shard: ShardId) => ({ run: RUN, shard });

async function childrenTileTheParent(world: World): Promise<void> {
  await world.seed();
  const { lease } = await world.acquire(1);
  unwrap(await world.coordinator.checkpoint({ tenant: TENANT, lease, cursor: at("c", "token"), opId: op(1) }));
  const plan = replaceAt("a", ["g", "m", "t"], "z", at("c", "token"));
  const { children } = unwrap(await world.coordinator.splitReplace({ tenant: TENANT, lease, plan, opId: op(2) })).value;
  const records = await Promise.all(children.map((shard) => world.shard(keyOf(shard))));

  world.expect(records.map(({ spec }) => [spec.keyRangeStart, spec.keyRangeEnd])).toEqual(
    [
      ["a", "g"],
      ["g", "m"],
      ["m", "t"],
      ["t", "z"],
    ].map((bounds) => bounds.map((bound) => new TextEncoder().encode(bound))),
  );
  world
    .expect(records.map((record) => record.cursor))
    .toEqual([at("c", "token"), Cursor.initial(), Cursor.initial(), Cursor.initial()]);
  for (const record of records) {
    world
      .expect(record)
      .toMatchObject({ status: "Active", fenceEpoch: 1n, lease: undefined, parent: KEY.shard, attempts: 0 });
  }
  const parent = await world.shard();
  world.expect(parent).toMatchObject({ status: "Split", lease: undefined });
  world.expect(parent.spawned).toEqual(children);
  world
    .expect(unwrap(await world.coordinator.getRunProgress({ tenant: TENANT, run: RUN })))
    .toMatchObject({ total: 5, active: 4, split: 1 });
}

async function replayAndOrder(world: World): Promise<void> {
  const { coordinator } = world;
  await world.seed();
  const { lease } = await world.acquire(1);
  const plan = replaceAt("a", ["g", "m"], "z");
  const request = { tenant: TENANT, lease, plan, opId: op(1) };
  const first = unwrap(await coordinator.splitReplace(request));
  const shuffled = unwrap(SplitReplacePlan.tryNew(plan.children.toReversed()));
  for (const again of [request, { ...request, plan: shuffled }]) {
    world.expect(unwrap(await coordinator.splitReplace(again))).toEqual({ kind: "Replayed", value: first.value });
  }
  world.expectRefusal(
    await coordinator.splitReplace({ ...request, plan: replaceAt("a", ["h", "m"], "z") }),
    "OpIdConflict",
  );
  world.expectRefusal(await coordinator.splitReplace({ ...request, opId: op(2) }), "ShardTerminal", {
    status: "Split",
  });
  world.expect(unwrap(await coordinator.getRunProgress({ tenant: TENANT, run: RUN })).total).toBe(4);
}

async function replaceRules(world: World): Promise<void> {
  const { coordinator } = world;
  await world.seed();
  const { lease } = await world.acquire(1);
  unwrap(await world.checkpoint(lease, "c", 1));
  const refused = async (plan: SplitReplacePlan, reason: object) =>
    world.expectRefusal(await coordinator.splitReplace({ tenant: TENANT, lease, plan, opId: op(2) }), "SplitInvalid", {
      reason,
    });
  await refused(replaceAt("b", ["m"], "z"), { kind: "StartMismatch" });
  await refused(replaceAt("a", ["m"], "y"), { kind: "EndMismatch" });
  await refused(replaceAt("a", ["m"], "z"), { kind: "InvalidChildCursor", childIndex: 0 });
  // Split below its cursor, the lowest child would have a cursor outside its range.
  await refused(replaceAt("a", ["b"], "z", at("c")), { kind: "InvalidChildCursor", childIndex: 0 });
  const wrong = (index: number) =>
    replaceAt("a", ["g", "m"], "z", at("c")).children.map((child, place) =>
      place === index ? { ...child, cursor: at("h") } : child,
    );
  await refused(unwrap(SplitReplacePlan.tryNew(wrong(1))), { kind: "InvalidChildCursor", childIndex: 1 });
  await refused(unwrap(SplitReplacePlan.tryNew(wrong(1).toReversed())), { kind: "InvalidChildCursor", childIndex: 1 });
  const parent = await world.shard();
  world.expect({ status: parent.status, spawned: parent.spawned.length }).toEqual({ status: "Active", spawned: 0 });
  world.expectOutcome(
    await coordinator.splitReplace({ tenant: TENANT, lease, plan: replaceAt("a", ["m"], "z", at("c")), opId: op(2) }),
    "Executed",
  );
}

async function residualRules(world: World): Promise<void> {
  const { coordinator } = world;
  await world.seed();
  const { lease } = await world.acquire(1);
  unwrap(await world.checkpoint(lease, "m", 1));
  const split = (plan: ReturnType<typeof residualAt>, opId: number) =>
    coordinator.splitResidual({ tenant: TENANT, lease, plan, opId: op(opId) });
  world.expectRefusal(await split(residualAt("b", "p", "z"), 2), "SplitInvalid", { reason: { kind: "StartMismatch" } });
  world.expectRefusal(await split(residualAt("a", "p", "y"), 2), "SplitInvalid", { reason: { kind: "EndMismatch" } });
  world.expectRefusal(await split(residualAt("a", "m", "z"), 2), "SplitInvalid", {
    reason: { kind: "ParentCursorOutOfBounds" },
  });
  const plan = residualAt("a", "p", "z", ["low", "high"]);
  const first = unwrap(await split(plan, 2));
  world.expect(unwrap(await split(plan, 2))).toEqual({ kind: "Replayed", value: first.value });
  world.expectRefusal(await split(residualAt("a", "q", "z"), 2), "OpIdConflict");
  const residual = await world.shard(keyOf(first.value.residual));
  world.expect(residual).toMatchObject({ status: "Active", fenceEpoch: 1n, parent: KEY.shard, lease: undefined });
  world.expect(residual.cursor).toEqual(Cursor.initial());
  world.expect(residual.spec).toEqual(range("p", "z", "high"));
  const parent = await world.shard();
  world.expect(parent.spec).toEqual(range("a", "p", "low"));
  world.expect(parent).toMatchObject({ fenceEpoch: 2n, lease: { owner: 1n } });
  // The lease from before the split is still valid.
  world.expectOutcome(await world.checkpoint(lease, "n", 3), "Executed");
}

async function residualAfterEviction(world: World): Promise<void> {
  const { coordinator } = world;
  await world.seed();
  const { lease } = await world.acquire(1);
  const request = { tenant: TENANT, lease, plan: residualAt("a", "m", "z"), opId: op(1) };
  const first = unwrap(await coordinator.splitResidual(request));
  for (const [index, key] of "bcdefghijkl".split("").entries()) unwrap(await world.checkpoint(lease, key, 10 + index));
  for (const index of [1, 2, 3, 4, 5, 6]) unwrap(await world.checkpoint(lease, `l${index}`, 30 + index));
  world.expect((await world.shard()).opLog.some((entry) => entry.opId === 1n)).toBe(false);
  world.expect(unwrap(await coordinator.splitResidual(request))).toEqual({ kind: "Replayed", value: first.value });
  world.expectRefusal(await coordinator.splitResidual({ ...request, plan: residualAt("a", "n", "z") }), "OpIdConflict");
  world.expectRefusal(
    await coordinator.splitResidual({ ...request, plan: residualAt("a", "m", "z", ["", "other"]) }),
    "OpIdConflict",
  );
  world.expectRefusal(
    await coordinator.splitResidual({ ...request, plan: residualAt("a", "m", "z", ["other", ""]) }),
    "OpIdConflict",
  );
  world.expect((await world.shard()).spawned.length).toBe(1);
}

async function derivedIdTaken(world: World): Promise<void> {
  await world.seed();
  const { lease } = await world.acquire(1);
  const plan = replaceAt("a", ["m"], "z");
  const taken = deriveSplitShardId({ run: RUN, parent: KEY.shard, opId: op(7), kind: "Child", index: 1 });
  const squatter = newShardRecord({
    tenant: TENANT,
    key: keyOf(taken),
    spec: range("q", "r"),
    cursor: Cursor.initial(),
    cursorSemantics: "Completed",
    parent: KEY.shard,
    now: world.clock.now(),
  });
  const read = unwrap(await world.store.readRun(TENANT, RUN));
  if (read.kind !== "Found") throw new Error("the run must be there");
  const limits = { maxShardsPerTenant: 100, maxShardsTotal: 100 };
  const seeded = await world.store.commit([
    {
      kind: "PutRun",
      tenant: TENANT,
      run: RUN,
      guard: read.version,
      after: read.record,
      created: [squatter],
      limits,
      noShardsIn: [],
    },
  ]);
  world.expect(seeded).toMatchObject([{ kind: "Committed" }]);
  const request = { tenant: TENANT, lease, plan, opId: op(7) };
  world.expectRefusal(await world.coordinator.splitReplace(request), "SplitInvalid", {
    reason: { kind: "DerivedIdCollision", derivedId: taken },
  });
  world.expect((await world.shard()).status).toBe("Active");
  // An exceeded quota is reported first.
  const tight = world.makeCoordinator({ limits: { maxShardsPerTenant: 3 } });
  world.expectRefusal(await tight.splitReplace(request), "SplitInvalid", { reason: { kind: "ShardLimitExceeded" } });
  world.expectOutcome(await world.coordinator.splitReplace({ ...request, opId: op(8) }), "Executed");
}

async function manyChildren(world: World): Promise<void> {
  await world.seed();
  const { lease } = await world.acquire(1);
  const max = Math.min(world.store.traits?.maxSplitChildren ?? 256, 256);
  const points = Array.from({ length: max - 1 }, (_, index) => `b${String(index).padStart(3, "0")}`);
  const request = { tenant: TENANT, lease, plan: replaceAt("a", points, "z"), opId: op(1) };
  if (max < 256) {
    const plan = replaceAt("a", [...points, "c"], "z");
    world.expectRefusal(await world.coordinator.splitReplace({ ...request, plan }), "SplitInvalid", {
      reason: { kind: "BackendChildLimitExceeded", requested: max + 1, backendMax: max },
    });
  }
  const { children } = unwrap(await world.coordinator.splitReplace(request)).value;
  world.expect(children.length).toBe(max);
  const starts = await Promise.all(children.map(async (shard) => (await world.shard(keyOf(shard))).spec.keyRangeStart));
  world.expect(starts.every((start, index) => index === 0 || compareBytes(starts[index - 1]!, start) < 0)).toBe(true);
}

async function spawnLimit(world: World): Promise<void> {
  await world.seed({ shards: [initial(10, "a", "z")] });
  const read = unwrap(await world.store.readShard(TENANT, KEY));
  const { record, version } = read.shard!;
  const spawned = Array.from({ length: 1023 }, (_, index) => ((1n << 63n) | BigInt(index)) as ShardId);
  const after = { ...record, spawned };
  const shard = { guard: version, before: record, after };
  world
    .expect(
      await world.store.commit([
        { kind: "UpdateShard", tenant: TENANT, run: RUN, shard, runGuard: undefined, hintAt: undefined },
      ]),
    )
    .toMatchObject([{ kind: "Committed" }]);
  const { lease } = await world.acquire(1);
  world.expectRefusal(
    await world.coordinator.splitReplace({ tenant: TENANT, lease, plan: replaceAt("a", ["m"], "z"), opId: op(1) }),
    "SplitInvalid",
    {
      reason: { kind: "SpawnLimitExceeded", current: 1023, additional: 2, max: 1024 },
    },
  );
  unwrap(
    await world.coordinator.splitResidual({ tenant: TENANT, lease, plan: residualAt("a", "m", "z"), opId: op(2) }),
  );
  world.expect((await world.shard()).spawned.slice(0, 1023)).toEqual(spawned);
  world.expect((await world.shard()).spawned.length).toBe(1024);
}

/** Splits: B3 of the specification, and the decisions about splits. */
export const splitCases: readonly ConformanceCase[] = [
  { name: "B3: children tile the parent and continue at its cursor", run: childrenTileTheParent },
  { name: "S1: the order of the children in a plan does not matter", run: replayAndOrder },
  { name: "S2 and S7: an invalid split-replace is refused and names the faulty child", run: replaceRules },
  { name: "an invalid residual split is refused and changes nothing", run: residualRules },
  {
    name: "S5: an evicted residual split is recognized, and another plan for it is refused",
    run: residualAfterEviction,
  },
  { name: "a split whose id is taken is refused, after the quota is checked", run: derivedIdTaken },
  { name: "a split has at most as many children as the store allows", run: manyChildren },
  { name: "a shard spawns at most 1,024 others others others", run: spawnLimit },
];
