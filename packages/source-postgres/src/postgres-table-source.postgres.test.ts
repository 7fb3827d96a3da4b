// The order of the keys must be the server's order of the rows, for every type and collation, or a page begins behind
// rows that were never read. So the published kit runs on real tables of every kind of key.

import { encodeTuple, type TupleElement } from "@gossip/frontier";
import { compareBytes, unwrap } from "@gossip/stdx";
import { describeSource } from "@gossip/worker/testing";
import { Pool, type CustomTypesConfig } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeNumeric, encodeNumeric } from "./numeric-key.ts";
import { postgresTableSource } from "./postgres-table-source.ts";
import type { PostgresTableOptions } from "./table-options.ts";
import { heldConnections, makeTable, openPool, startFastPostgres, type TestServer } from "./temporary-table.fixture.ts";
import { timeText } from "./time-key.ts";

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
const uuid = (digits: string): TupleElement => ({
  kind: "Uuid",
  bytes: new Uint8Array(Buffer.from(digits.padEnd(32, "0"), "hex")),
});
const bytes = (...values: readonly number[]) => Uint8Array.from(values);

/** A kind of primary key, some rows, and what the driver is given for them. */
interface Case {
  readonly what: string;
  readonly definition: string;
  readonly rows: readonly (readonly TupleElement[])[];
  /** The SQL parameter for an element, where it is not obvious. */
  readonly parameter?: (element: TupleElement) => unknown;
}

const INTEGERS = [-(1n << 63n), -65_536n, -256n, -255n, -1n, 0n, 1n, 255n, 256n, 1000n, (1n << 63n) - 1n];
const TEXTS = ["", "a", "A", "aa", "a b", "ab", "Z", "z", "é", "\u{10ffff}", "\ufffd", "-", "_", "\u0001"];

const CASES: readonly Case[] = [
  { what: "bigint", definition: "id bigint PRIMARY KEY", rows: INTEGERS.map((value) => [value]) },
  {
    what: "integer and text",
    definition: "a int, b text, PRIMARY KEY (a, b)",
    rows: [-1n, 0n, 300n].flatMap((a) => ["", "x", "xy", "Y"].map((b) => [a, b])),
  },
  { what: "text of the database's collation", definition: "id text PRIMARY KEY", rows: TEXTS.map((value) => [value]) },
  {
    what: "text of a language's collation",
    definition: 'id varchar(40) COLLATE "und-x-icu" PRIMARY KEY',
    rows: TEXTS.map((value) => [value]),
  },
  {
    what: "uuid",
    definition: "id uuid PRIMARY KEY",
    rows: ["", "01", "7f", "80", "ff", "0101", "f0", "0f"].map((digits) => [uuid(digits)]),
  },
  {
    what: "bytea",
    definition: "id bytea PRIMARY KEY",
    rows: [[], [0], [0, 0], [0, 0xff], [0xff], [1], [0x61, 0], [0x61]].map((values) => [bytes(...values)]),
  },
  {
    what: "boolean and smallint",
    definition: "a bool, b smallint, PRIMARY KEY (b, a)",
    rows: [-300n, -1n, 0n, 7n].flatMap((b) => [false, true].map((a) => [b, a])),
  },
  {
    what: "two integers, the other way about than they are declared",
    definition: "b int, a int, PRIMARY KEY (a, b)",
    rows: [1n, 2n, 3n].flatMap((a) => [1n, 2n, 3n].map((b) => [a, b])),
  },
  {
    what: "timestamptz",
    definition: "id timestamptz PRIMARY KEY",
    rows: [-86_400_000_001n, -86_400_000_000n, -1n, 0n, 1n, 255n, 256n, 1_700_000_000_123_456n].map((value) => [value]),
    parameter: (element) => timeText("time", element as bigint),
  },
  {
    what: "date and numeric",
    definition: "a date, b numeric(9, 3), PRIMARY KEY (a, b)",
    rows: [-1n, 0n, 20_000n].flatMap((a) => ["-1.5", "0", "7", "7.001"].map((b) => [a, encodeNumeric(b)])),
    parameter: (element) =>
      typeof element === "bigint" ? timeText("date", element) : decodeNumeric(element as Uint8Array),
  },
];

