// Times, dates and numerics have no tuple element of their own. If what stands for them sorted differently from the
// server in one corner, a page would begin behind rows that were never read. So the server sorts many values here, and
// every way to read them must agree with it.

import { decodeTuple, encodeTuple } from "@gossip/frontier";
import { compareBytes, unwrap } from "@gossip/stdx";
import { effort } from "@gossip/tools/effort";
import { fixedExamples } from "@gossip/tools/fixed-examples";
import fc from "fast-check";
import type { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeNumeric, encodeNumeric } from "./numeric-key.ts";
import { postgresTableSource } from "./postgres-table-source.ts";
import { makeTable, openPool, startFastPostgres, type TestServer } from "./temporary-table.fixture.ts";
import { timeText } from "./time-key.ts";

let server: TestServer;
let pool: Pool;

beforeAll(async () => {
  server = await startFastPostgres();
  // Settings that change how values are printed.
  pool = openPool(server.url, "-c timezone=America/St_Johns -c datestyle=German");
});

afterAll(async () => {
  await pool?.end();
  await server?.dispose();
});

const COUNT = effort({ usual: 300, exploring: 5_000 });

const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom("0", "1", "5", "9"), maxLength });
const numeric = fc
  .tuple(fc.constantFrom("", "-"), digits(9), digits(9), fc.constantFrom(0, 0, 0, 3, -3, 40, -40, 130_000, -16_000))
  .map(([sign, whole, fraction, e]) => `${sign}0${whole}.${fraction}e${e}`);
const microseconds = fc.oneof(
  fc.bigInt({ min: -210_866_803_200_000_000n, max: 9_224_318_015_999_999_999n }),
  fc.bigInt({ min: -4_000_000_000_000_000n, max: 4_000_000_000_000_000n }),
);
const days = fc.oneof(fc.bigInt({ min: -2_440_588n, max: 2_145_042_905n }), fc.bigInt({ min: -50_000n, max: 50_000n }));

/** A type, and values that the server reads. */
const TYPES: readonly {
  readonly type: string;
  readonly fixed: readonly string[];
  readonly any: fc.Arbitrary<string>;
}[] = [
  {
    type: "numeric",
    fixed: [
      "NaN",
      "Infinity",
      "-Infinity",
      "0",
      "0.00",
      "1",
      "1.0",
      "-1",
      "10",
      "100",
      "0.1",
      "0.01",
      "99",
      "99.99",
      "1e131071",
      "-1e131071",
      "1e-16383",
      "-1e-16383",
    ],
    any: numeric,
  },
  {
    type: "timestamptz",
    fixed: [
      "infinity",
      "-infinity",
      "1970-01-01 00:00:00+00",
      "2000-01-01 00:00:00+00",
      "4714-11-24 00:00:00+00 BC",
      "294276-12-31 23:59:59.999999+00",
      "0001-01-01 00:00:00+00",
      "0001-12-31 23:59:59.999999+00 BC",
      "2024-02-29 12:00:00.000001+00",
      "1900-03-01 00:00:00+00",
    ],
    any: microseconds.map((value) => timeText("time", value)),
  },
  {
    type: "timestamp",
    fixed: ["infinity", "-infinity", "1969-12-31 23:59:59.999999", "4714-11-24 00:00:00 BC"],
    any: microseconds.map((value) => timeText("time", value)),
  },
  {
    type: "date",
    fixed: ["infinity", "-infinity", "1970-01-01", "4714-11-24 BC", "5874897-12-31", "2000-02-29", "1900-02-28"],
    any: days.map((value) => timeText("date", value)),
  },
];

