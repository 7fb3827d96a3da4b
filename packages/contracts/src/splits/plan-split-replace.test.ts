// A planner that forgets the cursor makes workers repeat everything below it; one that puts it on the wrong child
// skips keys. And an order of checks that shifts tells the caller to mend the wrong thing.
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { ascii, denseKey, filled, holes, NOT_BYTES } from "../arbitraries.fixture.ts";
import { CanonicalWriter } from "../hashing/canonical-writer.ts";
import { Cursor } from "../cursors/cursor.ts";
import { encodeSplitReplacePlanInto } from "../hashing/encode-canonical.ts";
import { opPayloadHash } from "../hashing/golden.fixture.ts";
import { planSplitReplace, planSplitReplaceAtPoints } from "./plan-split-replace.ts";
import type { ShardSpecRef } from "../specs/shard-spec-ref.ts";
import { child, cursorAt, partition, partsOf, range } from "../specs.fixture.ts";
import { SplitReplacePlan, type SplitReplaceChild } from "./split-replace-plan.ts";
import { validateChildCursors, validateSplitCoverage } from "./validate-split.ts";
import fc from "fast-check";

const parent = range("a", "z", "meta");
const refused = (error: object) => ({ ok: false, error });
const points = (...texts: string[]): Uint8Array[] => texts.map(ascii);

/** So many points inside `[a, z)`, in order. */
function manyPoints(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => Uint8Array.of(0x62, index >> 8, index & 0xff));
}

describe("SplitReplacePlan.tryNew", () => {
  test.each([
    { count: 0, error: { kind: "TooFewChildren", count: 0 } },
    { count: 1, error: { kind: "TooFewChildren", count: 1 } },
    { count: 257, error: { kind: "TooManyChildren", count: 257 } },
    { count: 1000, error: { kind: "TooManyChildren", count: 257 } },
  ])("refuses $count children", ({ count, error }) => {
    const children = Array.from({ length: count }, () => child("a", "m"));
    expect(SplitReplacePlan.tryNew(children)).toEqual(refused(error));
    expect(planSplitReplace(parent, children)).toEqual(refused({ kind: "InvalidChildCount", reason: error }));
  });

  test.each([2, 256])("takes %d children as they are, in the caller's order", (count) => {
    const children = Array.from({ length: count }, (_, index) => child(index % 2 ? "z" : "b", "a", `${index}`));
    expect(SplitReplacePlan.tryNew(children)).toEqual({ ok: true, value: { children } });
  });

  test("owns its bytes", () => {
    const children = [child("a", "m"), child("m", "z")];
    const plan = unwrap(SplitReplacePlan.tryNew(children));
    children[0]!.spec.keyRangeStart.fill(0);
    children.pop();
    expect(plan).toEqual({ children: [child("a", "m"), child("m", "z")] });
    expect(Object.isFrozen(plan) && Object.isFrozen(plan.children) && Object.isFrozen(plan.children[0])).toBe(true);
  });
});

describe("planSplitReplace", () => {
  test("is the plan of children that tile the parent", () => {
    const children = [child("m", "z"), child("a", "m", "c")];
    expect(planSplitReplace(parent, children)).toEqual({ ok: true, value: { children } });
  });

  test.each([
    {
      broken: "number and coverage",
      children: [child("b", "z")],
      error: { kind: "InvalidChildCount", reason: { kind: "TooFewChildren", count: 1 } },
    },
    {
      broken: "coverage",
      children: [child("a", "m"), child("nn", "z")],
      error: {
        kind: "InvalidCoverage",
        reason: { kind: "BoundaryMismatch", childIndex: 0, nextChildIndex: 1, childEnd: 1, nextChildStart: 2 },
      },
    },
  ])("refuses by the first broken rule: $broken", ({ children, error }) => {
    expect(planSplitReplace(parent, children)).toEqual(refused(error));
  });
});

