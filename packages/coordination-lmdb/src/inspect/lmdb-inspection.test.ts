// The folder's rows are broken here one by one, as a bad disk or a wrong program would, and the check must see each of them. Repair
// must then mend exactly what can be made anew: an index that is rebuilt from a wrong idea of it is worse than a broken one.

import { Cursor, RunId, ShardId, ShardSpec, SplitReplacePlan, TenantId, WorkerId } from "@gossip/contracts";
import {
  Coordinator,
  type CoordinationStore,
  type RunRecord,
  type ShardPosition,
  type Versioned,
} from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { fsck, repair, RunCensus, type FsckFinding } from "@gossip/coordination-fsck";
import { FAMILY_RUN, FAMILY_TENANT, raiseFamily } from "@gossip/coordination-fsck/testing";
import { unwrap } from "@gossip/stdx";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunAddress } from "@gossip/store-kit";
import { putCount, readCount } from "../write/counts.ts";
import { lastU64, RowKind, runKey, shardRecordKey, storeKey, tenantKey } from "../layout/keyspace.ts";
import type { LmdbDatabase } from "../engine/open-database.ts";
import { openDatabase } from "../engine/open-database.ts";
import { openLmdbStore } from "../open/open-lmdb-store.ts";
import { rangeOf, Rows } from "../engine/rows.ts";
import { makeStore, type TemporaryStore, NO_GATE } from "../temporary-store.fixture.ts";

const address: RunAddress = { tenant: FAMILY_TENANT, run: FAMILY_RUN };
const elsewhere: RunAddress = { tenant: TenantId.ZERO, run: RunId.fromRaw(99n) };
const ROOT = ShardId.fromRaw(0n);

let temporary: TemporaryStore;
let db: LmdbDatabase;
let rows: Rows;

beforeEach(async () => {
  temporary = await makeStore();
  await raiseFamily(temporary.store, { seed: 11, steps: 40 });
  db = openDatabase(temporary.path, "Written");
  rows = new Rows(db, NO_GATE);
});
afterEach(async () => {
  await db.close();
  await temporary.dispose();
});

/** Change rows behind the store's back. */
function damage(change: () => void): Promise<void> {
  return rows.transact(change);
}

function flipByte(key: Buffer, at: number): void {
  const value = Uint8Array.from(rows.get(key)!);
  value.set([value.at(at)! ^ 1], at < 0 ? value.length + at : at);
  rows.put(key, value, rows.lastVersion);
}

async function findings(): Promise<readonly FsckFinding[]> {
  return unwrap(await fsck(temporary.store.inspect())).findings;
}

/** Everything in the folder, byte for byte. */
function contents(): string[] {
  rows.refresh();
  return [...rows.entries({ start: Buffer.of(0), end: Buffer.of(0xff) })].map(({ key, value }) =>
    Buffer.concat([key, Buffer.of(0), value]).toString("latin1"),
  );
}

/** Split a shard that can be claimed into two. */
async function splitOnce(store: CoordinationStore): Promise<void> {
  const coordinator = new Coordinator({ store, clock: new ManualClock(1_000_000n) });
  for (;;) {
    const session = unwrap(await coordinator.claim({ ...address, worker: WorkerId.fromRaw(77n) }));
    const { keyRangeEnd: end, keyRangeStart: start } = session.spec;
    const from = session.cursor.lastKey ?? start;
    // Bounds are numbers of two bytes.
    const middle = Buffer.from(from).readUInt16BE() + 1;
    if (middle >= Buffer.from(end).readUInt16BE()) continue;
    const point = Uint8Array.of(middle >> 8, middle & 0xff);
    const plan = SplitReplacePlan.tryNew([
      { spec: ShardSpec.withRange({ start, end: point }), cursor: session.cursor },
      { spec: ShardSpec.withRange({ start: point, end }), cursor: Cursor.initial() },
    ]);
    unwrap(await session.splitReplace(unwrap(plan)));
    return;
  }
}

