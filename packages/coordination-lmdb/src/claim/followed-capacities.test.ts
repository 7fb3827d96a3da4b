// A capacity that is kept and not looked up is wrong as soon as one write is overlooked: another's, one that was refused, one that came
// in the same transaction. A worker would then wait for shards that are free, or split for others that have plenty.

import { LogicalTime, RunId, ShardId, TenantId } from "@gossip/contracts";
import type { CommitAnswer, UpdateShardSet } from "@gossip/coordination";
import { assert, unwrap } from "@gossip/stdx";
import { changed, makeRun, makeShard, type ShardChange } from "@gossip/tools/store-model";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { LmdbStore } from "../lmdb-store.ts";
import { openLmdbStore } from "../open/open-lmdb-store.ts";
import { makeStore } from "../temporary-store.fixture.ts";

const tenant = TenantId.ZERO;
const runs = [1n, 2n].map((raw) => RunId.fromRaw(raw));
const SHARD_COUNT = 4;
const limits = { maxShardsPerTenant: 1e9, maxShardsTotal: 1e9 };

async function putRun(store: LmdbStore, run: RunId, shardCount: number): Promise<void> {
  const created = Array.from({ length: shardCount }, (_, id) =>
    makeShard(tenant, run, ShardId.fromRaw(BigInt(id)), "a"),
  );
  const [answer] = await store.commit([
    { kind: "PutRun", tenant, run, guard: undefined, after: makeRun(tenant, run), created, limits, noShardsIn: [] },
  ]);
  assert(answer?.kind === "Committed", "the run is put there");
}

interface Change extends ShardChange {
  readonly shard: bigint;
  /** Of a version that was never stored. */
  readonly isRefused: boolean;
}

function update(store: LmdbStore, run: RunId, change: Change, now: LogicalTime | undefined): UpdateShardSet {
  const { shard } = unwrap(store.readShard(tenant, { run, shard: ShardId.fromRaw(change.shard) }));
  const { record: before, version } = shard!;
  const guard = change.isRefused ? (version as number) + 2 : version;
  return {
    kind: "UpdateShard",
    tenant,
    run,
    shard: { guard, before, after: changed(before, change) },
    runGuard: undefined,
    hintAt: now,
  };
}

/** Every hint in the answers is the one that a reader finds now. */
function expectHints(store: LmdbStore, sets: readonly UpdateShardSet[], answers: readonly CommitAnswer[]): void {
  sets.forEach(({ run, hintAt }, index) => {
    const answer = answers[index]!;
    if (answer.kind !== "Committed") return;
    expect(answer.hint).toEqual(hintAt && unwrap(store.readHint({ tenant, run, now: hintAt })));
  });
}

const HELD: Change = { shard: 1n, isRefused: false, status: "Active", deadline: 50n, lastKey: undefined, attempts: 1 };
const WORKED_ON: Change = {
  shard: 0n,
  isRefused: false,
  status: "Active",
  deadline: undefined,
  lastKey: "b",
  attempts: 1,
};

/** Two doors to one folder. To each of them the other is as good as another process. */
async function openTwice(): Promise<{
  readonly stores: readonly [LmdbStore, LmdbStore];
  readonly dispose: () => Promise<void>;
}> {
  const { store, path, dispose } = await makeStore();
  const other = unwrap(await openLmdbStore({ path, durability: "Written" }));
  for (const run of runs) await putRun(store, run, SHARD_COUNT);
  const disposeBoth = async () => {
    await other.close();
    await dispose();
  };
  return { stores: [store, other], dispose: disposeBoth };
}

type Deed = (stores: readonly [LmdbStore, LmdbStore], run: RunId, now: LogicalTime) => Promise<unknown>;

