// A table that cannot be read in key order must be refused before a run begins, with a message that does not contain the login.

import { inspect } from "node:util";
import { encodeTuple } from "@gossip/frontier";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { freePort } from "@gossip/tools/engines";
import type { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresTableSource } from "./postgres-table-source.ts";
import { findTable } from "./table.ts";
import {
  heldConnections,
  makeTable,
  makeWay,
  openPool,
  startFastPostgres,
  type TestServer,
} from "./temporary-table.fixture.ts";

let server: TestServer;
let pool: Pool;

beforeAll(async () => {
  server = await startFastPostgres();
  pool = openPool(server.url);
});

afterAll(async () => {
  await pool?.end();
  await server?.dispose();
});

const EVERYTHING = { start: new Uint8Array(0), end: new Uint8Array(0) };
const planOf = (table: string) => postgresTableSource({ pool, table }).plan({ shardCount: 4 });

async function firstBatch(options: Parameters<typeof postgresTableSource>[0]): Promise<unknown> {
  const source = postgresTableSource(options);
  try {
    for await (const batch of source.read({ range: EVERYTHING, signal: new AbortController().signal })) return batch;
    return undefined;
  } finally {
    await source.close();
  }
}

describe("a table is refused", () => {
  test.each([
    {
      definition: "a int, b interval, PRIMARY KEY (a, b)",
      reason: "the column b of the key of public.T has the type interval, whose order no key can follow",
    },
    {
      definition: "a char(3) PRIMARY KEY",
      reason: "the column a of the key of public.T has the type character(3), whose order no key can follow",
    },
    {
      definition: "a double precision PRIMARY KEY",
      reason: "the column a of the key of public.T has the type double precision, whose order no key can follow",
    },
    {
      definition: "a int UNIQUE",
      reason: "the table public.T has no primary key, and no other unique key was named",
    },
  ])("with a key of: $definition", async ({ definition, reason }) => {
    const table = await makeTable(pool, definition);
    const error = { kind: "SourceInvalid", reason: reason.replace("T", table) };
    expect(await planOf(table)).toEqual({ ok: false, error });
    await expect(firstBatch({ pool, table })).rejects.toMatchObject({ name: "SourceReadFailed", error });
  });

  test.each([
    { key: ["a"], reason: "the column a of public.T may be null, and a key may not" },
    { key: ["b"], reason: "no unique index of public.T has exactly the columns b, in this order" },
    { key: ["d", "c"], reason: "no unique index of public.T has exactly the columns d, c, in this order" },
    { key: ["c"], reason: "no unique index of public.T has exactly the columns c, in this order" },
    { key: ["e"], reason: "no unique index of public.T has exactly the columns e, in this order" },
    { key: ["nothing"], reason: "no unique index of public.T has exactly the columns nothing, in this order" },
  ])("with the key $key", async ({ key, reason }) => {
    const table = await makeTable(pool, "a int UNIQUE, b int NOT NULL, c int NOT NULL, d int NOT NULL, e int NOT NULL");
    await pool.query(
      `CREATE INDEX ON ${table} (b); CREATE UNIQUE INDEX ON ${table} (c, d); CREATE UNIQUE INDEX ON ${table} (e) WHERE e > 0; CREATE UNIQUE INDEX ON ${table} ((e + 1))`,
    );
    expect(await postgresTableSource({ pool, table, key }).plan({ shardCount: 1 })).toEqual({
      ok: false,
      error: { kind: "SourceInvalid", reason: reason.replace("T", table) },
    });
  });

  test.each([
    "true) OR (true",
    "id > ",
    "nothing > 1",
    "id",
    "true; DROP TABLE victim",
    "true THEN true END; DROP TABLE victim; SELECT CASE WHEN true",
    "true --\n THEN true END) OR (true",
    "count(*) > 1",
  ])("with the condition %o", async (where) => {
    const table = await makeTable(pool, "id int PRIMARY KEY");
    await pool.query("CREATE TABLE IF NOT EXISTS victim (id int)");
    expect(await postgresTableSource({ pool, table, where }).plan({ shardCount: 4 })).toEqual({
      ok: false,
      error: {
        kind: "SourceInvalid",
        reason: `the condition for the rows of public.${table} is not a valid SQL condition`,
      },
    });
    expect((await pool.query("SELECT FROM victim")).rowCount).toBe(0);
  });

  test.each([
    { columns: ["a", "nothing"], reason: "the table public.T has no column nothing" },
    { columns: ["A", "gone", "b"], reason: "the table public.T has no columns A, gone" },
  ])("with the columns $columns", async ({ columns, reason }) => {
    const table = await makeTable(pool, "a int PRIMARY KEY, b int, gone int");
    await pool.query(`ALTER TABLE ${table} DROP COLUMN gone`);
    expect(await postgresTableSource({ pool, table, columns }).plan({ shardCount: 4 })).toEqual({
      ok: false,
      error: { kind: "SourceInvalid", reason: reason.replace("T", table) },
    });
  });

  test("if it is not a table", async () => {
    await pool.query("CREATE VIEW a_view AS SELECT 1 AS id");
    expect(await planOf("a_view")).toEqual({
      ok: false,
      error: { kind: "SourceInvalid", reason: "public.a_view is not a table" },
    });
    expect(await planOf("nowhere")).toEqual({
      ok: false,
      error: { kind: "SourceMissing", reason: "there is no table public.nowhere" },
    });
  });

  test("if it has no such column", async () => {
    const table = await makeTable(pool, "id int PRIMARY KEY");
    await expect(firstBatch({ pool, table, columns: ["nothing"] })).rejects.toMatchObject({ kind: "SourceInvalid" });
  });

  test("if it is large and no index is in byte order, with the index that it needs", async () => {
    const table = await makeTable(pool, 'id text COLLATE "und-x-icu" PRIMARY KEY, note text');
    await pool.query(`INSERT INTO ${table} SELECT id::text, repeat('x', 1000) FROM generate_series(1, 16000) id`);
    const reason = `no index of public.${table} is in the order of bytes: CREATE INDEX ON "public"."${table}" ("id" COLLATE "C"), or allow reading without one`;
    expect(await planOf(table)).toEqual({ ok: false, error: { kind: "SourceInvalid", reason } });
    expect((await postgresTableSource({ pool, table, withoutIndex: "allow" }).plan({ shardCount: 4 })).ok).toBe(true);
    await pool.query(`CREATE INDEX ON "public"."${table}" ("id" COLLATE "C")`);
    expect((await planOf(table)).ok).toBe(true);
    expect(heldConnections(pool)).toBe(0);
  });
});

