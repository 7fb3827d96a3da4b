// A split hands a range to other shards. A gap loses keys forever, an overlap has them processed twice, and a cursor on
// the wrong child does either. The coverage rule is the last one to look.
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ascii, denseKey, filled, holes, OVERSIZED_KEY } from "../arbitraries.fixture.ts";
import { Cursor } from "../cursors/cursor.ts";
import type { ShardSpecRef } from "../specs/shard-spec-ref.ts";
import { ShardSpec } from "../specs/shard-spec.ts";
import { child, cursorAt, partition, partsOf, range } from "../specs.fixture.ts";
import { validateChildCursors, validateResidualSplit, validateSplitCoverage } from "./validate-split.ts";

const OK = { ok: true, value: undefined };
const refused = (error: object) => ({ ok: false, error });
const OVERSIZED = filled(16_385);

describe("validateSplitCoverage", () => {
  test("accepts a true partition in any order, whatever the children's metadata", () => {
    fc.assert(
      fc.property(
        partition.chain((one) =>
          fc.tuple(fc.constant(one), fc.shuffledSubarray(partsOf(one), { minLength: one.points.length + 1 })),
        ),
        denseKey({ min: 0, max: 2 }),
        ([{ parent }, parts], metadata) => {
          const [first, ...rest] = parts;
          expect(validateSplitCoverage(parent, [{ ...first!, metadata }, ...rest])).toEqual(OK);
        },
      ),
    );
  });

  // The other half: children made of any bounds at all are accepted only if they tile the parent key by key.
  test("accepts nothing else", () => {
    const bound = denseKey({ min: 0, max: 2 });
    const anyRange = fc.record({ keyRangeStart: bound, keyRangeEnd: bound, metadata: fc.constant(ascii("")) });
    // Every key of up to two dense bytes, and one more byte to see into the gaps between those.
    const bytes = [0x00, 0x61, 0xfe, 0xff];
    const keys = bytes.flatMap((a) => [[a], ...bytes.flatMap((b) => [[a, b], ...bytes.map((c) => [a, b, c])])]);
    const probes = [[], ...keys].map((values) => Uint8Array.from(values));
    const isTiling = (parent: ShardSpecRef, children: readonly ShardSpecRef[]): boolean =>
      probes.every((key) => {
        const owners = children.filter((one) => ShardSpec.containsKey(one, key)).length;
        return owners === (ShardSpec.containsKey(parent, key) ? 1 : 0);
      });

    fc.assert(
      fc.property(
        // Mostly a partition with one bound changed: wild children alone would hardly ever be nearly right.
        fc.oneof(
          fc.tuple(anyRange, fc.array(anyRange, { minLength: 2, maxLength: 4 })),
          fc.tuple(partition, fc.nat(), bound, fc.boolean()).map(([one, at, changed, isStart]) => {
            const parts = partsOf(one);
            const index = at % parts.length;
            parts[index] = { ...parts[index]!, [isStart ? "keyRangeStart" : "keyRangeEnd"]: changed };
            return [one.parent, parts] as [ShardSpecRef, ShardSpecRef[]];
          }),
        ),
        ([parent, children]) => {
          fc.pre(parent.keyRangeStart.length <= 2 && parent.keyRangeEnd.length <= 2);
          const { ok } = validateSplitCoverage(parent, children);
          if (ok) expect(isTiling(parent, children)).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });

  const parent = range("a", "z");
  const startMismatch = { kind: "StartMismatch", parentStart: 1, firstChildStart: 2 };
  const endMismatch = { kind: "EndMismatch", parentEnd: 1, lastChildEnd: 3 };
  const boundary = { kind: "BoundaryMismatch", childIndex: 0, nextChildIndex: 1, childEnd: 2, nextChildStart: 1 };
  // Every rule alone, and every pair of neighboring rules broken at once.
  test.each([
    { broken: "no children", children: [], error: { kind: "NoChildren" } },
    { broken: "one child", children: [range("a", "z")], error: { kind: "SingleChild" } },
    { broken: "one child, and its start", children: [range("b", "z")], error: { kind: "SingleChild" } },
    { broken: "start", children: [range("bb", "m"), range("m", "z")], error: startMismatch },
    { broken: "start and end", children: [range("bb", "m"), range("m", "yyy")], error: startMismatch },
    { broken: "end", children: [range("a", "m"), range("m", "yyy")], error: endMismatch },
    { broken: "end and boundary", children: [range("a", "mm"), range("n", "yyy")], error: endMismatch },
    { broken: "a gap", children: [range("a", "mm"), range("n", "z")], error: boundary },
    { broken: "an overlap", children: [range("a", "nn"), range("n", "z")], error: boundary },
    { broken: "boundary and inverted", children: [range("a", "mm"), range("z", "z")], error: boundary },
    {
      broken: "inverted",
      children: [range("a", "m"), range("m", "m"), range("m", "z")],
      error: { kind: "InvertedChild", childIndex: 1 },
    },
    {
      broken: "inverted and size",
      children: [{ ...range("a", "m"), metadata: OVERSIZED }, range("m", "m"), range("m", "z")],
      error: { kind: "InvertedChild", childIndex: 1 },
    },
    {
      broken: "size",
      children: [range("a", "m"), { ...range("m", "z"), metadata: OVERSIZED }],
      error: { kind: "InvalidChildSpec", childIndex: 1 },
    },
  ])("refuses by the first broken rule: $broken", ({ children, error }) => {
    expect(validateSplitCoverage(parent, children)).toEqual(refused(error));
  });

  test("refuses two children without an end or a start between them", () => {
    const whole = range("", "");
    expect(validateSplitCoverage(whole, [whole, whole])).toEqual(
      refused({ kind: "OverlappingChild", childIndex: 0, nextChildIndex: 1 }),
    );
    // Boundary comes first where only the one above has a start.
    expect(validateSplitCoverage(whole, [range("", ""), range("m", "")])).toEqual(
      refused({ kind: "BoundaryMismatch", childIndex: 0, nextChildIndex: 1, childEnd: 0, nextChildStart: 1 }),
    );
  });

  test("refuses a bound that is too large, though everything fits together", () => {
    const children = [
      { ...range("a", ""), keyRangeEnd: OVERSIZED_KEY },
      { ...range("", "z"), keyRangeStart: OVERSIZED_KEY },
    ];
    expect(validateSplitCoverage(parent, children)).toEqual(refused({ kind: "InvalidChildSpec", childIndex: 0 }));
  });

  test("names children where the caller listed them", () => {
    const shuffled = [range("t", "z"), range("a", "f"), range("g", "t")];
    expect(validateSplitCoverage(parent, shuffled)).toEqual(
      refused({ kind: "BoundaryMismatch", childIndex: 1, nextChildIndex: 2, childEnd: 1, nextChildStart: 1 }),
    );
  });

  test.each([
    {
      fault: "boundaries",
      // Sorted: a, g, n, t. The gaps are behind a (listed third) and behind n (listed first).
      children: [range("n", "s"), range("t", "z"), range("a", "f"), range("g", "n")],
      error: { kind: "BoundaryMismatch", childIndex: 0, nextChildIndex: 1, childEnd: 1, nextChildStart: 1 },
    },
    {
      fault: "boundaries, the upper child listed before the lower",
      // Sorted: a, g, n, t. The gaps are between a (listed second) and g (listed third), and between n (listed last) and t (listed first).
      children: [range("t", "z"), range("a", "f"), range("g", "n"), range("n", "s")],
      error: { kind: "BoundaryMismatch", childIndex: 3, nextChildIndex: 0, childEnd: 1, nextChildStart: 1 },
    },
    {
      fault: "boundaries that share a child",
      // Sorted: a, g, n. Both gaps touch g (listed first); the other child of the upper gap is listed second.
      children: [range("g", "m"), range("n", "z"), range("a", "f")],
      error: { kind: "BoundaryMismatch", childIndex: 0, nextChildIndex: 1, childEnd: 1, nextChildStart: 1 },
    },
    {
      fault: "inverted children",
      children: [range("m", "m"), range("a", "a"), range("a", "m"), range("m", "z")],
      error: { kind: "InvertedChild", childIndex: 0 },
    },
    {
      fault: "oversized children",
      children: [
        range("f", "m"),
        { ...range("m", "z"), metadata: OVERSIZED },
        { ...range("a", "f"), metadata: OVERSIZED },
      ],
      error: { kind: "InvalidChildSpec", childIndex: 1 },
    },
  ])("names the child listed first of several: $fault", ({ children, error }) => {
    expect(validateSplitCoverage(parent, children)).toEqual(refused(error));
  });

  test.each([undefined, null, "children", {}, [undefined], holes(2), [range("a", "m"), { start: 1 }]])(
    "refuses %j as children",
    (bad) => {
      expect(() => validateSplitCoverage(parent, bad as ShardSpecRef[])).toThrow(InvariantViolation);
      expect(() => validateChildCursors(Cursor.initial(), bad as never)).toThrow(InvariantViolation);
    },
  );

  test("refuses a parent that is none", () => {
    expect(() => validateSplitCoverage({} as ShardSpecRef, [])).toThrow("key range start must be a Uint8Array");
  });
});

describe("validateResidualSplit", () => {
  const parent = range("a", "z");

  test("accepts a parent that keeps the lower part", () => {
    expect(validateResidualSplit({ parent, parentNewSpec: range("a", "m"), residualSpec: range("m", "z") })).toEqual(
      OK,
    );
  });

  test.each([
    {
      broken: "swapped parts",
      parentNewSpec: range("m", "z"),
      residualSpec: range("a", "m"),
      error: { kind: "StartMismatch", parentStart: 1, firstChildStart: 1 },
    },
    {
      broken: "start and end",
      parentNewSpec: range("bb", "m"),
      residualSpec: range("m", "yyy"),
      error: { kind: "StartMismatch", parentStart: 1, firstChildStart: 2 },
    },
    {
      broken: "end and boundary",
      parentNewSpec: range("a", "m"),
      residualSpec: range("n", "yyy"),
      error: { kind: "EndMismatch", parentEnd: 1, lastChildEnd: 3 },
    },
    {
      broken: "boundary",
      parentNewSpec: range("a", "m"),
      residualSpec: range("nn", "z"),
      error: { kind: "BoundaryMismatch", childIndex: 0, nextChildIndex: 1, childEnd: 1, nextChildStart: 2 },
    },
    {
      broken: "size",
      parentNewSpec: range("a", "m"),
      residualSpec: { ...range("m", "z"), metadata: OVERSIZED },
      error: { kind: "InvalidChildSpec", childIndex: 1 },
    },
  ])("refuses by the first broken rule: $broken", ({ parentNewSpec, residualSpec, error }) => {
    expect(validateResidualSplit({ parent, parentNewSpec, residualSpec })).toEqual(refused(error));
  });

  test.each([undefined, null, {}, { parent }, { parent, parentNewSpec: parent }])("refuses %j", (bad) => {
    expect(() => validateResidualSplit(bad as never)).toThrow(InvariantViolation);
  });
});

describe("validateChildCursors", () => {
  const token = (text: string) => Cursor.fromParts({ lastKey: ascii("c"), token: ascii(text) });

  test.each([
    { parent: "", children: [child("a", "m"), child("m", "z")] },
    { parent: "c", children: [child("a", "m", "c"), child("m", "z")] },
    { parent: "c", children: [child("m", "z"), child("a", "m", "c")] },
    { parent: "m", children: [child("a", "m\0", "m"), child("m\0", "z")] },
    { parent: "a", children: [child("a", "m", "a"), child("m", "")] },
  ])("accepts the parent's cursor on the lowest child and none elsewhere", ({ parent, children }) => {
    expect(validateChildCursors(cursorAt(parent), children)).toEqual(OK);
  });

  test.each([
    { fault: "progress lost", parent: "c", children: [child("a", "m"), child("m", "z")], childIndex: 0 },
    { fault: "progress invented", parent: "", children: [child("a", "m", "c"), child("m", "z")], childIndex: 0 },
    { fault: "progress ahead", parent: "c", children: [child("a", "m", "d"), child("m", "z")], childIndex: 0 },
    {
      fault: "progress on a higher child",
      parent: "c",
      children: [child("a", "m", "c"), child("m", "z", "n")],
      childIndex: 1,
    },
    {
      fault: "two faults, lowest listed",
      parent: "c",
      children: [child("m", "z", "n"), child("a", "m")],
      childIndex: 0,
    },
    { fault: "a cut at the cursor", parent: "m", children: [child("a", "m", "m"), child("m", "z")], childIndex: 0 },
    { fault: "a cut below the cursor", parent: "p", children: [child("m", "z"), child("a", "m", "p")], childIndex: 1 },
    {
      fault: "a cut below the cursor, and a fault listed before it",
      parent: "p",
      children: [child("m", "z", "p"), child("a", "m", "p")],
      childIndex: 0,
    },
    {
      fault: "a cut below the cursor, and a fault listed after it",
      parent: "p",
      children: [child("a", "m", "p"), child("m", "z", "p")],
      childIndex: 0,
    },
    {
      fault: "on the first listed, not the lowest",
      parent: "c",
      children: [child("m", "z", "c"), child("a", "m", "c")],
      childIndex: 0,
    },
  ])("refuses $fault", ({ parent, children, childIndex }) => {
    expect(validateChildCursors(cursorAt(parent), children)).toEqual(
      refused({ kind: "InvalidChildCursor", childIndex }),
    );
  });

  test("wants the token too", () => {
    const children = (cursor: Cursor) => [{ spec: range("a", "m"), cursor }, child("m", "z")];
    expect(validateChildCursors(token("t"), children(token("t")))).toEqual(OK);
    expect(validateChildCursors(token("t"), children(token("u")))).toEqual(
      refused({ kind: "InvalidChildCursor", childIndex: 0 }),
    );
    expect(validateChildCursors(token("t"), children(cursorAt("c")))).toEqual(
      refused({ kind: "InvalidChildCursor", childIndex: 0 }),
    );
  });
});
