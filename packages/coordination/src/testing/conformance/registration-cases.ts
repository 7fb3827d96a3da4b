import { RunId, ShardId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import type { ConformanceCase } from "./conformance-case.ts";
import {
  at,
  initial,
  KEY,
  LEASE_DURATION,
  op,
  OTHER_TENANT,
  replaceAt,
  residualAt,
  RUN,
  TENANT,
  worker,
  type World,
} from "./world.ts";

const config = { leaseDuration: LEASE_DURATION };
/** Enough for a store that writes them in pieces. */
const PAGE_SIZE = 600;
async function creation(world: World): Promise<void> {
  const { coordinator } = world;
  const request = { tenant: TENANT, run: RUN, config };
  world.expectRefusal(await coordinator.createRun({ ...request, config: { leaseDuration: 0n } }), "InvalidConfig");
  world.expect(unwrap(await coordinator.createRun(request))).toMatchObject({ status: "Initializing", rootShards: [] });
  world.expectRefusal(await coordinator.createRun(request), "RunAlreadyExists", { run: RUN });
  world.expectRefusal(await coordinator.createRun({ ...request, config: { leaseDuration: 0n } }), "InvalidConfig");
  unwrap(await coordinator.createRun({ ...request, tenant: OTHER_TENANT }));
  world.expect(unwrap(await coordinator.getRunProgress({ tenant: TENANT, run: RUN })).total).toBe(0);
  world.expectRefusal(await coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(1) }), "ShardNotFound");
  world.expectRefusal(await world.endRun("completeRun", 1), "WrongStatus", { status: "Initializing", target: "Done" });
  world.expectRefusal(await world.endRun("failRun", 1), "WrongStatus", { status: "Initializing", target: "Failed" });
}

async function creationWithShards(world: World): Promise<void> {
  const { coordinator } = world;
  const request = { tenant: TENANT, run: RUN, config, shards: [initial(10, "a", "z")], opId: op(1) };
  const overlapping = [initial(1, "a", "n"), initial(2, "m", "z")];
  world.expectRefusal(
    await coordinator.createRunWithShards({ ...request, shards: overlapping }),
    "RegisterShardsFailed",
    {
      reason: { kind: "ManifestInvalid", reason: { kind: "OverlappingRanges" } },
    },
  );
  world.expectRefusal(await coordinator.getRun({ tenant: TENANT, run: RUN }), "RunNotFound");
  world.expectOutcome(await coordinator.createRunWithShards(request), "Executed");
  world.expectOutcome(await coordinator.createRunWithShards(request), "Replayed");
  world.expectRefusal(
    await coordinator.createRunWithShards({ ...request, config: { leaseDuration: 5n } }),
    "ConfigMismatch",
    { run: RUN },
  );
  world.expectRefusal(await coordinator.createRunWithShards({ ...request, opId: op(2) }), "RegisterShardsFailed", {
    reason: { kind: "WrongStatus" },
  });
}

async function manifestRules(world: World): Promise<void> {
  const { coordinator } = world;
  unwrap(await coordinator.createRun({ tenant: TENANT, run: RUN, config }));
  const refused = async (shards: ReturnType<typeof initial>[], kind: string) => {
    const result = await coordinator.registerShards({ tenant: TENANT, run: RUN, shards, opId: op(1) });
    world.expectRefusal(result, "ManifestInvalid", { reason: { kind } });
  };
  await refused([], "Empty");
  await refused([initial(1, "a", "b"), initial(1, "c", "d")], "DuplicateIds");
  await refused([initial((1n << 63n) | 1n, "a", "b")], "DerivedIdInManifest");
  await refused([initial(1, "a", "")], "UnboundedRange");
  await refused([initial(1, "a", "b", at("z"))], "CursorOutOfBounds");
  await refused([initial(1, "a", "z", at("b", "t".repeat(16_385)))], "CursorTokenTooLarge");
  world.expect((await world.run()).status).toBe("Initializing");
  const largest = initial(1, "a", "z", at("k".repeat(4096), "t".repeat(16_384)));
  unwrap(await coordinator.registerShards({ tenant: TENANT, run: RUN, shards: [largest], opId: op(1) }));
  world.expect((await world.shard({ run: RUN, shard: largest.shard })).cursor).toEqual(largest.cursor);
}

