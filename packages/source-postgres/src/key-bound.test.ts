// A shard may begin at any bytes, and the query that begins there must miss no row at or above them. A bound that is a
// little too high loses rows at every border of shards, without an error.

import { encodeTuple } from "@gossip/frontier";
import { compareBytes, unwrap } from "@gossip/stdx";
import { effort } from "@gossip/tools/effort";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boundFrom, type KeyBound } from "./key-bound.ts";
import { integerLimits, type KeyColumn, type KeyKind } from "./key-column.ts";
import { elementOf } from "./key-value.ts";
import { AFTER_ALL_TIMES, BEFORE_ALL_TIMES } from "./time-key.ts";

const column = (kind: KeyKind, sqlType: string): KeyColumn => ({ name: "k", kind, sqlType, needsCollation: false });
const COLUMNS = {
  int2: column("integer", "int2"),
  int8: column("integer", "int8"),
  text: column("text", "text"),
  uuid: column("uuid", "uuid"),
  bytes: column("bytes", "bytea"),
  boolean: column("boolean", "bool"),
  time: column("time", "timestamptz"),
  date: column("date", "date"),
  numeric: column("numeric", "numeric"),
};

const integers = fc.oneof(
  fc.constantFrom(
    0n,
    1n,
    -1n,
    254n,
    255n,
    256n,
    257n,
    -254n,
    -255n,
    -256n,
    -257n,
    -65_535n,
    -65_536n,
    65_535n,
    65_536n,
  ),
  fc.bigInt({ min: -70_000n, max: 70_000n }),
  fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }),
);

const denseBytes = (maxLength: number) => fc.array(fc.constantFrom(0x00, 0x01, 0x61, 0x80, 0xc3, 0xff), { maxLength });
const uuid = fc
  .array(fc.constantFrom("0", "1", "f"), { minLength: 32, maxLength: 32 })
  .map((digits) => digits.join(""));

/** Values as the server would give them. */
function valuesOf(given: KeyColumn): fc.Arbitrary<string> {
  switch (given.kind) {
    case "integer": {
      const { min, max } = integerLimits(given);
      return integers.filter((value) => value >= min && value <= max).map(String);
    }
    case "text":
      return fc.string({ unit: fc.constantFrom("a", "\u0001", "é", "\u{10ffff}", "\ufffd"), maxLength: 3 });
    case "uuid":
      return uuid;
    case "bytes":
      return denseBytes(3).map((bytes) => Buffer.from(bytes).toString("hex"));
    case "boolean":
      return fc.constantFrom("true", "false");
    case "time":
    case "date":
      return times(given.kind).map(String);
    case "numeric":
      return numerics;
  }
}

const LEAST = { time: -210_866_803_200_000_000n, date: -2_440_588n };
const GREATEST = { time: 9_224_318_015_999_999_999n, date: 2_145_042_905n };

function times(kind: "time" | "date"): fc.Arbitrary<bigint> {
  const [least, greatest] = [LEAST[kind], GREATEST[kind]];
  return fc.oneof(
    fc.constantFrom(least, greatest, BEFORE_ALL_TIMES, AFTER_ALL_TIMES, 0n, 1n, -1n, 255n, 256n),
    fc.bigInt({ min: least, max: greatest }),
  );
}

const numerics = fc.oneof(
  fc.constantFrom("0", "NaN", "Infinity", "-Infinity", `1${"0".repeat(131_071)}`, `-0.${"0".repeat(16_382)}1`),
  fc
    .tuple(fc.constantFrom("", "-"), fc.string({ unit: fc.constantFrom("0", "1", "9"), maxLength: 5 }), fc.nat(5))
    .map(([sign, digits, point]) => `${sign}0${digits.slice(0, point)}.${digits.slice(point)}0`)
    .filter((text) => /[19]/.test(text)),
);

const schemas: readonly (readonly KeyColumn[])[] = [
  ...Object.values(COLUMNS).map((one) => [one]),
  [COLUMNS.int8, COLUMNS.text],
  [COLUMNS.text, COLUMNS.int2],
  [COLUMNS.bytes, COLUMNS.uuid],
  [COLUMNS.boolean, COLUMNS.bytes, COLUMNS.int8],
  [COLUMNS.date, COLUMNS.numeric, COLUMNS.time],
  [COLUMNS.numeric, COLUMNS.int2],
];

const keyOf = (columns: readonly KeyColumn[], row: readonly string[]) =>
  unwrap(encodeTuple(columns.map((one, index) => elementOf(one, row[index]!))));

/** Whether a row meets a bound, by the order that the server has. */
function fulfils(columns: readonly KeyColumn[], row: readonly string[], { operator, values }: KeyBound): boolean {
  for (const [index, value] of values.entries()) {
    const order = compareValues(columns[index]!, row[index]!, value);
    if (order !== 0) return order > 0;
  }
  return operator === ">=";
}

function compareValues(given: KeyColumn, a: string, b: string): number {
  if (given.kind === "numeric") return compareNumerics(a, b);
  // Elements of one type are in the order of their values: what C5 promises.
  return compareBytes(unwrap(encodeTuple([elementOf(given, a)])), unwrap(encodeTuple([elementOf(given, b)])));
}

