import { FenceEpoch, LogicalTime, OpId, RunId, ShardId, U64_MAX, WorkerId, type ShardStatus } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import type { PayloadHash } from "../../hashing/payload-hash.ts";
import { MAX_CLAIM_COUNT } from "../../records/capacity-hint.ts";
import { OpKind } from "../../records/op-kind.ts";
import { OpResult } from "../../records/op-result.ts";
import type { ShardPosition, StoreVersion } from "../../store/store-reads.ts";
import type { ConformanceCase } from "./conformance-case.ts";
import { commit, LIMITS, makeRun, makeShard, mustCommit, now, putRun, read, update } from "./store-steps.ts";
import { at, KEY, OTHER_TENANT, range, RUN, SHARD, TENANT, text, type World } from "./world.ts";

async function recordsComeBack(world: World): Promise<void> {
  const u64 = <Id>(raw: bigint) => raw as Id;
  const opLog = Array.from({ length: 16 }, (_, index) => ({
    opId: OpId.fromRaw(U64_MAX - BigInt(index)),
    kind: OpKind.values[index % OpKind.values.length]!,
    result: OpResult.values[index % OpResult.values.length]!,
    payloadHash: u64<PayloadHash>(U64_MAX - BigInt(index)),
    executedAt: LogicalTime.fromRaw(BigInt(index + 1)),
  }));
  const full = makeShard(U64_MAX, {
    parent: SHARD,
    spec: range("a".repeat(4096), "z".repeat(4096), "m".repeat(16_384)),
    cursor: at("k".repeat(4096), "t".repeat(16_384)),
    cursorSemantics: "Dispatched",
    lease: { owner: WorkerId.fromRaw(U64_MAX), deadline: LogicalTime.MAX, opId: OpId.fromRaw(0n) },
    fenceEpoch: FenceEpoch.fromRaw(U64_MAX),
    spawned: Array.from({ length: 1024 }, (_, index) => ShardId.fromRaw((1n << 63n) | BigInt(index))),
    opLog,
    lastTime: LogicalTime.fromRaw(U64_MAX - 1n),
    attempts: 0xffff_ffff,
  });
  const parked = makeShard(11n, { status: "Parked", parkReason: "TooManyErrors", spec: range("b", "c") });
  const run = makeRun({
    config: { cursorSemantics: "Dispatched", leaseDuration: U64_MAX, maxShardRetries: 0xffff_ffff },
    status: "Cancelled",
    completedAt: LogicalTime.fromRaw(U64_MAX - 1n),
    lastTime: LogicalTime.fromRaw(U64_MAX - 1n),
    rootShards: [ShardId.fromRaw(0n), SHARD],
    opLog: [
      {
        opId: OpId.fromRaw(1n),
        kind: "RegisterShards",
        payloadHash: u64<PayloadHash>(7n),
        executedAt: now,
        result: { kind: "RegisteredShards", shards: [ShardId.fromRaw(0n), SHARD] },
      },
      {
        opId: OpId.fromRaw(2n),
        kind: "CancelRun",
        payloadHash: u64<PayloadHash>(U64_MAX),
        executedAt: now,
        result: { kind: "Ack" },
      },
    ],
  });
  await mustCommit(world, putRun({ after: run, created: [full, parked, makeShard()] }));
  for (const record of [full, parked, makeShard()])
    world.expect((await read(world, record.shard)).shard.record).toEqual(record);
  world.expect(unwrap(await world.store.readRun(TENANT, RUN))).toMatchObject({ kind: "Found", record: run });
  // The same after every field that can change has been written, and after optional fields have been removed.
  const { shard } = await read(world);
  const { spec, cursor, lease, fenceEpoch, spawned, lastTime, attempts } = full;
  const rest = { spec, cursor, lease, fenceEpoch, spawned, opLog, lastTime, attempts };
  await mustCommit(world, update(shard, rest));
  world.expect((await read(world)).shard.record).toEqual({ ...makeShard(), ...rest });
  const { shard: written } = await read(world);
  await mustCommit(world, update(written, makeShard()));
  world.expect((await read(world)).shard.record).toEqual(makeShard());
}