async function registerOnlyOnce(world: World): Promise<void> {
  const { coordinator } = world;
  const shards = [initial(11, "m", "z"), initial(10, "a", "m")];
  unwrap(await coordinator.createRun({ tenant: TENANT, run: RUN, config }));
  const request = { tenant: TENANT, run: RUN, shards, opId: op(1) };
  world.expect(unwrap(await coordinator.registerShards(request))).toEqual({ kind: "Executed", value: [11n, 10n] });
  world
    .expect(unwrap(await coordinator.registerShards({ ...request, shards: shards.toReversed() })))
    .toEqual({ kind: "Replayed", value: [11n, 10n] });
  world.expectRefusal(await coordinator.registerShards({ ...request, opId: op(2) }), "WrongStatus", {
    status: "Active",
  });
  world.expectRefusal(await coordinator.registerShards({ ...request, shards: shards.slice(1) }), "OpIdConflict", {
    opId: 1n,
  });
  world.expect((await world.run()).rootShards).toEqual([11n, 10n]);
}

/** Three pages: nothing of them exists before the last one, and then all of it does. */
async function registeredInPages(world: World): Promise<void> {
  const { coordinator } = world;
  const run = { tenant: TENANT, run: RUN };
  unwrap(await coordinator.createRun({ ...run, config }));
  const first = { ...run, shards: [initial(12, "c", "e"), initial(11, "a", "c")], opId: op(1), more: true };
  world.expect(unwrap(await coordinator.registerShards(first))).toEqual({ kind: "Executed", value: [12n, 11n] });
  world.expect(unwrap(await coordinator.registerShards(first))).toEqual({ kind: "Replayed", value: [12n, 11n] });
  world.expectRefusal(await coordinator.registerShards({ ...first, more: false }), "OpIdConflict", { opId: 1n });

  world.expect(await world.run()).toMatchObject({ status: "Initializing", rootShards: [] });
  world.expect(unwrap(await coordinator.getRunProgress(run)).total).toBe(0);
  world.expect(unwrap(await coordinator.listShards(run)).items).toEqual([]);
  const key = { run: RUN, shard: ShardId.fromRaw(11n) };
  world.expect(unwrap(await coordinator.getShard({ tenant: TENANT, key }))).toBe(undefined);
  world.expectRefusal(await coordinator.claim({ ...run, worker: worker(1) }), "NoneAvailable", {});
  world.expectRefusal(await coordinator.acquire({ tenant: TENANT, key, worker: worker(1) }), "ShardNotFound", {});

  const overlapping = { ...run, shards: [initial(13, "d", "f")], opId: op(2) };
  world.expectRefusal(await coordinator.registerShards(overlapping), "ManifestInvalid", {
    reason: { kind: "OverlappingRanges", shardA: 12n, shardB: 13n },
  });
  const repeated = { ...run, shards: [initial(11, "e", "f")], opId: op(2) };
  world.expectRefusal(await coordinator.registerShards(repeated), "ManifestInvalid", {
    reason: { kind: "DuplicateIds", shardId: 11n },
  });

  const second = { ...run, shards: [initial(13, "e", "g")], opId: op(2), more: true };
  world.expectOutcome(await coordinator.registerShards(second), "Executed");
  const last = { ...run, shards: [initial(14, "h", "k"), initial(15, "k", "l")], opId: op(3) };
  world.expect(unwrap(await coordinator.registerShards(last))).toEqual({ kind: "Executed", value: [14n, 15n] });
  world.expect(unwrap(await coordinator.registerShards(last))).toEqual({ kind: "Replayed", value: [14n, 15n] });
  world.expectOutcome(await coordinator.registerShards(second), "Replayed");

  world.expect(await world.run()).toMatchObject({ status: "Active", rootShards: [14n, 15n] });
  world.expect(unwrap(await coordinator.getRunProgress(run))).toMatchObject({ total: 5, active: 5 });
  const listed = unwrap(await coordinator.listShards(run)).items.map(({ shard }) => shard);
  world.expect(listed).toEqual([11n, 12n, 13n, 14n, 15n]);
  const sessions = unwrap(await coordinator.claimMany({ ...run, worker: worker(1), count: 5 }));
  world.expect(sessions.length).toBe(5);
}