describe("planSplitReplaceAtPoints", () => {
  test("tiles the parent, keeps its metadata, and carries the cursor on the lowest child alone", () => {
    fc.assert(
      fc.property(partition, fc.option(denseKey({ min: 1, max: 3 }), { nil: undefined }), (one, lastKey) => {
        const cursor = lastKey === undefined ? Cursor.initial() : Cursor.withLastKey(lastKey);
        const planned = planSplitReplaceAtPoints(one.parent, cursor, one.points);
        const behind =
          lastKey === undefined ? -1 : one.points.findIndex((point) => Buffer.compare(point, lastKey) <= 0);
        if (behind >= 0) {
          expect(planned).toEqual(refused({ kind: "SplitPointBehindCursor", pointIndex: behind }));
          return;
        }
        const { children } = unwrap(planned);
        expect(children.map(({ spec }) => spec)).toEqual(partsOf(one));
        expect(
          validateSplitCoverage(
            one.parent,
            children.map(({ spec }) => spec),
          ).ok,
        ).toBe(true);
        expect(validateChildCursors(cursor, children).ok).toBe(true);
      }),
    );
  });

  const tooMany = { kind: "InvalidChildCount", reason: { kind: "TooManyChildren", count: 257 } };
  const covers = (reason: object) => ({ kind: "InvalidCoverage", reason });
  test.each([
    {
      broken: "no point",
      cursor: "",
      cuts: [],
      error: { kind: "InvalidChildCount", reason: { kind: "TooFewChildren", count: 1 } },
    },
    { broken: "256 points", cursor: "", cuts: manyPoints(256), error: tooMany },
    { broken: "256 points, out of order", cursor: "", cuts: manyPoints(256).reverse(), error: tooMany },
    { broken: "a million points", cursor: "", cuts: holes(1_000_000), error: tooMany },
    {
      broken: "coverage and cursor",
      cursor: "y",
      cuts: points("m", "mm", "m"),
      error: covers({ kind: "EndMismatch", parentEnd: 1, lastChildEnd: 1 }),
    },
    {
      broken: "a point twice",
      cursor: "",
      cuts: points("m", "m"),
      error: covers({ kind: "InvertedChild", childIndex: 1 }),
    },
    {
      broken: "a point at the start",
      cursor: "",
      cuts: points("a"),
      error: covers({ kind: "InvertedChild", childIndex: 0 }),
    },
    {
      broken: "a point at the end",
      cursor: "",
      cuts: points("z"),
      error: covers({ kind: "InvertedChild", childIndex: 1 }),
    },
    {
      broken: "a point behind the end",
      cursor: "",
      cuts: points("zz"),
      error: covers({ kind: "InvertedChild", childIndex: 1 }),
    },
    {
      broken: "a point below the start",
      cursor: "",
      cuts: points("A"),
      error: covers({ kind: "StartMismatch", parentStart: 1, firstChildStart: 1 }),
    },
    {
      broken: "an empty point",
      cursor: "",
      cuts: points(""),
      error: covers({ kind: "StartMismatch", parentStart: 1, firstChildStart: 0 }),
    },
    {
      broken: "a point too large",
      cursor: "",
      cuts: [filled(4097, 0x62)],
      error: covers({ kind: "InvalidChildSpec", childIndex: 0 }),
    },
    {
      broken: "a point at the cursor",
      cursor: "m",
      cuts: points("m"),
      error: { kind: "SplitPointBehindCursor", pointIndex: 0 },
    },
    {
      broken: "points on both sides of the cursor",
      cursor: "n",
      cuts: points("m", "t"),
      error: { kind: "SplitPointBehindCursor", pointIndex: 0 },
    },
  ])("refuses by the first broken rule: $broken", ({ cursor, cuts, error }) => {
    expect(planSplitReplaceAtPoints(parent, cursorAt(cursor), cuts)).toEqual(refused(error));
  });

  test("takes 255 points", () => {
    expect(unwrap(planSplitReplaceAtPoints(parent, Cursor.initial(), manyPoints(255))).children).toHaveLength(256);
  });

  test("an empty point does not pass where the parent has no bounds", () => {
    expect(planSplitReplaceAtPoints(range("", ""), Cursor.initial(), points(""))).toEqual(
      refused(covers({ kind: "OverlappingChild", childIndex: 0, nextChildIndex: 1 })),
    );
  });

  test("refuses what is no spec, cursor or list of points", () => {
    for (const bad of NOT_BYTES) {
      expect(() => planSplitReplaceAtPoints(parent, Cursor.initial(), [bad as Uint8Array])).toThrow(
        "split point must be a Uint8Array",
      );
    }
    for (const bad of [undefined, null, 1, "m", {}]) {
      expect(() => planSplitReplaceAtPoints(bad as ShardSpecRef, Cursor.initial(), points("m"))).toThrow(
        InvariantViolation,
      );
      expect(() => planSplitReplaceAtPoints(parent, Cursor.initial(), bad as Uint8Array[])).toThrow(InvariantViolation);
      expect(() => planSplitReplace(parent, bad as SplitReplaceChild[])).toThrow(InvariantViolation);
      expect(() => planSplitReplace(parent, [bad, bad] as SplitReplaceChild[])).toThrow(InvariantViolation);
      expect(() => SplitReplacePlan.tryNew(bad as SplitReplaceChild[])).toThrow(InvariantViolation);
    }
    expect(() => planSplitReplaceAtPoints(parent, undefined as unknown as Cursor, points("m"))).toThrow(
      InvariantViolation,
    );
    expect(() => SplitReplacePlan.tryNew(holes(2))).toThrow(InvariantViolation);
  });
});