test.each<{ readonly name: string; readonly deed: Deed }>([
  { name: "another writes", deed: ([, other], run) => other.commit([update(other, run, HELD, undefined)]) },
  {
    name: "a write is refused, and another writes under the number that it did not use",
    deed: async ([store, other], run) => {
      await store.commit([update(store, run, { ...HELD, isRefused: true }, undefined)]);
      await other.commit([update(other, run, HELD, undefined)]);
    },
  },
  {
    name: "an update and a refused one are under way, and another writes under the number that the second did not use",
    deed: async ([store, other], run, now) => {
      await Promise.all([
        store.commit([update(store, run, WORKED_ON, now)]),
        store.commit([update(store, run, { ...HELD, isRefused: true }, now)]),
      ]);
      await other.commit([update(other, run, HELD, undefined)]);
    },
  },
  { name: "starvation is noted", deed: ([store], run) => store.markStarved(tenant, run, LogicalTime.fromRaw(99n)) },
  {
    name: "starvation is noted in the same transaction as an update",
    deed: ([store], run, now) =>
      Promise.all([
        store.commit([update(store, run, WORKED_ON, now)]),
        store.markStarved(tenant, run, LogicalTime.fromRaw(99n)),
      ]),
  },
  {
    name: "an update in the same transaction as a note of starvation",
    deed: ([store], run, now) =>
      Promise.all([
        store.markStarved(tenant, run, LogicalTime.fromRaw(99n)),
        store.commit([update(store, run, WORKED_ON, now)]),
      ]),
  },
  {
    name: "an update of the same run is in the same transaction",
    deed: ([store], run, now) =>
      Promise.all([store.commit([update(store, run, WORKED_ON, now)]), store.commit([update(store, run, HELD, now)])]),
  },
  {
    name: "more shards are created",
    deed: async ([store], run) => {
      const { version: guard } = unwrap(store.readRun(tenant, run)) as { readonly version: number };
      const created = [makeShard(tenant, run, ShardId.fromRaw(99n), "z")];
      await store.commit([
        { kind: "PutRun", tenant, run, guard, after: makeRun(tenant, run), created, limits, noShardsIn: [] },
      ]);
    },
  },
])("a hint is right after $name", async ({ deed }) => {
  const { stores, dispose } = await openTwice();
  const [store] = stores;
  const [run] = runs as [RunId];
  const now = LogicalTime.fromRaw(9n);
  await store.commit([update(store, run, WORKED_ON, now)]);
  await deed(stores, run, now);
  const sets = [update(store, run, WORKED_ON, now)];
  expectHints(store, sets, await store.commit(sets));
  await dispose();
});

const time = fc.constantFrom(9n, 10n, 20n, 21n, 30n).map((raw) => LogicalTime.fromRaw(raw));
const change = fc.record({
  shard: fc.bigInt(0n, BigInt(SHARD_COUNT - 1)),
  isRefused: fc.constantFrom(false, false, true),
  status: fc.constantFrom("Active" as const, "Active" as const, "Active" as const, "Done" as const, "Parked" as const),
  deadline: fc.option(time, { nil: undefined }),
  lastKey: fc.constantFrom(undefined, "b", "c"),
  attempts: fc.nat(3),
});
const step = fc.record({
  by: fc.constantFrom<0 | 1>(0, 0, 0, 1),
  run: fc.constantFrom(...runs),
  now: fc.option(time, { nil: undefined }),
  changes: fc.uniqueArray(change, { selector: ({ shard }) => shard, minLength: 1, maxLength: SHARD_COUNT }),
  /** What the same store does at the same time. */
  beside: fc.constantFrom("nothing", "nothing", "nothing", "starve", "update"),
});

test("hints equal what a reader finds, whichever process wrote in between and whatever was refused", async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
    const { stores, dispose } = await openTwice();
    try {
      for (const { by, run, now, changes, beside } of steps) {
        const writer = stores[by];
        const sets = changes.map((made) => update(writer, run, made, now));
        const isAlone = beside === "nothing";
        const answered = writer.commit(sets);
        if (beside === "starve")
          await Promise.all([answered, writer.markStarved(tenant, run, LogicalTime.fromRaw(20n))]);
        if (beside === "update")
          await Promise.all([
            answered,
            writer.commit(runs.filter((id) => id !== run).map((id) => update(writer, id, changes[0]!, now))),
          ]);
        // What came at the same time may be in the hint or not. What comes behind it must be right again.
        if (isAlone) expectHints(writer, sets, await answered);
      }
    } finally {
      await dispose();
    }
  });
  await fc.assert(property, { numRuns: 100 });
}, 60_000);

test("a hint counts to its limit, however many shards are claimed and released", async () => {
  const { store, dispose } = await makeStore();
  const [run] = runs as [RunId];
  const now = LogicalTime.fromRaw(5n);
  await putRun(store, run, 2_100);
  for (const deadline of [10n, undefined]) {
    for (let first = 0n; first < 2_100n; first += 75n) {
      const sets = Array.from({ length: 75 }, (_, index) =>
        update(
          store,
          run,
          {
            shard: first + BigInt(index),
            isRefused: false,
            status: "Active",
            deadline,
            lastKey: undefined,
            attempts: 1,
          },
          now,
        ),
      );
      expectHints(store, sets, await store.commit(sets));
    }
  }
  await dispose();
}, 30_000);