describe("pages are read through the index", () => {
  test.each([
    "id bigint PRIMARY KEY",
    'id text COLLATE "C" PRIMARY KEY',
    "id uuid PRIMARY KEY",
    "id bytea PRIMARY KEY",
  ])("of a table with %s", async (definition) => {
    const table = await makeTable(pool, definition);
    const value = {
      bigint: "id",
      text: "id::text",
      uuid: "md5(id::text)::uuid",
      bytea: "decode(md5(id::text), 'hex')",
    }[definition.split(" ")[1]!]!;
    await pool.query(`INSERT INTO ${table} SELECT ${value} FROM generate_series(1, 5000) id; ANALYZE ${table}`);
    expect(
      unwrap(await findTable(pool, { schema: "public", table, withoutIndex: "refuse" })).key.map(
        ({ needsCollation }) => needsCollation,
      ),
    ).toEqual([false]);
    const before = await sequentialReads(table);
    const source = postgresTableSource({ pool, table, batchSize: 10 });
    let batches = 0;
    for await (const { items } of source.read({ range: EVERYTHING, signal: new AbortController().signal }))
      if (items.length === 0 || ++batches === 20) break;
    expect(await sequentialReads(table)).toBe(before);
  });

  /** How many rows of a table were read without an index. */
  async function sequentialReads(table: string): Promise<number> {
    await pool.query("SELECT pg_stat_force_next_flush()");
    const { rows } = await pool.query<{ n: string }>(
      "SELECT seq_tup_read::text AS n FROM pg_stat_user_tables WHERE relname = $1",
      [table],
    );
    return Number(rows[0]!.n);
  }
});