/** More shards than a manifest may have, and more than a store writes in one piece. */
async function manyPages(world: World): Promise<void> {
  const { coordinator } = world;
  const run = { tenant: TENANT, run: RUN };
  const key = (index: number) => `k${String(index).padStart(6, "0")}`;
  unwrap(await coordinator.createRun({ ...run, config }));
  for (const [page, count] of [PAGE_SIZE, PAGE_SIZE, 5].entries()) {
    const shards = Array.from({ length: count }, (_, index) => {
      const at = page * PAGE_SIZE + index;
      return initial(at + 1, key(at), key(at + 1));
    });
    const registered = await coordinator.registerShards({ ...run, shards, opId: op(page + 1), more: page < 2 });
    world.expect(unwrap(registered).value.length).toBe(count);
  }
  world.expect(unwrap(await coordinator.getRunProgress(run)).total).toBe(2 * PAGE_SIZE + 5);
  world
    .expect(unwrap(await coordinator.listShards({ ...run, limit: 2 })).items.map(({ shard }) => shard))
    .toEqual([1n, 2n]);
  unwrap(await coordinator.cancelRun({ ...run, opId: op(9) }));
  unwrap(await coordinator.deleteRun(run));
}

async function canceledBetweenPages(world: World): Promise<void> {
  const { coordinator } = world;
  const run = { tenant: TENANT, run: RUN };
  unwrap(await coordinator.createRun({ ...run, config }));
  unwrap(await coordinator.registerShards({ ...run, shards: [initial(11, "a", "c")], opId: op(1), more: true }));
  unwrap(await coordinator.cancelRun({ ...run, opId: op(2) }));
  const more = { ...run, shards: [initial(12, "c", "d")], opId: op(3) };
  world.expectRefusal(await coordinator.registerShards(more), "WrongStatus", { status: "Cancelled" });
  unwrap(await coordinator.deleteRun(run));
  world.expectRefusal(await coordinator.getRun(run), "RunNotFound", {});
}

async function limits(world: World): Promise<void> {
  const coordinator = world.makeCoordinator({ limits: { maxShardsPerTenant: 3, maxShardsTotal: 4 } });
  const register = (tenant: typeof TENANT, run: bigint, count: number) =>
    coordinator.createRunWithShards({
      tenant,
      run: RunId.fromRaw(run),
      config,
      shards: "abcdef"
        .split("")
        .slice(0, count)
        .map((start, index) => initial(10 + index, start, `${start}z`)),
      opId: op(1),
    });
  unwrap(await register(TENANT, 1n, 2));
  world.expectRefusal(await register(TENANT, 2n, 2), "RegisterShardsFailed", {
    reason: { kind: "ShardLimitExceeded", scope: "PerTenant", current: 2, additional: 2, max: 3 },
  });
  world.expectRefusal(await coordinator.getRun({ tenant: TENANT, run: RunId.fromRaw(2n) }), "RunNotFound");
  unwrap(await register(OTHER_TENANT, 1n, 1));
  world.expectRefusal(await register(OTHER_TENANT, 2n, 2), "RegisterShardsFailed", {
    reason: { kind: "ShardLimitExceeded", scope: "Global", current: 3, additional: 2, max: 4 },
  });
  const { lease } = await world.acquire(1);
  const plan = replaceAt("a", ["ab"], "az");
  world.expectRefusal(await coordinator.splitReplace({ tenant: TENANT, lease, plan, opId: op(2) }), "SplitInvalid", {
    reason: { kind: "ShardLimitExceeded", scope: "PerTenant", current: 2, additional: 2, max: 3 },
  });
  world.expect((await world.shard()).status).toBe("Active");
  world.expectOutcome(
    await coordinator.splitResidual({ tenant: TENANT, lease, plan: residualAt("a", "ab", "az"), opId: op(3) }),
    "Executed",
  );
  // A deleted run no longer counts.
  unwrap(await world.endRun("cancelRun", 9));
  unwrap(await coordinator.deleteRun({ tenant: TENANT, run: RUN }));
  unwrap(await register(TENANT, 3n, 3));
}

export const registrationCases: readonly ConformanceCase[] = [
  { name: "a run is created once, and has no shards at first", run: creation },
  { name: "a run and its shards are created together or not at all", run: creationWithShards },
  { name: "C1 of the decisions: the manifest's rules", run: manifestRules },
  { name: "C2: shards are registered once", run: registerOnlyOnce },
  { name: "shards are registered in pages, and exist with the last page", run: registeredInPages },
  { name: "pages may have more shards than a manifest", run: manyPages },
  { name: "a run can be canceled and deleted between two pages", run: canceledBetweenPages },
  { name: "quotas are enforced, the tenant's first, and freed by deletion", run: limits },
];