test("a sound store has no findings, and repair changes no byte of it", async () => {
  const before = contents();
  expect(unwrap(await fsck(temporary.store.inspect()))).toMatchObject({
    tenantCount: 1,
    runCount: 1,
    findings: [],
    deletedRunCount: 0,
  });
  expect(unwrap(await repair(temporary.store.inspect()))).toEqual({
    removedEntries: 0,
    addedEntries: 0,
    correctedCounts: 0,
    addedCensuses: 0,
  });
  expect(contents()).toEqual(before);
});

describe("what repair mends", () => {
  const prefixes = [
    ["claim", RowKind.Claim],
    ["status", RowKind.Status],
    ["order", RowKind.Order],
  ] as const;

  test.each(prefixes)("a missing entry of the %s index", async (index, kind) => {
    const before = contents();
    await damage(() => rows.remove(rows.first(rangeOf(runKey(kind, address)))!));
    expect(await findings()).toMatchObject([{ kind: "MissingEntry", index }]);
    expect(unwrap(await repair(temporary.store.inspect()))).toEqual({
      removedEntries: 0,
      addedEntries: 1,
      correctedCounts: 0,
      addedCensuses: 0,
    });
    expect(contents()).toEqual(before);
    expect(await findings()).toEqual([]);
  });

  test.each(prefixes)("an entry of the %s index without a shard", async (index, kind) => {
    const before = contents();
    await damage(() => {
      const key = Buffer.from(rows.first(rangeOf(runKey(kind, address)))!);
      key[key.length - 1]! ^= 0x55;
      rows.put(key);
    });
    expect(await findings()).toMatchObject([{ kind: "StrayEntry", index }]);
    expect(unwrap(await repair(temporary.store.inspect()))).toEqual({
      removedEntries: 1,
      addedEntries: 0,
      correctedCounts: 0,
      addedCensuses: 0,
    });
    expect(contents()).toEqual(before);
  });

  test("entries of a run that does not exist", async () => {
    await damage(() => {
      const key = Buffer.from(rows.first(rangeOf(runKey(RowKind.Claim, address)))!);
      runKey(RowKind.Claim, elsewhere).copy(key);
      rows.put(key);
    });
    expect(await findings()).toMatchObject([{ kind: "StrayEntry", index: "claim", run: elsewhere.run }]);
    expect(unwrap(await repair(temporary.store.inspect())).removedEntries).toBe(1);
    expect(await findings()).toEqual([]);
  });

  test.each([
    ["Total", storeKey(RowKind.TotalCount)],
    ["Tenant", tenantKey(RowKind.TenantCount, FAMILY_TENANT)],
    ["Run", runKey(RowKind.RunCount, address)],
  ])("a wrong count: %s", async (scope, key) => {
    const before = contents();
    for (const value of [undefined, Buffer.from("00000000000000ff", "hex")]) {
      await damage(() => (value === undefined ? rows.remove(key) : rows.put(key, value)));
      expect(await findings()).toMatchObject([{ kind: "WrongCount", scope }]);
      expect(unwrap(await repair(temporary.store.inspect()))).toEqual({
        removedEntries: 0,
        addedEntries: 0,
        correctedCounts: 1,
        addedCensuses: 0,
      });
      expect(contents()).toEqual(before);
    }
  });

  test("counts of a tenant without shards", async () => {
    await damage(() => rows.put(tenantKey(RowKind.TenantCount, TenantId.ZERO), Buffer.from("0000000000000003", "hex")));
    expect(await findings()).toMatchObject([{ kind: "WrongCount", scope: "Tenant", stored: 3, counted: 0 }]);
    unwrap(await repair(temporary.store.inspect()));
    expect(await findings()).toEqual([]);
  });

  test("all indexes and counts at once", async () => {
    const before = contents();
    await damage(() => {
      for (const kind of [
        RowKind.Claim,
        RowKind.Status,
        RowKind.Order,
        RowKind.RunCount,
        RowKind.TenantCount,
        RowKind.TotalCount,
      ]) {
        const keys = [...rows.keys(rangeOf(Buffer.of(kind)))];
        for (const key of keys) rows.remove(key);
      }
    });
    expect((await findings()).length).toBeGreaterThan(20);
    unwrap(await repair(temporary.store.inspect()));
    expect(contents()).toEqual(before);
  });
});

