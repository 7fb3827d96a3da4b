// These tests damage rows one by one, as a bad disk or a manual edit would, and the check must find each. Repair must then
// rebuild exactly what can be derived: an index that is rebuilt wrongly is worse than a broken one.

import { Cursor, LogicalTime, OpId, RunId, ShardId, ShardSpec, WorkerId } from "@gossip/contracts";
import { Coordinator, systemClock } from "@gossip/coordination";
import { fsck, repair, type FsckFinding } from "@gossip/coordination-fsck";
import { FAMILY_RUN, FAMILY_TENANT, raiseFamily } from "@gossip/coordination-fsck/testing";
import { unwrap } from "@gossip/stdx";
import { Pool } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  makeCopiedStore,
  makeStore,
  startFastPostgres,
  WITHOUT_TRIGGERS,
  type TemporaryStore,
  type TestServer,
} from "../temporary-database.fixture.ts";

let server: TestServer;
let pool: Pool;
/** What every test starts from. */
let family: TemporaryStore;
let temporary: TemporaryStore;

beforeAll(async () => {
  server = await startFastPostgres();
  pool = new Pool({ connectionString: server.url, max: 8 });
  pool.on("error", () => undefined);
  family = await makeStore(pool);
  await raiseFamily(family.store, { seed: 11, steps: 40 });
});

afterAll(async () => {
  await family?.dispose();
  await pool?.end();
  await server?.dispose();
});

beforeEach(async () => {
  temporary = await makeCopiedStore(pool, family.schema);
  return () => temporary.dispose();
});

/** Run SQL in which `@` stands for the schema, without triggers. */
async function sql(text: string): Promise<Record<string, unknown>[]> {
  const results: unknown = await pool.query(`${WITHOUT_TRIGGERS}; ${text.replaceAll("@", temporary.schema)}`);
  return (results as { readonly rows: Record<string, unknown>[] }[]).at(-1)!.rows;
}

async function contents(): Promise<unknown[]> {
  return [
    await sql("SELECT * FROM @.runs ORDER BY id"),
    await sql("SELECT * FROM @.shards ORDER BY run_id, shard"),
    await sql("SELECT * FROM @.places ORDER BY run_id, place"),
    await sql("SELECT * FROM @.tenants"),
    await sql("SELECT * FROM @.totals"),
    await sql(
      "SELECT run_id, sum(done) AS done, sum(split) AS split, sum(parked) AS parked FROM @.status_counts GROUP BY run_id",
    ),
    await sql("SELECT * FROM @.resting ORDER BY run_id, shard"),
  ];
}

async function findings(): Promise<readonly FsckFinding[]> {
  return unwrap(await fsck(temporary.store.inspect())).findings;
}

const mend = async () => unwrap(await repair(temporary.store.inspect()));
const anActive = "ctid = (SELECT ctid FROM @.shards WHERE status = 'Active' ORDER BY shard LIMIT 1)";

test("notes that cannot be read, of an unknown space, and of runs that do not exist are found", async () => {
  const before = await sql("SELECT * FROM @.notes");
  expect(before.length).toBeGreaterThan(3);
  await sql("DELETE FROM @.notes");
  const insert = "INSERT INTO @.notes SELECT id, 1, 'k', '{' FROM @.runs";
  await sql(insert);
  expect(await findings()).toMatchObject([{ kind: "NoteFault", space: "failure" }]);
  await sql("UPDATE @.notes SET space = 99");
  expect(await findings()).toMatchObject([{ kind: "NoteFault", space: undefined, detail: "its space is unknown" }]);
  await sql("UPDATE @.notes SET space = 5, value = '{}', run_id = 12345");
  expect(await findings()).toMatchObject([{ kind: "NotesWithoutRun", noteCount: 1 }]);
});

test("a store in order is in order, and repair leaves every byte of it alone", async () => {
  const before = await contents();
  expect(unwrap(await fsck(temporary.store.inspect()))).toMatchObject({
    tenantCount: 1,
    runCount: 1,
    findings: [],
    deletedRunCount: 0,
  });
  expect(await mend()).toEqual({ removedEntries: 0, addedEntries: 0, correctedCounts: 0, addedCensuses: 0 });
  expect(await contents()).toEqual(before);
});