describe.each(TYPES)("$type", ({ type, fixed, any }) => {
  let table: string;
  /** As the server prints them, in its order. */
  let expected: readonly string[];
  let keys: readonly Uint8Array[];

  async function readAll(after: Uint8Array | undefined, start = new Uint8Array(0)): Promise<string[]> {
    const found: string[] = [];
    const source = postgresTableSource({ pool, table, columns: ["shown"], batchSize: 7 });
    const range = { start, end: new Uint8Array(0) };
    for await (const { items } of source.read({ range, after, signal: new AbortController().signal }))
      found.push(...items.map(({ row }) => row["shown"] as string));
    return found;
  }

  beforeAll(async () => {
    table = await makeTable(pool, `id ${type} PRIMARY KEY, shown text`);
    const values = [...fixed, ...fixedExamples(COUNT, any).map(([value]) => value)];
    await pool.query(
      `INSERT INTO ${table} SELECT v::${type}, v::${type}::text FROM unnest($1::text[]) v ON CONFLICT DO NOTHING`,
      [values],
    );
    expected = (await pool.query<{ shown: string }>(`SELECT shown FROM ${table} ORDER BY id`)).rows.map(
      (row) => row.shown,
    );
    keys = await readKeys();
  });

  async function readKeys(): Promise<readonly Uint8Array[]> {
    const found: Uint8Array[] = [];
    const source = postgresTableSource({ pool, table, columns: [] });
    const range = { start: new Uint8Array(0), end: new Uint8Array(0) };
    for await (const { items } of source.read({ range, signal: new AbortController().signal }))
      found.push(...items.map(({ key }) => key));
    return found;
  }

  test("keys are distinct, and sort as the server sorts the values", async () => {
    expect(expected.length).toBeGreaterThan(fixed.length);
    expect(await readAll(undefined)).toEqual(expected);
    expect(keys.length).toBe(expected.length);
    for (const [index, key] of keys.entries())
      if (index > 0) expect(compareBytes(keys[index - 1]!, key)).toBeLessThan(0);
  });

  test("reading continues after any key", async () => {
    for (let index = 0; index < keys.length; index += 11)
      expect((await readAll(keys[index]!)).length).toBe(keys.length - index - 1);
  });

  test("reading begins at any bytes", async () => {
    const bytes = fc.tuple(fc.constantFrom(...keys), fc.nat(12), fc.nat(255)).map(([key, at, byte]) => {
      const bound = key.slice(0, Math.max(1, at + 1));
      bound[bound.length - 1] = byte;
      return bound;
    });
    for (const [bound] of fixedExamples(40, bytes))
      expect((await readAll(undefined, bound)).length).toBe(keys.filter((key) => compareBytes(key, bound) >= 0).length);
  });

  test("a key is shown as its value", async () => {
    const source = postgresTableSource({ pool, table });
    unwrap(await source.plan({ shardCount: 2 }));
    const shown = keys.map((key) => source.describeKey!(key).slice(1, -1));
    const { rows } = await pool.query<{ same: boolean }>(
      `SELECT a::${type} = b::${type} AS same FROM unnest($1::text[], $2::text[]) AS v(a, b)`,
      [shown, await inIso()],
    );
    expect(rows.every(({ same }) => same)).toBe(true);
  });

  /** The values, printed in a way that can be read back: a German date of 1 BC cannot. */
  async function inIso(): Promise<string[]> {
    const client = await pool.connect();
    try {
      await client.query("BEGIN; SET LOCAL datestyle = 'ISO'");
      const { rows } = await client.query<{ shown: string }>(`SELECT id::text AS shown FROM ${table} ORDER BY id`);
      await client.query("ROLLBACK");
      return rows.map((row) => row.shown);
    } finally {
      client.release();
    }
  }
});

test.each(["0", "1", "-1", "0.5", "-0.05", "120", "99.99", "1e131071", "-1e-16383", "NaN", "Infinity", "-Infinity"])(
  "the bytes of %s are those of one numeric",
  (text) => {
    const plain = text.startsWith("1e")
      ? `1${"0".repeat(131_071)}`
      : text.startsWith("-1e")
        ? `-0.${"0".repeat(16_382)}1`
        : text;
    expect(decodeNumeric(encodeNumeric(plain))).toBe(text);
  },
);

test.each([
  { what: "nothing", bytes: [] },
  { what: "an unknown class", bytes: [0x15] },
  { what: "no digits", bytes: [0x40, 0x40, 0, 1] },
  { what: "a digit of zero first", bytes: [0x40, 0x40, 0, 1, 2] },
  { what: "zeros at the end", bytes: [0x40, 0x40, 0, 1, 12, 1] },
  { what: "a pair above 99", bytes: [0x40, 0x40, 0, 1, 102] },
  { what: "a negative number without an end", bytes: [0x20, 0xbf, 0xff, 0xfe, 0xf4] },
  { what: "an exponent beyond the server's", bytes: [0x40, 0x7f, 0, 1, 12] },
  { what: "bytes after infinity", bytes: [0x50, 1] },
])("bytes of no numeric: $what", ({ bytes }) => {
  expect(decodeNumeric(Uint8Array.from(bytes))).toBeUndefined();
});

test("a key of a time is an integer, which is microseconds since 1970", () => {
  const key = unwrap(encodeTuple([BigInt(Date.UTC(2026, 10, 17)) * 1000n]));
  expect(unwrap(decodeTuple(key))).toEqual([1_794_873_600_000_000n]);
  expect(timeText("time", 1_794_873_600_000_001n)).toBe("2026-11-17 00:00:00.000001+00");
});