describe("what repair leaves alone", () => {
  test("a shard that cannot be read, with its entries", async () => {
    await damage(() => flipByte(shardRecordKey(address, ROOT), 60));
    const broken = contents();
    expect(await findings()).toMatchObject([{ kind: "UnreadableRecord", shard: ROOT }]);
    expect(unwrap(await repair(temporary.store.inspect()))).toEqual({
      removedEntries: 0,
      addedEntries: 0,
      correctedCounts: 0,
      addedCensuses: 0,
    });
    expect(contents()).toEqual(broken);
    expect(temporary.store.readShard(FAMILY_TENANT, { run: FAMILY_RUN, shard: ROOT })).toMatchObject({
      ok: false,
      error: { kind: "Corruption" },
    });
  });

  test("notes whose rows are damaged, and notes of a run that does not exist", async () => {
    const key = rows.first(rangeOf(runKey(RowKind.Note, address)))!;
    await damage(() => rows.put(key, Buffer.of(0)));
    expect(await findings()).toMatchObject([{ kind: "NoteFault", space: undefined, detail: "its row is damaged" }]);
    const other = runKey(RowKind.Note, { ...address, run: RunId.fromRaw(99n) }, 1);
    other[other.length - 1] = 5;
    await damage(() => {
      rows.remove(key);
      rows.put(other, Buffer.from("\0\x00{}"));
    });
    expect(await findings()).toMatchObject([{ kind: "NotesWithoutRun", run: 99n, noteCount: 1 }]);
  });

  test("a run that cannot be read", async () => {
    await damage(() => flipByte(runKey(RowKind.RunRecord, address), -1));
    expect(await findings()).toMatchObject([{ kind: "UnreadableRecord", shard: undefined }]);
    expect(temporary.store.readRun(FAMILY_TENANT, FAMILY_RUN)).toMatchObject({
      ok: false,
      error: { kind: "Corruption" },
    });
  });

  test.each([2, 0, -1, 1.5, 2 ** 60])("a shard with the version %d, which no shard can have", async (version) => {
    const key = shardRecordKey(address, ROOT);
    await damage(() => rows.put(key, Uint8Array.from(rows.get(key)!), version));
    expect(await findings()).toMatchObject([
      { kind: "UnreadableRecord", shard: ROOT, detail: expect.stringContaining("a version that no shard can have") },
    ]);
  });

  test("a run with a version that no run can have", async () => {
    await damage(() => {
      for (const kind of [RowKind.RunHead, RowKind.RunRecord])
        rows.put(runKey(kind, address), Uint8Array.from(rows.get(runKey(kind, address))!), 7);
    });
    expect(await findings()).toMatchObject([
      { kind: "UnreadableRecord", detail: expect.stringContaining("a version that no run can have") },
    ]);
  });

  test("a head that is not its run's", async () => {
    await damage(() => rows.put(runKey(RowKind.RunHead, address), undefined, 400));
    expect(await findings()).toMatchObject([
      { kind: "UnreadableRecord", detail: expect.stringContaining("different versions") },
    ]);
    expect(temporary.store.readShard(FAMILY_TENANT, { run: FAMILY_RUN, shard: ROOT })).toMatchObject({
      ok: false,
      error: { kind: "Corruption" },
    });
  });

  test("a run that exists beside the mark of its removal", async () => {
    await damage(() => rows.put(runKey(RowKind.DeletedRun, address), Buffer.of(1)));
    expect(await findings()).toMatchObject([
      { kind: "UnreadableRecord", detail: expect.stringContaining("mark of its removal") },
    ]);
  });

  test("a mark of removal that cannot be read", async () => {
    await damage(() => rows.put(runKey(RowKind.DeletedRun, elsewhere), Buffer.of(1)));
    expect(await findings()).toMatchObject([{ kind: "UnreadableRecord", run: elsewhere.run, shard: undefined }]);
  });

  test("a shard under another's key", async () => {
    await damage(() => {
      const value = Uint8Array.from(rows.get(shardRecordKey(address, ROOT))!);
      rows.put(shardRecordKey(address, ShardId.fromRaw(1n)), value, rows.lastVersion);
    });
    expect(await findings()).toMatchObject([
      { kind: "UnreadableRecord", shard: 1n, detail: "it is stored under another's key" },
    ]);
    expect(temporary.store.readShard(FAMILY_TENANT, { run: FAMILY_RUN, shard: ShardId.fromRaw(1n) })).toMatchObject({
      ok: false,
      error: { kind: "Corruption" },
    });
  });
});