describe("canonical bytes of a split-replace plan", () => {
  const hashOf = (children: readonly SplitReplaceChild[]): bigint => {
    const plan = unwrap(SplitReplacePlan.tryNew(children));
    return opPayloadHash("split_replace", (out) => encodeSplitReplacePlanInto(plan, out));
  };

  test("hash to the published vectors, whatever the order", () => {
    expect(hashOf([child("a", "m"), child("m", "z")])).toBe(0xa592eea6db2fcb49n);
    expect(hashOf([child("m", "z"), child("a", "m")])).toBe(0xa592eea6db2fcb49n);
    expect(hashOf([child("a", "g"), child("g", "m")])).toBe(0x3851b7b1181772den);
  });

  test("are equal exactly for the same children, in any order", () => {
    const children = fc.uniqueArray(
      fc.record({
        spec: fc.record({
          keyRangeStart: denseKey({ min: 0, max: 1 }),
          keyRangeEnd: denseKey({ min: 0, max: 1 }),
          metadata: denseKey({ min: 0, max: 1 }),
        }),
        cursor: fc.constantFrom(Cursor.initial(), cursorAt("a"), cursorAt("b")),
      }),
      { minLength: 2, maxLength: 3, selector: ({ spec }) => spec.keyRangeStart.join() },
    );
    const textOf = (list: readonly SplitReplaceChild[]): string =>
      list
        .map(({ spec, cursor }) =>
          [spec.keyRangeStart, spec.keyRangeEnd, spec.metadata, cursor.lastKey ?? "none"].join("|"),
        )
        .sort()
        .join(";");
    const bytesOf = (list: readonly SplitReplaceChild[]): string => {
      const out = new CanonicalWriter();
      encodeSplitReplacePlanInto(unwrap(SplitReplacePlan.tryNew(list)), out);
      return out.view().join();
    };
    fc.assert(
      fc.property(children, children, (a, b) => {
        expect(bytesOf(a) === bytesOf(b)).toBe(textOf(a) === textOf(b));
        expect(bytesOf([...a].reverse())).toBe(bytesOf(a));
      }),
    );
  });

  test("are not written where the plan is none", () => {
    const out = new CanonicalWriter();
    expect(() => encodeSplitReplacePlanInto({} as SplitReplacePlan, out)).toThrow(InvariantViolation);
    expect(() => encodeSplitReplacePlanInto({ children: [{}] } as unknown as SplitReplacePlan, out)).toThrow(
      InvariantViolation,
    );
    expect(out.length).toBe(0);
  });
});