async function bytesAreTheStoresOwn(world: World): Promise<void> {
  const cursor = at("k", "t");
  await mustCommit(world, putRun({ created: [makeShard(SHARD, { cursor })] }));
  const first = await read(world);
  first.shard.record.spec.keyRangeStart.fill(0xff);
  first.shard.record.cursor.lastKey!.fill(0xff);
  cursor.token!.fill(0xff);
  world.expect((await read(world)).shard.record.spec).toEqual(range("a", "z"));
  world.expect((await read(world)).shard.record.cursor).toEqual(at("k", "t"));
}

async function guards(world: World): Promise<void> {
  const runVersion = await mustCommit(world, putRun());
  const stale = await read(world);
  world.expect(stale.run.version).toBe(runVersion);
  await mustCommit(world, update(stale.shard, { attempts: 1 }, { runGuard: runVersion }));
  world.expect(await commit(world, update(stale.shard, { attempts: 2 }))).toMatchObject({ kind: "Conflict" });
  const fresh = await read(world);
  world.expect(fresh.shard.record.attempts).toBe(1);
  const next = await mustCommit(
    world,
    putRun({ guard: runVersion, created: [], after: makeRun({ lastTime: LogicalTime.fromRaw(6n) }) }),
  );
  world.expect(next === runVersion).toBe(false);
  world
    .expect(await commit(world, update(fresh.shard, { attempts: 3 }, { runGuard: runVersion })))
    .toMatchObject({ kind: "Conflict" });
  world.expect(await commit(world, putRun({ guard: runVersion, created: [] }))).toMatchObject({ kind: "Conflict" });
  world.expect(await commit(world, putRun({ guard: undefined, created: [] }))).toMatchObject({ kind: "Conflict" });
  // A shard's write does not change its run's version.
  await mustCommit(world, update(fresh.shard, { attempts: 4 }, { runGuard: next }));
  world.expect((await read(world)).run.version).toBe(next);
  const missing = { ...fresh.shard, record: makeShard(99n) };
  world.expect(await commit(world, update(missing, { attempts: 1 }))).toMatchObject({ kind: "Conflict" });
}

async function splitsAreAtomic(world: World): Promise<void> {
  await mustCommit(world, putRun());
  const { run, shard } = await read(world);
  const children = [1n, 2n].map((index) => makeShard((1n << 63n) | index, { parent: SHARD }));
  const after = { ...shard.record, status: "Split" as ShardStatus, spawned: children.map((child) => child.shard) };
  const write = { guard: shard.version, before: shard.record, after };
  const set = {
    kind: "SplitShard",
    tenant: TENANT,
    run: RUN,
    shard: write,
    runGuard: run.version,
    created: children,
    limits: LIMITS,
  } as const;

  world.expect(await commit(world, { ...set, runGuard: shard.version })).toMatchObject({ kind: "Conflict" });
  const tight = { maxShardsPerTenant: 2, maxShardsTotal: 2 };
  world
    .expect(await commit(world, { ...set, limits: tight }))
    .toMatchObject({ kind: "LimitExceeded", scope: "PerTenant", current: 1, additional: 2, max: 2 });
  world
    .expect(await commit(world, { ...set, limits: { ...tight, maxShardsPerTenant: 9 } }))
    .toMatchObject({ kind: "LimitExceeded", scope: "Global", current: 1 });
  const taken = [children[0]!, makeShard(SHARD)];
  world.expect(await commit(world, { ...set, created: taken, limits: tight })).toMatchObject({ kind: "LimitExceeded" });
  world.expect(await commit(world, { ...set, created: taken })).toMatchObject({ kind: "Exists", shard: SHARD });
  world
    .expect(unwrap(await world.store.readShard(TENANT, { run: RUN, shard: children[0]!.shard })).shard)
    .toBe(undefined);
  world.expect((await read(world)).shard.record.status).toBe("Active");

  await mustCommit(world, set);
  world.expect((await read(world)).shard.record.status).toBe("Split");
  world.expect((await read(world, children[1]!.shard)).shard.record).toEqual(children[1]);
  world.expect(await commit(world, set)).toMatchObject({ kind: "Conflict" });
}