for (const { what, definition, rows, parameter = asParameter } of CASES) {
  let table: string;
  const keyColumns = definition.replace(/.*\((.*)\)$/, "$1").split(", ");
  const names = definition.includes("PRIMARY KEY (") ? keyColumns : ["id"];

  describe(what, () => {
    beforeAll(async () => {
      table = await makeTable(pool, definition);
      const places = names.map((_, index) => `$${index + 1}`).join(", ");
      for (const row of rows)
        await pool.query(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${places})`, row.map(parameter));
    });

    const keys = rows.map((row) => unwrap(encodeTuple(row))).sort(compareBytes);
    describeSource(
      `a table by ${what}`,
      () => ({
        source: postgresTableSource({ pool, table, batchSize: 3 }),
        keys,
        openHandleCount: () => heldConnections(pool),
      }),
      {
        describe,
        expect,
        test,
      },
    );
  });
}

function asParameter(element: TupleElement): unknown {
  if (typeof element === "bigint") return String(element);
  if (element instanceof Uint8Array) return Buffer.from(element);
  return typeof element === "object" && element !== null && "bytes" in element
    ? Buffer.from(element.bytes).toString("hex")
    : element;
}

async function readAll(options: Partial<PostgresTableOptions>, after?: Uint8Array) {
  const items = [];
  const problems = [];
  const source = postgresTableSource({ pool, table: "?", ...options });
  for await (const batch of source.read({ range: EVERYTHING, after, signal: new AbortController().signal })) {
    items.push(...batch.items);
    problems.push(...(batch.problems ?? []));
  }
  return { items, problems };
}

async function estimated(options: Partial<PostgresTableOptions>): Promise<number> {
  const source = postgresTableSource({ pool, table: "?", ...options });
  for await (const { spans } of source.estimate!({ signal: new AbortController().signal })) {
    expect([spans[0]!.start.length, spans.at(-1)!.end.length]).toEqual([0, 0]);
    return spans.reduce((sum, { items }) => sum + items, 0);
  }
  return NaN;
}

describe("an estimate", () => {
  test("of a small table is exact, and is where its rows are", async () => {
    const table = await makeTable(pool, "id int PRIMARY KEY");
    expect(await estimated({ table })).toBe(0);
    await pool.query(`INSERT INTO ${table} SELECT generate_series(1, 1000)`);
    expect(await estimated({ table })).toBe(1000);
  });

  test("of a large table comes from a few of its blocks", async () => {
    const table = await makeTable(pool, "id int PRIMARY KEY, note text");
    await pool.query(`INSERT INTO ${table} SELECT id, repeat('x', 400) FROM generate_series(1, 90000) id`);
    // 5,000 blocks, of which 2,048 are read. Twice as far off as this would be twenty standard deviations.
    expect(Math.abs((await estimated({ table })) - 90_000)).toBeLessThan(10_000);
  });
});

describe("rows", () => {
  test("carry all columns or those that are wanted, as the driver makes them", async () => {
    const table = await makeTable(pool, "id bigint PRIMARY KEY, n int, note text");
    await pool.query(`INSERT INTO ${table} VALUES (1, 10, 'one'), (2, NULL, 'two')`);
    expect((await readAll({ table })).items.map(({ row }) => row)).toEqual([
      { id: "1", n: 10, note: "one" },
      { id: "2", n: null, note: "two" },
    ]);
    expect((await readAll({ table, columns: ["note"] })).items.map(({ row }) => row)).toEqual([
      { note: "one" },
      { note: "two" },
    ]);
    expect((await readAll({ table, columns: [] })).items.map(({ row }) => row)).toEqual([{}, {}]);
  });

  test("of names with everything in them are read, and nothing else is done", async () => {
    await pool.query(
      'CREATE SCHEMA "s""; x"; CREATE TABLE "s""; x"."t""; DROP TABLE t; --" ("k"" ;" int PRIMARY KEY, "v"" " text)',
    );
    await pool.query(`INSERT INTO "s""; x"."t""; DROP TABLE t; --" VALUES (1, 'x')`);
    const { items } = await readAll({ schema: 's"; x', table: 't"; DROP TABLE t; --', columns: ['v" ', 'k" ;'] });
    expect(items.map(({ row }) => row)).toEqual([{ 'v" ': "x", 'k" ;': 1 }]);
  });

  test("of a partitioned table are in order across its partitions", async () => {
    const table = await makeTable(pool, "id int PRIMARY KEY) PARTITION BY HASH (id");
    for (const remainder of [0, 1, 2])
      await pool.query(
        `CREATE TABLE ${table}_${remainder} PARTITION OF ${table} FOR VALUES WITH (MODULUS 3, REMAINDER ${remainder})`,
      );
    await pool.query(`INSERT INTO ${table} SELECT generate_series(1, 100)`);
    expect((await readAll({ table, batchSize: 7 })).items.map(({ row }) => row["id"])).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 1),
    );
    expect(unwrap(await postgresTableSource({ pool, table }).plan({ shardCount: 4 })).length).toBe(4);
  });

  test("of a domain's key are those of the type it is made of", async () => {
    await pool.query("CREATE DOMAIN positive AS bigint CHECK (VALUE > 0)");
    const table = await makeTable(pool, "id positive PRIMARY KEY");
    await pool.query(`INSERT INTO ${table} SELECT generate_series(1, 9)`);
    expect(
      (await readAll({ table, batchSize: 2 }, unwrap(encodeTuple([7n])))).items.map(({ row }) => row["id"]),
    ).toEqual(["8", "9"]);
  });

  test("by another unique key, in its order", async () => {
    const table = await makeTable(pool, "id int PRIMARY KEY, place text, name text NOT NULL, UNIQUE (name)");
    await pool.query(`ALTER TABLE ${table} ALTER place SET NOT NULL; CREATE UNIQUE INDEX ON ${table} (place, id)`);
    await pool.query(`INSERT INTO ${table} VALUES (1, 'b', 'z'), (2, 'a', 'y'), (3, 'a', 'x'), (4, 'c', 'w')`);
    const ids = async (key: string[]) =>
      (await readAll({ table, key, batchSize: 2 })).items.map(({ row }) => row["id"]);
    expect(await ids(["name"])).toEqual([4, 3, 2, 1]);
    expect(await ids(["place", "id"])).toEqual([2, 3, 1, 4]);
    expect(await ids(["id"])).toEqual([1, 2, 3, 4]);
  });

  test("that meet a condition are items, page by page, in plans and in estimates", async () => {
    const table = await makeTable(pool, "id int PRIMARY KEY, state text");
    await pool.query(
      `INSERT INTO ${table} SELECT id, CASE WHEN id % 10 = 0 THEN 'open' ELSE 'done' END FROM generate_series(1, 200) id`,
    );
    const where = "state = 'open' OR id = 3 -- and no others";
    const { items } = await readAll({ table, where, batchSize: 4 }, unwrap(encodeTuple([2n])));
    expect(items.map(({ row }) => row["id"])).toEqual([
      3,
      ...Array.from({ length: 20 }, (_, index) => 10 * (index + 1)),
    ]);
    expect(unwrap(await postgresTableSource({ pool, table, where }).plan({ shardCount: 7 })).length).toBe(7);
    expect(await estimated({ table, where })).toBe(21);
  });

  test("whose numeric key is too large are reported in order", async () => {
    const table = await makeTable(pool, "id numeric PRIMARY KEY");
    await pool.query(`INSERT INTO ${table} VALUES (1), (repeat('7', 9000)::numeric), (-repeat('7', 9000)::numeric)`);
    const { items, problems } = await readAll({ table, batchSize: 1 });
    expect(items.map(({ row }) => row["id"])).toEqual(["1"]);
    expect(problems.length).toBe(2);
    const keys = [problems[0]!.key, items[0]!.key, problems[1]!.key];
    expect(keys.toSorted(compareBytes)).toEqual(keys);
  });

  test("whose key is too large are reported in order, and the rows after them are read", async () => {
    const table = await makeTable(pool, "id text PRIMARY KEY");
    // The server keeps long texts compressed, so that they fit its index.
    await pool.query(`INSERT INTO ${table} VALUES ('a'), (repeat('b', 5000)), ('c')`);
    const { items, problems } = await readAll({ table, batchSize: 1 });
    expect(items.map(({ row }) => row["id"])).toEqual(["a", "c"]);
    expect(problems.map(({ reason }) => reason)).toEqual(["the key of a row is too large"]);
  });

  test("inserted after the last row read are among the items", async () => {
    const table = await makeTable(pool, "id int PRIMARY KEY");
    await pool.query(`INSERT INTO ${table} VALUES (1), (2), (3)`);
    const seen: unknown[] = [];
    for await (const { items } of postgresTableSource({ pool, table, batchSize: 2 }).read({
      range: EVERYTHING,
      signal: new AbortController().signal,
    })) {
      if (seen.length === 0) await pool.query(`INSERT INTO ${table} VALUES (0), (4)`);
      seen.push(...items.map(({ row }) => row["id"]));
    }
    expect(seen).toEqual([1, 2, 3, 4]);
  });

  test("are not touched by parsers of the pool where they make the key", async () => {
    const table = await makeTable(pool, "id bigint PRIMARY KEY");
    await pool.query(`INSERT INTO ${table} VALUES (9007199254740993)`);
    const rounding = new Pool({
      connectionString: server.url,
      types: { getTypeParser: (oid) => (text: string) => (oid === 20 ? Number(text) : text) } as CustomTypesConfig,
    });
    const { items } = await readAll({ pool: rounding, table });
    await rounding.end();
    expect(items.map(({ row }) => row)).toEqual([{ id: 9_007_199_254_740_992 }]);
    expect(items.map(({ key }) => key)).toEqual([unwrap(encodeTuple([9_007_199_254_740_993n]))]);
  });
});

describe("cutting a table", () => {
  const COUNT = 60_000;
  let table: string;
  let keys: readonly Uint8Array[];

  beforeAll(async () => {
    table = await makeTable(pool, "id bigint PRIMARY KEY, note text");
    // Far more at one end of the key space than at the other, and wide enough for some hundred blocks.
    await pool.query(
      `INSERT INTO ${table} SELECT id * id::bigint, repeat('x', 100) FROM generate_series(1, ${COUNT}) id`,
    );
    keys = Array.from({ length: COUNT }, (_, index) => unwrap(encodeTuple([BigInt(index + 1) ** 2n])));
  });

  test("gives shards of about equal size", async () => {
    const specs = unwrap(await postgresTableSource({ pool, table }).plan({ shardCount: 8 }));
    const counts = specs.map(
      ({ keyRangeStart, keyRangeEnd }) =>
        keys.filter((key) => compareBytes(key, keyRangeStart) >= 0 && compareBytes(key, keyRangeEnd) < 0).length,
    );
    expect(counts.length).toBe(8);
    expect(counts.reduce((sum, count) => sum + count)).toBe(COUNT);
    expect(Math.max(...counts)).toBeLessThan((COUNT / 8) * 1.5);
  });

  test("gives the same shards every time", async () => {
    const plan = async () => unwrap(await postgresTableSource({ pool, table }).plan({ shardCount: 8 }));
    const first = await plan();
    for (let time = 0; time < 3; time++) expect(await plan()).toEqual(first);
  });

  test("splits where about half of what remains is, exactly where little remains", async () => {
    const source = postgresTableSource({ pool, table });
    const split = async (after: number) => {
      const point = await source.splitPoint!({ range: EVERYTHING, after: keys[after]!, samples: [] });
      return point === undefined ? undefined : keys.findIndex((key) => compareBytes(key, point) >= 0);
    };
    expect(Math.abs((await split(20_000))! - 40_000)).toBeLessThan(6000);
    expect(await split(COUNT - 1001)).toBe(COUNT - 500);
    expect(await split(COUNT - 2)).toBe(undefined);
    expect(await split(COUNT - 1)).toBe(undefined);
  });

  test("an empty table has one shard and no split", async () => {
    const empty = await makeTable(pool, "id int PRIMARY KEY");
    const source = postgresTableSource({ pool, table: empty });
    expect(unwrap(await source.plan({ shardCount: 8 })).length).toBe(1);
    expect(await source.splitPoint!({ range: EVERYTHING, samples: [] })).toBe(undefined);
  });
});
