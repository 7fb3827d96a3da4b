// A residual split cuts work off a shard while its worker keeps going. A cut at or below the worker's position takes
// the position away from under it; a parent that keeps the upper part gives away what is already done.
import { compareBytes, InvariantViolation, unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { ascii, denseKey, filled, NOT_BYTES } from "../arbitraries.fixture.ts";
import { CanonicalWriter } from "../hashing/canonical-writer.ts";
import { checkCursorBounds } from "../cursors/check-cursor.ts";
import { Cursor } from "../cursors/cursor.ts";
import { encodeSplitResidualPlanInto } from "../hashing/encode-canonical.ts";
import { opPayloadHash } from "../hashing/golden.fixture.ts";
import { keySuccessor } from "../key-successor.ts";
import { planSplitResidual, planSplitResidualAtPoint, planSplitResidualFromCursor } from "./plan-split-residual.ts";
import type { ShardSpecRef } from "../specs/shard-spec-ref.ts";
import { ShardSpec } from "../specs/shard-spec.ts";
import { cursorAt, range } from "../specs.fixture.ts";
import { SplitResidualPlan } from "./split-residual-plan.ts";
import { validateResidualSplit } from "./validate-split.ts";
import fc from "fast-check";

const parent = range("a", "z", "meta");
const none = Cursor.initial();
const refused = (error: object) => ({ ok: false, error });
const covers = (reason: object) => ({ kind: "InvalidCoverage", reason });

describe("SplitResidualPlan.tryNew", () => {
  test("refuses equal specs, and specs that differ in metadata only are not equal", () => {
    expect(SplitResidualPlan.tryNew({ parentNewSpec: parent, residualSpec: range("a", "z", "meta") })).toEqual(
      refused({ kind: "IdenticalSpecs" }),
    );
    expect(SplitResidualPlan.tryNew({ parentNewSpec: parent, residualSpec: range("a", "z") }).ok).toBe(true);
  });

  test("owns its bytes", () => {
    const specs = { parentNewSpec: range("a", "m"), residualSpec: range("m", "z") };
    const plan = unwrap(SplitResidualPlan.tryNew(specs));
    specs.residualSpec.keyRangeStart.fill(0);
    expect(plan).toEqual({ parentNewSpec: range("a", "m"), residualSpec: range("m", "z") });
    expect(Object.isFrozen(plan)).toBe(true);
  });
});

describe("planSplitResidual", () => {
  test.each([
    {
      broken: "identical specs and coverage",
      parts: [range("b", "c"), range("b", "c")],
      error: { kind: "InvalidPlan", reason: { kind: "IdenticalSpecs" } },
    },
    {
      broken: "swapped parts",
      parts: [range("m", "z"), range("a", "m")],
      error: covers({ kind: "StartMismatch", parentStart: 1, firstChildStart: 1 }),
    },
    {
      broken: "end",
      parts: [range("a", "m"), range("m", "yy")],
      error: covers({ kind: "EndMismatch", parentEnd: 1, lastChildEnd: 2 }),
    },
  ])("refuses by the first broken rule: $broken", ({ parts: [parentNewSpec, residualSpec], error }) => {
    expect(planSplitResidual({ parent, parentNewSpec: parentNewSpec!, residualSpec: residualSpec! })).toEqual(
      refused(error),
    );
  });

  test("is the plan of two parts that tile the parent", () => {
    const parts = { parentNewSpec: range("a", "m", "x"), residualSpec: range("m", "z", "y") };
    expect(planSplitResidual({ parent, ...parts })).toEqual({ ok: true, value: parts });
  });
});

describe("planSplitResidualAtPoint", () => {
  test("leaves the lower part to the parent, with copies of its metadata", () => {
    expect(planSplitResidualAtPoint(parent, cursorAt("c"), ascii("m"))).toEqual({
      ok: true,
      value: { parentNewSpec: range("a", "m", "meta"), residualSpec: range("m", "z", "meta") },
    });
  });

  test.each([
    {
      broken: "an empty point of everything",
      of: range("", ""),
      cursor: "",
      point: "",
      error: { kind: "InvalidPlan", reason: { kind: "IdenticalSpecs" } },
    },
    {
      broken: "a point at the start",
      of: parent,
      cursor: "",
      point: "a",
      error: covers({ kind: "InvertedChild", childIndex: 0 }),
    },
    {
      broken: "a point at the end",
      of: parent,
      cursor: "",
      point: "z",
      error: covers({ kind: "InvertedChild", childIndex: 1 }),
    },
    {
      broken: "a point outside, behind the cursor",
      of: parent,
      cursor: "zzz",
      point: "zz",
      error: covers({ kind: "InvertedChild", childIndex: 1 }),
    },
    {
      broken: "a point at the cursor",
      of: parent,
      cursor: "m",
      point: "m",
      error: { kind: "SplitPointBehindCursor", pointIndex: 0 },
    },
    {
      broken: "a point below the cursor",
      of: parent,
      cursor: "n",
      point: "m",
      error: { kind: "SplitPointBehindCursor", pointIndex: 0 },
    },
  ])("refuses by the first broken rule: $broken", ({ of, cursor, point, error }) => {
    expect(planSplitResidualAtPoint(of, cursorAt(cursor), ascii(point))).toEqual(refused(error));
  });

  test("accepts exactly the points inside the range and above the cursor", () => {
    const key = denseKey({ min: 0, max: 3 });
    fc.assert(
      fc.property(key, key, key, key, (start, end, lastKey, point) => {
        const spec = ShardSpec.tryWithRange({ start, end });
        fc.pre(spec.ok);
        const cursor = lastKey.length === 0 ? none : Cursor.withLastKey(lastKey);
        const planned = planSplitResidualAtPoint(spec.value, cursor, point);
        const isInside = compareBytes(point, start) > 0 && (end.length === 0 || compareBytes(point, end) < 0);
        expect(planned.ok).toBe(isInside && compareBytes(point, lastKey) > 0);
        if (planned.ok) expect(validateResidualSplit({ parent: spec.value, ...planned.value }).ok).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe("planSplitResidualFromCursor", () => {
  test("keeps exactly what is done, with or without an upper bound", () => {
    const key = denseKey({ min: 0, max: 2 });
    fc.assert(
      fc.property(key, key, denseKey({ min: 1, max: 3 }), (start, end, lastKey) => {
        const spec = ShardSpec.tryWithRange({ start, end });
        fc.pre(spec.ok);
        const cursor = Cursor.withLastKey(lastKey);
        const planned = planSplitResidualFromCursor(spec.value, cursor);
        if (!planned.ok) {
          // Only where the key is outside, or nothing is left above it.
          const successor = Uint8Array.of(...lastKey, 0);
          const isLast = compareBytes(successor, end) === 0;
          expect(isLast || checkCursorBounds(cursor, spec.value) !== "InBounds").toBe(true);
          return;
        }
        const { parentNewSpec, residualSpec } = planned.value;
        expect(checkCursorBounds(cursor, parentNewSpec)).toBe("InBounds");
        expect(ShardSpec.containsKey(residualSpec, Uint8Array.of(...lastKey, 0))).toBe(true);
        expect(validateResidualSplit({ parent: spec.value, parentNewSpec, residualSpec }).ok).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  const outOfBounds = (splitPoint: number, parentEnd = 1) => ({
    kind: "SplitPointOutOfBounds",
    splitPoint,
    parentStart: 1,
    parentEnd,
  });
  const full = (...ends: number[]): Cursor => {
    const key = filled(4096, 0xff);
    key.set(ends, 4096 - ends.length);
    return Cursor.withLastKey(key);
  };
  test.each([
    { broken: "no key", of: parent, cursor: none, error: { kind: "MissingCursor" } },
    { broken: "no successor, and out of bounds", of: parent, cursor: full(), error: { kind: "NoSuccessor" } },
    {
      broken: "a key too large",
      of: range("a", ""),
      cursor: Cursor.withLastKey(filled(4097)),
      error: { kind: "NoSuccessor" },
    },
    {
      broken: "at the end",
      of: { ...range("a", ""), keyRangeEnd: ascii("m\0") },
      cursor: cursorAt("m"),
      error: outOfBounds(2, 2),
    },
    { broken: "above the end", of: parent, cursor: cursorAt("zz"), error: outOfBounds(3) },
    { broken: "below the start", of: parent, cursor: cursorAt("A"), error: outOfBounds(2) },
    {
      broken: "at the start",
      of: { ...range("", "z"), keyRangeStart: ascii("b\0") },
      cursor: cursorAt("b"),
      error: { ...outOfBounds(2), parentStart: 2 },
    },
    { broken: "below the start, no end", of: range("b", ""), cursor: cursorAt("a"), error: outOfBounds(2, 0) },
  ])("refuses by the first broken rule: $broken", ({ of, cursor, error }) => {
    expect(planSplitResidualFromCursor(of, cursor)).toEqual(refused(error));
  });

  test("cuts a parent that has no upper bound", () => {
    expect(planSplitResidualFromCursor(range("a", ""), cursorAt("m"))).toEqual({
      ok: true,
      value: { parentNewSpec: range("a", "m\0"), residualSpec: range("m\0", "") },
    });
  });
});

describe("keySuccessor", () => {
  const fullKey = (...ends: number[]): Uint8Array => {
    const key = filled(4096, 0xff);
    key[0] = 0x61;
    key.set(ends, 4096 - ends.length);
    return key;
  };

  test("is the next key: nothing lies between", () => {
    fc.assert(
      fc.property(denseKey({ min: 0, max: 3 }), denseKey({ min: 0, max: 4 }), (key, other) => {
        const next = keySuccessor(key)!;
        expect(compareBytes(other, key) > 0).toBe(compareBytes(other, next) >= 0);
      }),
    );
  });

  test("counts up where a key cannot grow, and ends where it cannot", () => {
    expect(keySuccessor(fullKey(0x01, 0x02))).toEqual(fullKey(0x01, 0x03));
    expect(keySuccessor(fullKey())).toEqual(Uint8Array.of(0x62));
    expect(keySuccessor(filled(4096, 0xff))).toBe(undefined);
    expect(keySuccessor(filled(4097))).toBe(undefined);
    expect(keySuccessor(filled(4095, 0xff))).toHaveLength(4096);
  });
});

describe("canonical bytes of a split-residual plan", () => {
  test("hash to the published vector", () => {
    const plan = unwrap(SplitResidualPlan.tryNew({ parentNewSpec: range("a", "m"), residualSpec: range("m", "z") }));
    expect(opPayloadHash("split_residual", (out) => encodeSplitResidualPlanInto(plan, out))).toBe(0x4be2bdea63447e13n);
  });

  test("are equal exactly for the same specs", () => {
    const bytes = denseKey({ min: 0, max: 1 });
    const specs = fc.record({ keyRangeStart: bytes, keyRangeEnd: bytes, metadata: bytes });
    const pair = fc.record({ parentNewSpec: specs, residualSpec: specs });
    const bytesOf = (plan: SplitResidualPlan): string => {
      const out = new CanonicalWriter();
      encodeSplitResidualPlanInto(plan, out);
      return out.view().join();
    };
    fc.assert(
      fc.property(pair, pair, (a, b) => {
        const areSame =
          ShardSpec.equals(a.parentNewSpec, b.parentNewSpec) && ShardSpec.equals(a.residualSpec, b.residualSpec);
        expect(bytesOf(a) === bytesOf(b)).toBe(areSame);
      }),
    );
  });

  test("are not written where the plan is none", () => {
    const out = new CanonicalWriter();
    expect(() => encodeSplitResidualPlanInto({ parentNewSpec: parent } as SplitResidualPlan, out)).toThrow(
      InvariantViolation,
    );
    expect(out.length).toBe(0);
  });
});

describe("bad input", () => {
  test.each([undefined, null, 1, "spec", {}])("refuses %j for a spec, a cursor or a split", (bad) => {
    expect(() => planSplitResidual(bad as never)).toThrow(InvariantViolation);
    expect(() => SplitResidualPlan.tryNew(bad as never)).toThrow(InvariantViolation);
    expect(() => planSplitResidualAtPoint(bad as ShardSpecRef, none, ascii("m"))).toThrow(InvariantViolation);
    expect(() => planSplitResidualFromCursor(bad as ShardSpecRef, none)).toThrow(InvariantViolation);
    if (typeof bad !== "object" || bad === null) {
      expect(() => planSplitResidualAtPoint(parent, bad as unknown as Cursor, ascii("m"))).toThrow(InvariantViolation);
      expect(() => planSplitResidualFromCursor(parent, bad as unknown as Cursor)).toThrow(InvariantViolation);
    }
  });

  test("refuses a point that is not bytes", () => {
    for (const bad of NOT_BYTES)
      expect(() => planSplitResidualAtPoint(parent, none, bad as Uint8Array)).toThrow(InvariantViolation);
  });
});