async function statesOfShards(world: World): Promise<void> {
  const version = await mustCommit(
    world,
    putRun({ created: [makeShard(), makeShard(11n, { status: "Parked", parkReason: "Other" })] }),
  );
  const ending = (noShardsIn: readonly ShardStatus[]) =>
    putRun({ guard: version, created: [], after: makeRun({ status: "Done", completedAt: now }), noShardsIn });
  world.expect(await commit(world, ending(["Active", "Parked"]))).toMatchObject({ kind: "Conflict" });
  const { shard } = await read(world);
  await mustCommit(world, update(shard, { status: "Done" }));
  world.expect(await commit(world, ending(["Active", "Parked"]))).toMatchObject({ kind: "Conflict" });
  world.expect(await commit(world, ending(["Active"]))).toMatchObject({ kind: "Committed" });
}

async function removal(world: World): Promise<void> {
  const { store } = world;
  world.expect(unwrap(await store.readRun(TENANT, RUN))).toEqual({ kind: "Missing" });
  const version = await mustCommit(world, putRun({ created: [makeShard(), makeShard(11n)] }));
  const other = RunId.fromRaw(2n);
  const rest = makeRun({ run: other });
  await mustCommit(world, putRun({ after: rest, created: [makeShard(SHARD, { run: other })] }));
  const held = await read(world);
  const remove = { kind: "RemoveRun", tenant: TENANT, run: RUN, guard: version } as const;
  world.expect(await commit(world, { ...remove, guard: held.shard.version })).toMatchObject({ kind: "Conflict" });
  await mustCommit(world, remove);
  world.expect(unwrap(await store.readRun(TENANT, RUN))).toEqual({ kind: "Deleted" });
  world.expect(unwrap(await store.readShard(TENANT, KEY)).shard).toBe(undefined);
  world.expect(await commit(world, remove)).toMatchObject({ kind: "Conflict" });
  world.expect(await commit(world, putRun())).toMatchObject({ kind: "Conflict" });
  world.expect(await commit(world, update(held.shard, { attempts: 1 }))).toMatchObject({ kind: "Conflict" });
  // The quota is free again, and the other run is unchanged.
  const limits = { maxShardsPerTenant: 2, maxShardsTotal: 2 };
  const third = makeRun({ run: RunId.fromRaw(3n) });
  await mustCommit(world, putRun({ after: third, created: [makeShard(SHARD, { run: third.run })], limits }));
  world.expect((await read(world, SHARD, other)).shard.record.run).toBe(other);
}

async function batches(world: World): Promise<void> {
  const ids = [1n, 2n, 3n, 4n];
  await mustCommit(world, putRun({ created: ids.map((id) => makeShard(id)) }));
  const reads = await Promise.all(ids.map((id) => read(world, id)));
  await mustCommit(world, update(reads[1]!.shard, { attempts: 9 }));
  const sets = reads.map(({ shard }, index) =>
    update(shard, { attempts: index + 1 }, { hintAt: index === 3 ? now : undefined }),
  );
  const answers = await world.store.commit(sets);
  world.expect(answers.map((answer) => answer.kind)).toEqual(["Committed", "Conflict", "Committed", "Committed"]);
  const attempts = await Promise.all(ids.map(async (id) => (await read(world, id)).shard.record.attempts));
  world.expect(attempts).toEqual([1, 9, 3, 4]);
  world
    .expect(answers[3])
    .toMatchObject({ hint: { availableCount: 4, earliestDeadline: undefined, isStarved: false } });
}

async function versionsNeverComeBack(world: World): Promise<void> {
  await mustCommit(world, putRun());
  const seen = new Set<StoreVersion>();
  for (let count = 0; count < 20; count++) {
    const { shard } = await read(world);
    world.expect(seen.has(shard.version)).toBe(false);
    seen.add(shard.version);
    const version = await mustCommit(world, update(shard, { attempts: count % 2 }));
    world.expect((await read(world)).shard.version).toBe(version);
  }
}