describe("what repair fixes", () => {
  const columns = [
    "attempts = attempts + 1",
    "key_range_start = key_range_start || '\\x00'",
    "fence = '\\x00000000000000ff'",
    "lease_owner = '\\x0000000000000003'",
    "lease_deadline = '\\x0000000000000003'",
    "parent = '\\x0000000000000009'",
    "park_reason = 'Poisoned'",
    "cursor_key = '\\xffff'",
    "status = 'Done'",
    "status = 'Parked'",
  ];

  test.each(columns)("a column that differs from the record: %s", async (change) => {
    const before = await contents();
    await sql(`UPDATE @.shards SET ${change} WHERE ${anActive}`);
    const found = await findings();
    expect(found).toContainEqual(expect.objectContaining({ kind: "MissingEntry", index: "columns" }));
    expect(found).toContainEqual(expect.objectContaining({ kind: "StrayEntry", index: "columns" }));
    expect(await mend()).toEqual({ removedEntries: 1, addedEntries: 1, correctedCounts: 0, addedCensuses: 0 });
    expect(await contents()).toEqual(before);
    expect(await findings()).toEqual([]);
  });

  test.each([
    "status = 'Done'",
    "status = 'Deleted'",
    "lease_duration = '\\x0000000000000003'",
    "max_shard_retries = 8",
  ])("a run's column: %s", async (change) => {
    const before = await contents();
    await sql(`UPDATE @.runs SET ${change}`);
    expect(await findings()).toMatchObject([{ kind: "StrayEntry", index: "run", shard: undefined }]);
    expect(await mend()).toEqual({ removedEntries: 1, addedEntries: 1, correctedCounts: 0, addedCensuses: 0 });
    expect(await contents()).toEqual(before);
  });

  const entries = [
    ["missing", "DELETE FROM @.places WHERE ", ["MissingEntry"], { removedEntries: 0, addedEntries: 1 }],
    [
      "of another state",
      "UPDATE @.places SET place = overlay(place PLACING '\\x50' FROM 1) WHERE ",
      ["MissingEntry", "StrayEntry"],
      { removedEntries: 1, addedEntries: 1 },
    ],
    [
      "of another time",
      "UPDATE @.places SET place = overlay(place PLACING '\\x00000000000000ff' FROM 2) WHERE ",
      ["MissingEntry", "StrayEntry"],
      { removedEntries: 1, addedEntries: 1 },
    ],
    [
      "elsewhere",
      "UPDATE @.places SET place = set_byte(place, 12, get_byte(place, 12) # 1) WHERE ",
      ["MissingEntry", "StrayEntry"],
      { removedEntries: 1, addedEntries: 1 },
    ],
  ] as const;

  test.each(entries)("a claim index entry that is %s", async (_name, change, kinds, rebuilt) => {
    const before = await contents();
    await sql(
      `${change} substring(place FROM 14) = (SELECT shard FROM @.shards WHERE status = 'Active' ORDER BY shard LIMIT 1)`,
    );
    expect(await findings()).toMatchObject(kinds.map((kind) => ({ kind, index: "places" })));
    expect(await mend()).toEqual({ ...rebuilt, correctedCounts: 0, addedCensuses: 0 });
    expect(await contents()).toEqual(before);
  });

  test("a second claim index entry of a shard, one of no shard, and one of no run", async () => {
    const before = await contents();
    await sql(
      "INSERT INTO @.places SELECT run_id, '\\x4100000000000000ff00000001'::bytea || shard FROM @.shards LIMIT 1",
    );
    await sql("INSERT INTO @.places SELECT id, '\\x4100000000000000000000000100000000000000aa' FROM @.runs");
    await sql("INSERT INTO @.places VALUES (99, '\\x4100000000000000000000000100000000000000aa')");
    expect((await findings()).filter(({ kind }) => kind === "StrayEntry")).toHaveLength(3);
    expect(await mend()).toEqual({ removedEntries: 3, addedEntries: 0, correctedCounts: 0, addedCensuses: 0 });
    expect(await contents()).toEqual(before);
  });

  test("an index that the server did not keep up", async () => {
    const before = await contents();
    const lose = (isReady: boolean) =>
      sql(`UPDATE pg_index SET indisready = ${isReady} WHERE indexrelid = '@.shards_in_order'::regclass`);
    await lose(false);
    // Written elsewhere, so that what the index has no longer leads to them.
    await sql(
      "CREATE TEMPORARY TABLE kept AS SELECT * FROM @.shards; DELETE FROM @.shards; INSERT INTO @.shards SELECT * FROM kept; DROP TABLE kept",
    );
    await lose(true);
    const found = await findings();
    expect(found).toContainEqual(expect.objectContaining({ kind: "MissingEntry", index: "order" }));
    expect((await mend()).addedEntries).toBe(found.length);
    expect(await findings()).toEqual([]);
    expect(await contents()).toEqual(before);
  });

  test.each(["done", "split", "parked"])("a count of shards in a status: %s", async (column) => {
    const before = await contents();
    await sql(`UPDATE @.status_counts SET ${column} = ${column} + 2`);
    expect(await findings()).toMatchObject([
      { kind: "WrongCount", scope: column.replace(/^./, (letter) => letter.toUpperCase()) },
    ]);
    expect(await mend()).toEqual({ removedEntries: 0, addedEntries: 0, correctedCounts: 1, addedCensuses: 0 });
    expect(await contents()).toEqual(before);
  });

  test("status counts that are gone, and those of no run", async () => {
    const before = await contents();
    await sql("DELETE FROM @.status_counts; INSERT INTO @.status_counts VALUES (99, 3, 1, 0, 0)");
    expect((await findings()).map((finding) => (finding.kind === "WrongCount" ? finding.scope : ""))).toEqual([
      "Done",
      "Split",
      "Parked",
      "Done",
    ]);
    expect(await mend()).toEqual({ removedEntries: 0, addedEntries: 0, correctedCounts: 4, addedCensuses: 0 });
    expect(await contents()).toEqual(before);
  });

  test("resting shards: one that is missing, one that does not rest, and one of no run", async () => {
    await sql("DELETE FROM @.resting");
    await sql(
      "INSERT INTO @.resting SELECT run_id, shard FROM @.shards WHERE status = 'Done' LIMIT 1; INSERT INTO @.resting VALUES (99, '\\x0000000000000001')",
    );
    const found = await findings();
    const missing = found.filter(({ kind }) => kind === "MissingEntry");
    expect(found.filter(({ kind }) => kind === "StrayEntry")).toMatchObject([
      { index: "resting" },
      { index: "resting" },
    ]);
    expect(missing.length).toBeGreaterThan(0);
    expect(await mend()).toEqual({
      removedEntries: 2,
      addedEntries: missing.length,
      correctedCounts: 0,
      addedCensuses: 0,
    });
    expect(await findings()).toEqual([]);
  });

  test("counts of a run, a tenant and all", async () => {
    const before = await contents();
    await sql("UPDATE @.runs SET shard_count = 1; UPDATE @.totals SET shard_count = 2; DELETE FROM @.tenants");
    const found = await findings();
    expect(found).toHaveLength(3);
    for (const scope of ["Run", "Tenant", "Total"])
      expect(found).toContainEqual(expect.objectContaining({ kind: "WrongCount", scope }));
    expect(await mend()).toEqual({ removedEntries: 0, addedEntries: 0, correctedCounts: 3, addedCensuses: 0 });
    expect(await contents()).toEqual(before);
  });
});