describe("the census of a run", () => {
  const census = runKey(RowKind.Census, address);

  /** Remove a shard with every trace of it in indexes and counts. */
  function removeShard(shard: ShardId): void {
    for (const kind of [RowKind.ShardRecord, RowKind.Claim, RowKind.Status, RowKind.Order]) {
      const keys = [...rows.keys(rangeOf(runKey(kind, address)))].filter((key) => lastU64(key) === shard);
      for (const key of keys) rows.remove(key);
    }
    for (const key of [
      storeKey(RowKind.TotalCount),
      tenantKey(RowKind.TenantCount, FAMILY_TENANT),
      runKey(RowKind.RunCount, address),
    ])
      putCount(rows, key, readCount(rows, key) - 1);
  }

  test("shows that a shard vanished, before and after repair", async () => {
    const before = contents();
    await damage(() => removeShard(ROOT));
    const isCensus = ({ kind }: FsckFinding) => kind === "WrongCensus";
    expect((await findings()).filter(isCensus)).toEqual([
      { kind: "WrongCensus", ...address, stored: expect.any(Number), counted: expect.any(Number) },
    ]);
    unwrap(await repair(temporary.store.inspect()));
    expect((await findings()).filter(isCensus).length).toBe(1);
    expect(contents()).not.toEqual(before);
  });

  test("is absent in an older store, which opens without findings, and is written by repair", async () => {
    const before = contents();
    await damage(() => {
      rows.remove(census);
      rows.put(storeKey(RowKind.Format), Buffer.of(0, 0, 0, 1));
    });
    await temporary.store.close();
    const store = unwrap(await openLmdbStore({ path: temporary.path, durability: "Written" }));
    const { path, dispose } = temporary;
    temporary = { store, path, dispose: () => store.close().then(dispose) };
    expect(await findings()).toEqual([]);
    expect(unwrap(await repair(store.inspect()))).toMatchObject({ addedEntries: 0, addedCensuses: 1 });
    expect(contents()).toEqual(before);
  });

  test("is not started by a split in an older run: it would lack the earlier shards", async () => {
    await damage(() => rows.remove(census));
    await splitOnce(temporary.store);
    rows.refresh();
    expect(rows.has(census)).toBe(false);
    expect(await findings()).toEqual([]);
  });

  test("includes the children of a split", async () => {
    const before = RunCensus.tryFromBytes(rows.get(census)!)!;
    await splitOnce(temporary.store);
    rows.refresh();
    expect(RunCensus.tryFromBytes(rows.get(census)!)!.count).toBe(before.count + 2);
    expect(await findings()).toEqual([]);
  });

  test("that cannot be read is reported", async () => {
    await damage(() => rows.put(census, Buffer.of(1, 2)));
    expect(await findings()).toMatchObject([{ kind: "WrongCensus", stored: -1 }]);
  });

  test("is removed with its run", async () => {
    const { version: guard } = unwrap(temporary.store.readRun(FAMILY_TENANT, FAMILY_RUN)) as Versioned<RunRecord>;
    const answers = await temporary.store.commit([{ kind: "RemoveRun", ...address, guard }]);
    expect(answers).toMatchObject([{ kind: "Committed" }]);
    rows.refresh();
    expect(rows.has(census)).toBe(false);
    expect(await findings()).toEqual([]);
  });
});

