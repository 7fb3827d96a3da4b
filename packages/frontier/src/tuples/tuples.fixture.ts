import { compareBytes, isBytes } from "@gossip/stdx";
import fc from "fast-check";
import { denseKey } from "../keys.fixture.ts";
import type { PartOrder, TupleElement, TupleUuid } from "./tuple-element.ts";

const MAX = (1n << 64n) - 1n;

/** Integers near every border between two lengths, and between numbers and bigints. */
export const tupleInteger: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: -MAX, max: MAX }),
  fc.tuple(fc.nat(64), fc.bigInt(-2n, 2n), fc.boolean()).map(([bits, delta, isNegative]) => {
    const value = (1n << BigInt(bits)) + delta;
    const clamped = value > MAX ? MAX : value;
    return isNegative ? -clamped : clamped;
  }),
);

/** Text with zeros, characters of every length and a byte order mark. */
export const tupleText: fc.Arbitrary<string> = fc
  .array(
    fc.constantFrom(
      "\0",
      "\u{1}",
      "a",
      "\u{7f}",
      "\u{80}",
      "\u{e9}",
      "\u{7ff}",
      "\u{800}",
      "\u{feff}",
      "\u{ffff}",
      "\u{10000}",
      "\u{10ffff}",
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(""));

export const tupleDouble: fc.Arbitrary<number> = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -0, 1, -1, Number.MIN_VALUE, -Number.MIN_VALUE, Number.MAX_VALUE, Infinity, -Infinity, NaN),
);

export const tupleUuid: fc.Arbitrary<TupleUuid> = denseKey({ min: 16, max: 16 }).map((bytes) => ({
  kind: "Uuid",
  bytes,
}));

/** Elements of every kind, nested ones too, small enough that equal and nearly equal ones are common. */
export const tupleElement: fc.Arbitrary<TupleElement> = fc.letrec<{ element: TupleElement }>((tie) => ({
  element: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.oneof(fc.bigInt(-2n, 2n), tupleInteger),
    tupleDouble,
    tupleText,
    denseKey({ max: 3 }),
    tupleUuid,
    fc.array(tie("element"), { maxLength: 3 }),
  ),
})).element;

export const tuple: fc.Arbitrary<TupleElement[]> = fc.array(tupleElement, { maxLength: 4 });

export const order: fc.Arbitrary<PartOrder[]> = fc.array(fc.constantFrom<PartOrder>("Ascending", "Descending"), {
  maxLength: 4,
});

/** The order of FoundationDB's tuples, by its definition and not by bytes. */
export function compareTuples(
  a: readonly TupleElement[],
  b: readonly TupleElement[],
  directions: readonly PartOrder[] = [],
): number {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const compared = compareElements(a[index]!, b[index]!);
    if (compared !== 0) return directions[index] === "Descending" ? -compared : compared;
  }
  return Math.sign(a.length - b.length);
}

function compareElements(a: TupleElement, b: TupleElement): number {
  const kinds = kindRank(a) - kindRank(b);
  if (kinds !== 0) return Math.sign(kinds);
  if (a === null || typeof a === "boolean" || typeof a === "bigint") return a === b ? 0 : a! < b! ? -1 : 1;
  if (typeof a === "number") return compareDoubles(a, b as number);
  if (typeof a === "string") return Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b as string)));
  if (isBytes(a)) return Math.sign(compareBytes(a, b as Uint8Array));
  if ("kind" in a) return Math.sign(compareBytes(a.bytes, (b as TupleUuid).bytes));
  return compareTuples(a, b as readonly TupleElement[]);
}

/** IEEE total order: −0 below 0, NaN above all. */
function compareDoubles(a: number, b: number): number {
  if (Object.is(a, b)) return 0;
  if (Number.isNaN(a)) return 1;
  if (Number.isNaN(b)) return -1;
  return a === b ? (Object.is(a, -0) ? -1 : 1) : Math.sign(a - b);
}

/** null, bytes, string, nested, integer, double, boolean, UUID. */
function kindRank(element: TupleElement): number {
  if (element === null) return 0;
  if (isBytes(element)) return 1;
  if (typeof element === "object") return "kind" in element ? 7 : 3;
  return { string: 2, bigint: 4, number: 5, boolean: 6 }[typeof element as "string"];
}