async function claimIndex(world: World): Promise<void> {
  const lease = (deadline: bigint) => ({
    owner: WorkerId.fromRaw(1n),
    deadline: LogicalTime.fromRaw(deadline),
    opId: OpId.fromRaw(1n),
  });
  const created = [
    makeShard(1n),
    makeShard(2n, { lease: lease(50n) }),
    makeShard(3n, { lease: lease(80n) }),
    makeShard(4n, { status: "Done" }),
    makeShard(5n, { status: "Parked", parkReason: "Other" }),
  ];
  await mustCommit(world, putRun({ created }));
  const look = async (time: bigint, limit = 10) => {
    const listed = unwrap(
      await world.store.listClaimCandidates({
        tenant: TENANT,
        run: RUN,
        now: LogicalTime.fromRaw(time),
        limit,
        spread: 0x8000_0000,
      }),
    );
    return {
      shards: listed.candidates.map(({ shard }) => shard).toSorted((a, b) => (a < b ? -1 : 1)),
      earliest: listed.earliestDeadline,
    };
  };
  const hint = async (time: bigint) =>
    unwrap(await world.store.readHint({ tenant: TENANT, run: RUN, now: LogicalTime.fromRaw(time) }));
  world.expect(await look(49n)).toEqual({ shards: [1n], earliest: 50n });
  world.expect(await hint(49n)).toEqual({ availableCount: 1, earliestDeadline: 50n, isStarved: false });
  world.expect(await look(50n)).toEqual({ shards: [1n, 2n], earliest: 80n });
  world.expect(await hint(50n)).toEqual({ availableCount: 2, earliestDeadline: 80n, isStarved: false });
  world.expect((await look(80n, 2)).shards.length).toBe(2);
  world.expect(await look(80n)).toEqual({ shards: [1n, 2n, 3n], earliest: undefined });
  // A renewed shard leaves the list, and one that has ended never returns to it.
  await mustCommit(world, update((await read(world, 2n)).shard, { lease: lease(200n) }));
  await mustCommit(world, update((await read(world, 1n)).shard, { status: "Done" }));
  world.expect(await look(90n)).toEqual({ shards: [3n], earliest: 200n });
  await mustCommit(world, update((await read(world, 5n)).shard, { status: "Active", parkReason: undefined }));
  world.expect(await look(90n)).toEqual({ shards: [3n, 5n], earliest: 200n });
  const { run } = unwrap(await world.store.listClaimCandidates({ tenant: TENANT, run: RUN, now, limit: 1, spread: 0 }));
  world.expect(run?.record.status).toBe("Active");
  world
    .expect(
      unwrap(await world.store.listClaimCandidates({ tenant: OTHER_TENANT, run: RUN, now, limit: 1, spread: 0 })).run,
    )
    .toBe(undefined);
}

/** Free and expired shards count alike, and a hint counts at most as many as one claim takes. */
async function hintsAreCapped(world: World): Promise<void> {
  const lapsing = { owner: WorkerId.fromRaw(1n), deadline: LogicalTime.fromRaw(50n), opId: OpId.fromRaw(1n) };
  const created = Array.from({ length: MAX_CLAIM_COUNT + 2 }, (_, index) =>
    makeShard(BigInt(index + 1), index < 4 ? { lease: lapsing, fenceEpoch: FenceEpoch.fromRaw(2n) } : {}),
  );
  await mustCommit(world, putRun({ created }));
  const count = async (time: bigint) =>
    unwrap(await world.store.readHint({ tenant: TENANT, run: RUN, now: LogicalTime.fromRaw(time) })).availableCount;
  world.expect(await count(49n)).toBe(MAX_CLAIM_COUNT - 2);
  world.expect(await count(50n)).toBe(MAX_CLAIM_COUNT);
  const touched = await commit(
    world,
    update((await read(world, 5n)).shard, { attempts: 1 }, { hintAt: LogicalTime.fromRaw(50n) }),
  );
  world.expect(touched.kind === "Committed" ? touched.hint?.availableCount : touched.kind).toBe(MAX_CLAIM_COUNT);
}