describe("reading a broken store", () => {
  test("an index that names a missing shard is corruption, not a crash", async () => {
    await damage(() => rows.remove(shardRecordKey(address, ROOT)));
    const query = {
      tenant: FAMILY_TENANT,
      run: FAMILY_RUN,
      after: undefined,
      limit: 100,
      filter: {},
      now: 1n as never,
    };
    expect(temporary.store.listShards(query)).toMatchObject({ ok: false, error: { kind: "Corruption" } });
  });

  test("pages of shards do not lead in a circle if the index has one of them in the wrong place", async () => {
    await damage(() => {
      const order = rangeOf(runKey(RowKind.Order, address));
      const [first] = rows.keys(order, { limit: 1 });
      const [last] = [...rows.keys(order)].slice(-1);
      rows.remove(first!);
      rows.put(Buffer.concat([last!.subarray(0, -8), first!.subarray(-8)]));
    });
    let after: ShardPosition | undefined;
    for (let page = 0; page < 1000; page++) {
      const listed = temporary.store.listShards({ ...address, after, limit: 1, filter: {}, now: 1n as never });
      after = listed.ok ? listed.value.next : undefined;
      if (after === undefined) {
        expect(listed).toMatchObject({ ok: false, error: { kind: "Corruption" } });
        return;
      }
    }
    expect.fail("the pages do not end");
  });

  test("keys that are too short are corruption, not a crash", async () => {
    await damage(() => rows.put(Buffer.of(RowKind.RunHead, 1, 2)));
    const all = { after: undefined, limit: 100 };
    expect(temporary.store.listTenants(all)).toMatchObject({ ok: false, error: { kind: "Corruption" } });
    expect(await fsck(temporary.store.inspect())).toMatchObject({ ok: false, error: { kind: "Corruption" } });
    expect(await repair(temporary.store.inspect())).toMatchObject({ ok: false, error: { kind: "Corruption" } });
  });

  test("a truncated count is corruption, not a crash", async () => {
    await damage(() => rows.put(runKey(RowKind.RunCount, address), Buffer.of(1, 2)));
    expect(temporary.store.readProgress({ tenant: FAMILY_TENANT, run: FAMILY_RUN, now: 1n as never })).toMatchObject({
      ok: false,
      error: { kind: "Corruption" },
    });
    expect(await findings()).toMatchObject([{ kind: "WrongCount", scope: "Run", stored: -1 }]);
    unwrap(await repair(temporary.store.inspect()));
    expect(await findings()).toEqual([]);
  });
});

test("an inspection sees one moment, while others keep writing", async () => {
  const view = await temporary.store.inspect().look();
  const seen: unknown[] = [];
  for await (const run of view.runs()) {
    await damage(() => rows.remove(rows.first(rangeOf(runKey(RowKind.Claim, address)))!));
    for await (const { index } of run.entries()) seen.push(index);
  }
  await view.close();
  expect(await findings()).toMatchObject([{ kind: "MissingEntry", index: "claim" }]);
  rows.refresh();
  const now = [RowKind.Claim, RowKind.Status, RowKind.Order].reduce(
    (sum, kind) => sum + rows.count(rangeOf(runKey(kind, address))),
    0,
  );
  expect(seen.length).toBe(now + 1);
});