describe("what repair cannot fix, and leaves as it is", () => {
  test("a record with a flipped bit", async () => {
    await sql(`UPDATE @.shards SET record = set_bit(record, 100, 1 - get_bit(record, 100)) WHERE ${anActive}`);
    const before = await contents();
    expect(await findings()).toMatchObject([{ kind: "UnreadableRecord" }]);
    expect(await mend()).toEqual({ removedEntries: 0, addedEntries: 0, correctedCounts: 0, addedCensuses: 0 });
    expect(await contents()).toEqual(before);
  });

  test("a run that is no record", async () => {
    await sql("UPDATE @.runs SET record = '\\x00'");
    expect(await findings()).toMatchObject([
      { kind: "UnreadableRecord", tenant: FAMILY_TENANT, run: FAMILY_RUN, shard: undefined },
    ]);
    expect(await mend()).toMatchObject({ removedEntries: 0, addedEntries: 0 });
  });

  test("a record in the row of another", async () => {
    await sql(
      `UPDATE @.shards SET record = (SELECT record FROM @.shards WHERE status = 'Done' LIMIT 1) WHERE ${anActive}`,
    );
    expect(await findings()).toContainEqual(
      expect.objectContaining({ kind: "UnreadableRecord", detail: "it is stored under another's key" }),
    );
  });

  test("shards whose run is gone", async () => {
    const [counted] = await sql("SELECT count(*)::int AS shards FROM @.shards");
    await sql("DELETE FROM @.runs");
    expect(await findings()).toContainEqual({
      kind: "ShardsWithoutRun",
      tenant: FAMILY_TENANT,
      run: FAMILY_RUN,
      shardCount: counted?.["shards"],
    });
  });

  test("a shard that is gone", async () => {
    await sql(`DELETE FROM @.shards WHERE ${anActive}`);
    expect((await findings()).map(({ kind }) => kind)).toContain("Lineage");
  });
});