async function starvedMark(world: World): Promise<void> {
  const version = await mustCommit(world, putRun());
  const isStarved = async (time: bigint) =>
    unwrap(await world.store.readHint({ tenant: TENANT, run: RUN, now: LogicalTime.fromRaw(time) })).isStarved;
  world.expect(await isStarved(10n)).toBe(false);
  unwrap(await world.store.markStarved(TENANT, RUN, LogicalTime.fromRaw(50n)));
  world.expect([await isStarved(49n), await isStarved(50n)]).toEqual([true, false]);
  // It is advice outside the run's record and conflicts with nothing.
  world.expect((await read(world)).run.version).toBe(version);
  unwrap(await world.store.markStarved(TENANT, RunId.fromRaw(9n), LogicalTime.fromRaw(50n)));
}

async function staleListingIsSafe(world: World): Promise<void> {
  await mustCommit(world, putRun({ created: [makeShard(1n, { spec: range("a", "b", "m") })] }));
  const { items } = unwrap(
    await world.store.listShards({ tenant: TENANT, run: RUN, after: undefined, limit: 10, filter: {}, now }),
  );
  world.expect(items.map((record) => record.spec)).toEqual([range("a", "b", "m")]);
  const none = { tenant: OTHER_TENANT, run: RUN, after: undefined, limit: 10, filter: {}, now };
  world.expect(unwrap(await world.store.listShards(none))).toEqual({ items: [], next: undefined });
  const behind = { ...none, tenant: TENANT, after: { keyRangeStart: text("a"), shard: ShardId.fromRaw(1n) } };
  world.expect(unwrap(await world.store.listShards(behind)).items).toEqual([]);
}

async function positionsAreThoseOfTheShards(world: World): Promise<void> {
  const { store } = world;
  const starts = ["", "a", "a", "a\0", "a\0b", "b".repeat(900), `${"b".repeat(900)}c`, "c".repeat(4096)];
  const created = starts.map((start, index) => makeShard(BigInt(index + 1), { spec: range(start, "d") }));
  await mustCommit(world, putRun({ created }));
  if (store.listShardPositions === undefined) return;
  for (const limit of [1, 3, 8, 100]) {
    const listed: ShardPosition[] = [];
    let after: ShardPosition | undefined;
    do {
      const page = unwrap(await store.listShardPositions({ tenant: TENANT, run: RUN, after, limit }));
      world.expect(page.items.length <= limit).toBe(true);
      listed.push(...page.items);
      after = page.next;
    } while (after !== undefined);
    world.expect(listed).toEqual(created.map(({ spec, shard }) => ({ keyRangeStart: spec.keyRangeStart, shard })));
  }
  const none = { tenant: OTHER_TENANT, run: RUN, after: undefined, limit: 10 };
  world.expect(unwrap(await store.listShardPositions(none))).toEqual({ items: [], next: undefined });
}

/** What a store must do by itself, without a coordinator. */
export const storeCases: readonly ConformanceCase[] = [
  { name: "records are read as they were written, the largest and the smallest", run: recordsComeBack },
  { name: "bytes are copied on writes and reads", run: bytesAreTheStoresOwn },
  { name: "a write is made exactly if its guards hold", run: guards },
  { name: "a split is atomic, and its refusals have a fixed order", run: splitsAreAtomic },
  { name: "a run ends only if none of its shards prevents it", run: statesOfShards },
  { name: "a removed run leaves a tombstone and frees its quota", run: removal },
  { name: "each write set of a call succeeds or fails by itself", run: batches },
  { name: "every write gives a new version", run: versionsNeverComeBack },
  { name: "the claim index has exactly the shards that can be claimed, at any time", run: claimIndex },
  { name: "Q4: a hint counts at most as many shards as one claim takes", run: hintsAreCapped },
  { name: "P16: a mark of starvation expires and affects nothing else", run: starvedMark },
  { name: "a list has the shards of one run only, and ends", run: staleListingIsSafe },
  {
    name: "positions are listed in the order of the shards, if the store lists them",
    run: positionsAreThoseOfTheShards,
  },
];
