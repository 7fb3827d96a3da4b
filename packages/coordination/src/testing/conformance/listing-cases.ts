import { RunId, type ShardId, type TenantId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import type { ShardPosition } from "../../store/store-reads.ts";
import { ShardFilter } from "../../views/shard-filter.ts";
import type { ConformanceCase } from "./conformance-case.ts";
import {
  at,
  initial,
  KEY,
  op,
  OTHER_TENANT,
  replaceAt,
  residualAt,
  RUN,
  TENANT,
  text,
  worker,
  type World,
} from "./world.ts";

/** A run in which every state occurs: [a,c) done, [c,f) split at d, [f,m) held and cut at h, [m,p) parked, [p,z) free. */
async function seedAllStates(world: World): Promise<void> {
  const { coordinator } = world;
  const shards = [
    initial(14, "p", "z"),
    initial(10, "a", "c"),
    initial(13, "m", "p"),
    initial(11, "c", "f"),
    initial(12, "f", "m"),
  ];
  await world.seed({ shards });
  const lease = async (shard: bigint) => (await world.acquire(1, { key: { ...KEY, shard: shard as ShardId } })).lease;
  unwrap(await world.complete(await lease(10n), at("b"), 1));
  unwrap(
    await coordinator.splitReplace({
      tenant: TENANT,
      lease: await lease(11n),
      plan: replaceAt("c", ["d"], "f"),
      opId: op(2),
    }),
  );
  const held = await lease(12n);
  unwrap(await world.checkpoint(held, "g", 3));
  unwrap(
    await coordinator.splitResidual({ tenant: TENANT, lease: held, plan: residualAt("f", "h", "m"), opId: op(4) }),
  );
  unwrap(await coordinator.park({ tenant: TENANT, lease: await lease(13n), reason: "NotFound", opId: op(5) }));
}

async function listAll(world: World, filter: ShardFilter, limit: number): Promise<string[]> {
  const listed: string[] = [];
  let after: ShardPosition | undefined;
  do {
    const page = unwrap(await world.coordinator.listShards({ tenant: TENANT, run: RUN, filter, limit, after }));
    world.expect(page.items.length <= limit).toBe(true);
    for (const { keyRangeStart, keyRangeEnd, status } of page.items) {
      listed.push(`${new TextDecoder().decode(keyRangeStart)}-${new TextDecoder().decode(keyRangeEnd)} ${status}`);
    }
    after = page.next;
  } while (after !== undefined);
  return listed;
}

async function shardsInOrder(world: World): Promise<void> {
  await seedAllStates(world);
  const all = [
    "a-c Done",
    "c-f Split",
    "c-d Active",
    "d-f Active",
    "f-h Active",
    "h-m Active",
    "m-p Parked",
    "p-z Active",
  ];
  for (const limit of [1, 2, 3, 8, 100]) {
    const listed = await listAll(world, ShardFilter.ALL, limit);
    // The parent and its first child start at the same key, so their ids decide. The id of a root is smaller.
    world.expect(listed).toEqual(all);
  }
}

async function shardsByFilter(world: World): Promise<void> {
  await seedAllStates(world);
  for (const limit of [1, 3, 100]) {
    world
      .expect(await listAll(world, ShardFilter.ACTIVE, limit))
      .toEqual(["c-d Active", "d-f Active", "f-h Active", "h-m Active", "p-z Active"]);
    world
      .expect(await listAll(world, ShardFilter.AVAILABLE, limit))
      .toEqual(["c-d Active", "d-f Active", "h-m Active", "p-z Active"]);
    world.expect(await listAll(world, ShardFilter.PARKED, limit)).toEqual(["m-p Parked"]);
    world.expect(await listAll(world, { isLeased: true }, limit)).toEqual(["f-h Active"]);
    world
      .expect(await listAll(world, { rootOnly: true, status: "Active" }, limit))
      .toEqual(["f-h Active", "p-z Active"]);
  }
  // Whether a lease is valid depends on the time of the call.
  world.clock.advance(100n);
  world.expect(await listAll(world, { isLeased: true }, 100)).toEqual([]);
}

async function summaries(world: World): Promise<void> {
  await seedAllStates(world);
  const { items } = unwrap(await world.coordinator.listShards({ tenant: TENANT, run: RUN }));
  const held = items.find((item) => item.shard === 12n);
  world.expect(held).toEqual({
    shard: 12n,
    status: "Active",
    parkReason: undefined,
    isLeased: true,
    leaseDeadline: 101n,
    acquireCount: 1,
    lastKey: text("g"),
    keyRangeStart: text("f"),
    keyRangeEnd: text("h"),
    parent: undefined,
    spawnedCount: 1,
  });
  world
    .expect(items.find((item) => item.shard === 13n))
    .toMatchObject({ parkReason: "NotFound", isLeased: false, leaseDeadline: undefined });
}

async function progress(world: World): Promise<void> {
  await seedAllStates(world);
  const request = { tenant: TENANT, run: RUN };
  world.expect(unwrap(await world.coordinator.getRunProgress(request))).toEqual({
    total: 8,
    active: 5,
    done: 1,
    split: 1,
    parked: 1,
    leased: 1,
    watermark: text("g"),
  });
  world.clock.advance(100n);
  world.expect(unwrap(await world.coordinator.getRunProgress(request)).leased).toBe(0);
  const { fraction, shardCount } = unwrap(await world.coordinator.estimateProgress(request));
  world.expect(shardCount).toBe(7);
  world.expect(fraction > 0.05 && fraction < 0.5).toBe(true);
}

async function watermark(world: World): Promise<void> {
  await world.seed({ shards: [initial(10, "a", "h"), initial(11, "h", "z")] });
  const request = { tenant: TENANT, run: RUN };
  world.expect(unwrap(await world.coordinator.getRunProgress(request)).watermark).toBe(undefined);
  const low = await world.acquire(1);
  const high = await world.acquire(2, { key: { ...KEY, shard: 11n as ShardId } });
  unwrap(await world.checkpoint(high.lease, "q", 1));
  unwrap(await world.checkpoint(low.lease, "bb", 1));
  world.expect(unwrap(await world.coordinator.getRunProgress(request)).watermark).toEqual(text("bb"));
  unwrap(await world.complete(low.lease, at("g"), 2));
  world.expect(unwrap(await world.coordinator.getRunProgress(request)).watermark).toEqual(text("q"));
}

async function runsAndTenants(world: World): Promise<void> {
  const { coordinator } = world;
  const ids = [5n, 2n, (1n << 63n) + 1n, 0n].map((id) => RunId.fromRaw(id));
  for (const run of ids) await world.seed({ run });
  await world.seed({ tenant: OTHER_TENANT });
  const sorted = ids.toSorted((a, b) => (a < b ? -1 : 1));
  for (const limit of [1, 3, 4, 50]) {
    const runs: RunId[] = [];
    let after: RunId | undefined;
    do {
      const page = unwrap(await coordinator.listRuns({ tenant: TENANT, limit, after }));
      runs.push(...page.items.map((record) => record.run));
      after = page.next;
    } while (after !== undefined);
    world.expect(runs).toEqual(sorted);

    const tenants: TenantId[] = [];
    let last: TenantId | undefined;
    do {
      const page = unwrap(await coordinator.listTenants({ limit, after: last }));
      tenants.push(...page.items);
      last = page.next;
    } while (last !== undefined);
    world.expect(tenants).toEqual([TENANT, OTHER_TENANT]);
  }
  unwrap(await coordinator.cancelRun({ tenant: OTHER_TENANT, run: RUN, opId: op(1) }));
  unwrap(await coordinator.deleteRun({ tenant: OTHER_TENANT, run: RUN }));
  world.expect(unwrap(await coordinator.listRuns({ tenant: OTHER_TENANT })).items).toEqual([]);
  world.expect(unwrap(await coordinator.listTenants()).items).toEqual([TENANT]);
  world
    .expect(unwrap(await coordinator.listRuns({ tenant: TENANT, limit: 1 })).items[0])
    .toMatchObject({ status: "Active", rootShards: [10n] });
}

async function records(world: World): Promise<void> {
  await seedAllStates(world);
  const { coordinator } = world;
  const request = { tenant: TENANT, run: RUN };
  const seen: ShardId[] = [];
  let after: ShardPosition | undefined;
  do {
    const page = unwrap(await coordinator.listShardRecords({ ...request, limit: 3, after }));
    for (const record of page.items) {
      seen.push(record.shard);
      const { shard } = record;
      world.expect(record).toEqual(unwrap(await coordinator.getShard({ tenant: TENANT, key: { ...KEY, shard } })));
    }
    after = page.next;
  } while (after !== undefined);
  const summaries = unwrap(await coordinator.listShards({ ...request, limit: 100 })).items;
  world.expect(seen).toEqual(summaries.map(({ shard }) => shard));
  const parked = unwrap(await coordinator.listShardRecords({ ...request, filter: { status: "Parked" } }));
  world.expect(parked.items.map(({ shard }) => shard)).toEqual([13n]);
  const bare = unwrap(await coordinator.listShardRecords({ ...request, filter: { status: "Parked" }, withLog: false }));
  world.expect(bare.items).toEqual(parked.items.map((record) => ({ ...record, opLog: [] })));
  world.expectRefusal(await coordinator.listShardRecords({ tenant: TENANT, run: RunId.fromRaw(99n) }), "RunNotFound");
}

async function lookedUpRuns(world: World): Promise<void> {
  const { coordinator } = world;
  const request = { tenant: TENANT, run: RUN };
  world.expect(unwrap(await coordinator.lookUpRun(request))).toEqual({ kind: "Missing" });
  await world.seed();
  const record = unwrap(await coordinator.getRun(request));
  world.expect(unwrap(await coordinator.lookUpRun(request))).toEqual({ kind: "Found", record });
  world.expect(unwrap(await coordinator.lookUpRun({ ...request, tenant: OTHER_TENANT }))).toEqual({ kind: "Missing" });
  unwrap(await coordinator.cancelRun({ ...request, opId: op(1) }));
  unwrap(await coordinator.deleteRun(request));
  world.expect(unwrap(await coordinator.lookUpRun(request))).toEqual({ kind: "Deleted" });
}

async function rollups(world: World): Promise<void> {
  const { coordinator } = world;
  const request = { tenant: TENANT, run: RUN, name: "estimate" };
  world.expectRefusal(await coordinator.getRollup(request), "RunNotFound");
  world.expectRefusal(await coordinator.putRollup({ ...request, value: text("{}") }), "RunNotFound");
  await world.seed();
  world.expect(unwrap(await coordinator.getRollup(request))).toBe(undefined);
  unwrap(await coordinator.putRollup({ ...request, name: "estimate-2", value: text("2") }));
  world.expect(unwrap(await coordinator.getRollup(request))).toBe(undefined);
  for (const value of ["1", '{"items":3}']) {
    unwrap(await coordinator.putRollup({ ...request, value: text(value) }));
    world.expect(new TextDecoder().decode(unwrap(await coordinator.getRollup(request)))).toBe(value);
  }
  unwrap(await coordinator.putRollup({ ...request, value: undefined }));
  world.expect(unwrap(await coordinator.getRollup(request))).toBe(undefined);
}

async function nothingToList(world: World): Promise<void> {
  const { coordinator } = world;
  world.expect(unwrap(await coordinator.listTenants()).items).toEqual([]);
  world.expect(unwrap(await coordinator.listRuns({ tenant: TENANT })).items).toEqual([]);
  world.expectRefusal(await coordinator.listShards({ tenant: TENANT, run: RUN }), "RunNotFound");
  world.expectRefusal(await coordinator.collectClaimCandidates({ tenant: TENANT, run: RUN }), "RunNotFound");
  unwrap(await coordinator.createRun({ tenant: TENANT, run: RUN, config: { leaseDuration: 1n } }));
  world
    .expect(unwrap(await coordinator.listShards({ tenant: TENANT, run: RUN })))
    .toEqual({ items: [], next: undefined });
  world
    .expect(unwrap(await coordinator.collectClaimCandidates({ tenant: TENANT, run: RUN })))
    .toEqual({ shards: [], earliestDeadline: undefined });
}

async function largestRegistration(world: World): Promise<void> {
  const count = 10_000;
  const shards = Array.from({ length: count }, (_, index) => {
    const start = String(index).padStart(5, "0");
    return initial(index, start, `${start}~`);
  });
  const created = await world.seed({ shards });
  world.expect(created.rootShards.length).toBe(count);
  world
    .expect(unwrap(await world.coordinator.getRunProgress({ tenant: TENANT, run: RUN })))
    .toMatchObject({ total: count, active: count });
  const session = unwrap(await world.coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(1) }));
  world.expect(session.spec.keyRangeStart.length).toBe(5);
  const listed = await listAll(world, ShardFilter.ALL, 4_000);
  world.expect(listed.length).toBe(count);
  world.expect(listed.toSorted()).toEqual(listed);
}

/** Lists: decision P8 and the queries of the specification. */
export const listingCases: readonly ConformanceCase[] = [
  { name: "shards are listed by range start and then by id, whatever the page size", run: shardsInOrder },
  { name: "a filter returns exactly the shards that match", run: shardsByFilter },
  { name: "a summary describes a shard as it is", run: summaries },
  { name: "records are listed as they are stored", run: records },
  { name: "a run that was deleted differs from one that never existed", run: lookedUpRuns },
  { name: "a shared document is stored, replaced and removed", run: rollups },
  { name: "progress counts every state", run: progress },
  { name: "the watermark is the least key of an active shard", run: watermark },
  {
    name: "P8: runs and tenants are listed by id, whatever the page size, until they are deleted",
    run: runsAndTenants,
  },
  { name: "an empty store lists nothing", run: nothingToList },
  { name: "D3: ten thousand shards are registered at once", run: largestRegistration },
];