describe("a database that is not there", () => {
  const secret = "hunter2-secret";

  test.each([
    {
      what: "a port without a server",
      url: async () => `postgres://u:${secret}@127.0.0.1:${await freePort()}/x`,
      error: { kind: "SourceUnreadable", reason: "the database cannot be reached (ECONNREFUSED)" },
    },
    {
      what: "a wrong password",
      url: async () => server.url.replace(/:[^:@]+@/, `:${secret}@`),
      error: { kind: "SourceUnreadable", reason: "the database refuses the login (28P01)" },
    },
    {
      what: "a database that is none",
      url: async () => server.url.replace(/\/postgres$/, "/nowhere"),
      error: { kind: "SourceMissing", reason: "the server has no such database (3D000)" },
    },
    ...[`mysql://u:${secret}@h/x`, `postgres://u:${secret}@h/x?port=x`, `postgres://u:${secret}@h/x?port=70000`].map(
      (url) => ({
        what: `the URL ${url.replace(secret, "…")}`,
        url: async () => url,
        error: {
          kind: "SourceInvalid",
          reason: "the URL cannot be used: write postgres://user:password@host:port/database",
        },
      }),
    ),
    {
      what: "a Unix socket that is missing",
      url: async () => `postgres://u:${secret}@%2Fnowhere/x`,
      error: { kind: "SourceUnreadable", reason: "the database cannot be reached (ENOENT)" },
    },
  ])("is reported without the login: $what", async ({ url, error }) => {
    const given = await url();
    const source = postgresTableSource({ url: given, table: "t" });
    expect(await source.plan({ shardCount: 1 })).toEqual({ ok: false, error });
    await source.close();
    const thrown: unknown = await firstBatch({ url: given, table: "t" }).catch((caught: unknown) => caught);
    expect(thrown).toMatchObject({ name: "SourceReadFailed", error });
    expect(inspect(thrown, { depth: 20 })).not.toContain(secret);
  });

  test("is read on where it has come back", async () => {
    const table = await makeTable(pool, "id int PRIMARY KEY");
    await pool.query(`INSERT INTO ${table} SELECT generate_series(1, 6)`);
    const way = await makeWay(server.url);
    const source = postgresTableSource({ url: way.url, table, batchSize: 2 });
    const ids: unknown[] = [];
    const read = async (after?: Uint8Array) => {
      for await (const { items } of source.read({ range: EVERYTHING, after, signal: new AbortController().signal })) {
        ids.push(...items.map(({ row }) => row["id"]));
        if (ids.length === 2) await way.cut();
      }
    };
    await expect(read()).rejects.toMatchObject({ name: "SourceReadFailed", kind: "SourceUnreadable" });
    expect(ids).toEqual([1, 2]);
    await way.mend();
    await read(unwrap(encodeTuple([2n])));
    expect(ids).toEqual([1, 2, 3, 4, 5, 6]);
    await source.close();
    await way.cut();
  });

  test("and a closed source refuses reads, and leaves the caller's pool open", async () => {
    const table = await makeTable(pool, "id int PRIMARY KEY");
    const source = postgresTableSource({ pool, table });
    await source.close();
    expect(await source.plan({ shardCount: 1 })).toEqual({
      ok: false,
      error: { kind: "SourceUnreadable", reason: "the source is closed" },
    });
    expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });
});

test("a reading that waits for a lock is left at once when it is aborted", async () => {
  const table = await makeTable(pool, "id int PRIMARY KEY");
  await pool.query(`INSERT INTO ${table} VALUES (1)`);
  const source = postgresTableSource({ url: server.url, table });
  expect((await source.plan({ shardCount: 1 })).ok).toBe(true);
  const holder = await pool.connect();
  await holder.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  const stop = new AbortController();
  const next = source.read({ range: EVERYTHING, signal: stop.signal })[Symbol.asyncIterator]().next();
  const isWaiting = "SELECT count(*)::int AS n FROM pg_locks WHERE relation = $1::regclass AND NOT granted";
  while ((await pool.query<{ n: number }>(isWaiting, [table])).rows[0]!.n === 0) await Promise.resolve();
  stop.abort(new Error("lost"));
  await expect(next).rejects.toThrow("lost");
  await holder.query("ROLLBACK");
  holder.release();
  await source.close();
});

test.each([
  undefined,
  { table: "t" },
  { url: "postgres://x/y", pool: {}, table: "t" },
  { pool: {}, table: "t" },
  { url: 1, table: "t" },
  { url: "postgres://x/y", table: "" },
  { url: "postgres://x/y", table: "x".repeat(64) },
  { url: "postgres://x/y", table: "t", columns: "a" },
  { url: "postgres://x/y", table: "t", batchSize: 0 },
  { url: "postgres://x/y", table: "t", withoutIndex: "maybe" },
])("options %# are refused with a sentence", (options) => {
  expect(() => postgresTableSource(options as never)).toThrow(InvariantViolation);
});