test("a removed run leaves a mark, and nothing to find", async () => {
  const run = RunId.fromRaw(77n);
  const coordinator = new Coordinator({ store: temporary.store, clock: systemClock(Date.now) });
  const shards = [
    {
      shard: ShardId.fromRaw(1n),
      spec: ShardSpec.withRange({ start: Uint8Array.of(1), end: Uint8Array.of(9) }),
      cursor: Cursor.initial(),
    },
  ];
  unwrap(
    await coordinator.createRunWithShards({
      tenant: FAMILY_TENANT,
      run,
      config: { leaseDuration: 100n },
      shards,
      opId: OpId.fromRaw(1n),
    }),
  );
  unwrap(await coordinator.cancelRun({ tenant: FAMILY_TENANT, run, opId: OpId.fromRaw(2n) }));
  unwrap(await coordinator.deleteRun({ tenant: FAMILY_TENANT, run }));
  expect(unwrap(await fsck(temporary.store.inspect()))).toMatchObject({
    runCount: 1,
    deletedRunCount: 1,
    findings: [],
  });
});

test("it is checked as of one moment while others write", async () => {
  const coordinator = new Coordinator({ store: temporary.store, clock: systemClock(Date.now) });
  let isOver = false;
  const made = new Map<bigint, number>();
  const work = async (worker: bigint): Promise<void> => {
    while (!isOver) {
      const claimed = await coordinator.claim({
        tenant: FAMILY_TENANT,
        run: FAMILY_RUN,
        worker: WorkerId.fromRaw(worker),
      });
      if (!claimed.ok) continue;
      made.set(worker, (made.get(worker) ?? 0) + 1);
      unwrap(await claimed.value.release());
    }
  };
  const workers = [1n, 2n, 3n];
  const working = workers.map(work);
  // Until each of them has written between two checks, however busy the machine is.
  for (let checks = 0; checks < 5 || made.size < workers.length; checks++) expect(await findings()).toEqual([]);
  isOver = true;
  await Promise.all(working);
});

test("a check that cannot read fails, and releases its connection", async () => {
  await sql("ALTER TABLE @.shards RENAME TO hidden");
  expect(await fsck(temporary.store.inspect())).toMatchObject({
    ok: false,
    error: { kind: "Transient", operation: "postgres.inspect", code: "42P01" },
  });
  await sql("ALTER TABLE @.hidden RENAME TO shards");
  expect(await findings()).toEqual([]);
  expect(pool.idleCount).toBe(pool.totalCount);
  expect(
    unwrap(await temporary.store.readHint({ tenant: FAMILY_TENANT, run: FAMILY_RUN, now: LogicalTime.fromRaw(1n) })),
  ).toBeDefined();
});
