import { ShardId, ShardStatus } from "@gossip/contracts";
import { assert, unwrap } from "@gossip/stdx";
import type { ShardRecord } from "../../records/shard-record.ts";
import { RunProgress } from "../../views/run-progress.ts";
import type { Versioned } from "../../store/store-reads.ts";
import type { ConformanceCase } from "./conformance-case.ts";
import { commit, makeRun, makeShard, mustCommit, now, putRun, read, update } from "./store-steps.ts";
import { at, range, RUN, TENANT, type World } from "./world.ts";

/** A store may count its shards, or keep counts: in each case they are those of the shards that it lists. */
async function expectExact(world: World): Promise<RunProgress> {
  const query = { tenant: TENANT, run: RUN, now };
  const { items, next } = unwrap(await world.store.listShards({ ...query, filter: {}, limit: 1000, after: undefined }));
  assert(next === undefined, "the shards fit into one page");
  const progress = unwrap(await world.store.readProgress(query));
  world.expect(progress).toEqual(RunProgress.of(items, now));
  return progress;
}

const inStatus = (status: ShardStatus): Partial<ShardRecord> => ({
  status,
  parkReason: status === "Parked" ? "Poisoned" : undefined,
  spawned: status === "Split" ? [ShardId.fromRaw((1n << 63n) | 7n)] : [],
});

const spread = (count: number): ShardRecord[] =>
  Array.from({ length: count }, (_, index) => {
    const id = String(index).padStart(4, "0");
    return makeShard(BigInt(index), { spec: range(`k${id}`, `k${id}~`) });
  });

const readAll = (world: World, count: number): Promise<Versioned<ShardRecord>[]> =>
  Promise.all(Array.from({ length: count }, async (_, index) => (await read(world, BigInt(index))).shard));

async function everyTransitionIsCounted(world: World): Promise<void> {
  const created = ShardStatus.values.map((status, index) =>
    makeShard(BigInt(index), { ...inStatus(status), spec: range(`k${index}`, `k${index}~`) }),
  );
  await mustCommit(world, putRun({ created }));
  world.expect(await expectExact(world)).toMatchObject({ total: 4, active: 1, done: 1, split: 1, parked: 1 });
  for (const to of [...ShardStatus.values, ...ShardStatus.values.toReversed()]) {
    for (const index of created.keys()) {
      const { shard } = await read(world, BigInt(index));
      await mustCommit(world, update(shard, { ...inStatus(to), cursor: at(`k${index}b`) }));
      await expectExact(world);
    }
  }
}

async function refusedUpdatesAreNotCounted(world: World): Promise<void> {
  await mustCommit(world, putRun({ created: spread(9) }));
  const stale = await readAll(world, 9);
  for (const index of [0, 4, 5, 8]) await mustCommit(world, update(stale[index]!, { attempts: 1 }));
  const answers = await world.store.commit(
    stale.map((shard, index) => update(shard, index % 2 === 0 ? inStatus("Done") : inStatus("Parked"))),
  );
  world
    .expect(answers.map(({ kind }) => kind))
    .toEqual(stale.map((_, index) => ([0, 4, 5, 8].includes(index) ? "Conflict" : "Committed")));
  world.expect(await expectExact(world)).toMatchObject({ total: 9, active: 4, done: 2, parked: 3 });
  // The answer was lost and the write is repeated: it is counted once.
  world.expect(await commit(world, update(stale[1]!, inStatus("Parked")))).toMatchObject({ kind: "Conflict" });
  await expectExact(world);
}

async function concurrentChangesAreAllCounted(world: World): Promise<void> {
  const count = 96;
  await mustCommit(world, putRun({ created: spread(count) }));
  const move = async (status: ShardStatus): Promise<void> => {
    let left = await readAll(world, count);
    for (let tries = 0; left.length > 0; tries++) {
      assert(tries < 64, "writes of different shards must not refuse each other for long");
      const batches = Array.from({ length: 8 }, (_, batch) => left.filter((_, index) => index % 8 === batch));
      const answers = await Promise.all(
        batches.map(async (batch) => world.store.commit(batch.map((shard) => update(shard, inStatus(status))))),
      );
      left = batches.flatMap((batch, at) => batch.filter((_, index) => answers[at]![index]!.kind !== "Committed"));
    }
  };
  await move("Parked");
  world.expect(await expectExact(world)).toMatchObject({ active: 0, parked: count });
  await move("Active");
  world.expect(await expectExact(world)).toMatchObject({ active: count, parked: 0 });
  await move("Done");
  world.expect(await expectExact(world)).toMatchObject({ active: 0, done: count });
}

async function splitsAndPagesAreCounted(world: World): Promise<void> {
  const initializing = makeRun({ status: "Initializing", rootShards: [] });
  const first = await mustCommit(world, putRun({ after: initializing, created: spread(3) }));
  const more = spread(6).slice(3);
  const guard = await mustCommit(world, putRun({ guard: first, created: more }));
  world.expect(await expectExact(world)).toMatchObject({ total: 6, active: 6 });
  const { shard } = await read(world, 2n);
  const child = (id: bigint): ShardRecord =>
    makeShard((1n << 63n) | id, { parent: ShardId.fromRaw(2n), spec: range(`k0002${id}`, `k0002${id}~`) });
  const after = { ...shard.record, ...inStatus("Split"), spawned: [child(1n).shard, child(2n).shard] };
  const split = {
    kind: "SplitShard",
    tenant: TENANT,
    run: RUN,
    shard: { guard: shard.version, before: shard.record, after },
    runGuard: guard,
    created: [child(1n), child(2n)],
    limits: { maxShardsPerTenant: 1000, maxShardsTotal: 1000 },
  } as const;
  await mustCommit(world, split);
  world.expect(await commit(world, split)).toMatchObject({ kind: "Conflict" });
  world.expect(await expectExact(world)).toMatchObject({ total: 8, active: 7, split: 1 });
  await mustCommit(world, { kind: "RemoveRun", tenant: TENANT, run: RUN, guard });
  world.expect(unwrap(await world.store.readProgress({ tenant: TENANT, run: RUN, now }))).toEqual(RunProgress.NONE);
}

export const statusCountCases: readonly ConformanceCase[] = [
  { name: "every change of a status is counted, in both directions", run: everyTransitionIsCounted },
  { name: "a refused update is not counted, and does not affect the others", run: refusedUpdatesAreNotCounted },
  { name: "concurrent changes are all counted", run: concurrentChangesAreAllCounted },
  { name: "splits, pages of shards and removed runs are counted", run: splitsAndPagesAreCounted },
];