/** By sign, exponent and digits: not the way that keys do it. */
function compareNumerics(a: string, b: string): number {
  const [one, other] = [rankOf(a), rankOf(b)];
  if (one.rank !== other.rank) return one.rank - other.rank;
  const size = one.exponent - other.exponent || (one.digits < other.digits ? -1 : one.digits > other.digits ? 1 : 0);
  return one.rank < 0 ? -size : size;
}

function rankOf(text: string): { readonly rank: number; readonly exponent: number; readonly digits: string } {
  const special = { "-Infinity": -2, Infinity: 2, NaN: 3 }[text];
  if (special !== undefined) return { rank: special, exponent: 0, digits: "" };
  const [, sign, whole = "", fraction = "", e = "0"] = /^(-?)(\d*)(?:\.(\d*))?(?:e(-?\d+))?$/.exec(text)!;
  const written = whole + fraction;
  const first = written.search(/[1-9]/);
  if (first === -1) return { rank: 0, exponent: 0, digits: "" };
  const digits = written.slice(first).replace(/0+$/, "");
  return { rank: sign === "-" ? -1 : 1, exponent: whole.length - first + Number(e), digits };
}

/** Bytes around keys: keys, what they begin with, something behind them, a byte changed, anything. */
function boundsOf(columns: readonly KeyColumn[]): fc.Arbitrary<Uint8Array> {
  const key = fc.tuple(...columns.map(valuesOf)).map((row) => keyOf(columns, row));
  const cut = fc.tuple(key, fc.nat(24)).map(([bytes, size]) => bytes.slice(0, size));
  const behind = fc.tuple(key, denseBytes(2)).map(([bytes, more]) => Uint8Array.from([...bytes, ...more]));
  const changed = fc
    .tuple(
      key,
      fc.nat(8),
      fc.constantFrom(0, 1, 0x0b, 0x0c, 0x12, 0x13, 0x15, 0x16, 0x1d, 0x27, 0x31, 0x40, 0x65, 0x9b, 0xff),
    )
    .map(([bytes, place, byte]) => {
      const other = bytes.slice();
      if (place < other.length) other[place] = byte;
      return other;
    });
  // First bytes of elements and of none, and what may follow.
  const anything = fc
    .array(
      fc.constantFrom(
        0x00,
        0x01,
        0x02,
        0x0b,
        0x0c,
        0x12,
        0x13,
        0x14,
        0x15,
        0x16,
        0x1d,
        0x20,
        0x26,
        0x30,
        0x40,
        0x50,
        0x60,
        0x61,
        0xfe,
        0xff,
      ),
      { maxLength: 6 },
    )
    .map((bytes) => Uint8Array.from(bytes));
  return fc.oneof(key, cut, behind, changed, anything);
}

describe.each(schemas.map((columns) => ({ columns, name: columns.map(({ sqlType }) => sqlType).join(", ") })))(
  "a key of ($name)",
  ({ columns }) => {
    test("every row at or above the bytes meets the bound", () => {
      fc.assert(
        fc.property(boundsOf(columns), fc.tuple(...columns.map(valuesOf)), (bound, row) => {
          if (compareBytes(keyOf(columns, row), bound) < 0) return;
          const condition = boundFrom(columns, bound);
          expect(condition !== undefined && fulfils(columns, row, condition)).toBe(true);
        }),
        { numRuns: effort({ usual: 3000, exploring: 20_000 }) },
      );
    });

    test("where the bytes are a row's key, no row below it does", () => {
      fc.assert(
        fc.property(fc.tuple(...columns.map(valuesOf)), fc.tuple(...columns.map(valuesOf)), (row, other) => {
          const bound = boundFrom(columns, keyOf(columns, row))!;
          expect(fulfils(columns, other, bound)).toBe(compareBytes(keyOf(columns, other), keyOf(columns, row)) >= 0);
        }),
        { numRuns: 1000 },
      );
    });

    test("right behind a row's key, that row does not", () => {
      fc.assert(
        fc.property(fc.tuple(...columns.map(valuesOf)), (row) => {
          const bound = boundFrom(columns, Uint8Array.from([...keyOf(columns, row), 0]));
          // Of a text and of bytes, a zero behind the end could be an escape's.
          if (bound !== undefined) expect(fulfils(columns, row, bound)).toBe(false);
        }),
      );
    });
  },
);

test.each([
  { what: "before all integers", bytes: [0x0b], bound: { operator: ">=", values: [] } },
  { what: "behind all integers", bytes: [0x1d], bound: undefined },
  { what: "behind all that the column can hold", bytes: [0x17, 1, 0, 0], bound: undefined },
  { what: "before all that the column can hold", bytes: [0x11, 0, 0, 0], bound: { operator: ">=", values: [] } },
  { what: "within an integer", bytes: [0x16, 1], bound: { operator: ">=", values: ["256"] } },
])("$what", ({ bytes, bound }) => {
  expect(boundFrom([COLUMNS.int2], Uint8Array.from(bytes))).toEqual(bound);
});
