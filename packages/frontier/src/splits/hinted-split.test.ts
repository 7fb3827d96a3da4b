// After a split the children are all that is left of the parent. A child with its parent's rows in its hint does the work of its
// siblings too; one without the connector's bytes cannot be worked on at all.
import {
  Cursor,
  planSplitReplaceAtPoints,
  planSplitResidualAtPoint,
  ShardSpec,
  type ShardSpecRef,
} from "@gossip/contracts";
import { compareBytes, InvariantViolation, unwrap, type Result } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { decodeMetadata } from "../hints/decode-metadata.ts";
import { planHintedSplitReplace, planHintedSplitResidual } from "./hinted-split.ts";
import { manifestHint, manifestRange } from "../hints/hints.fixture.ts";
import { encodeKey } from "../keys/key-encoding.ts";
import { ascii, bytes, denseKey, hex } from "../keys.fixture.ts";
import { ManifestRowKey } from "../keys/manifest-row-key.ts";
import { manifestShard, prefixShard, rangeShard } from "../shards/shard-constructors.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

const extra = ascii("extra");
const fresh = Cursor.initial();

function row(rowNumber: bigint, manifestId = 7n): Uint8Array {
  return encodeKey(new ManifestRowKey({ manifestId, row: rowNumber }));
}

function rows(start: bigint, end: bigint): ShardSpec {
  return unwrap(manifestShard({ ...manifestRange(7n, start, end), connectorExtra: extra }));
}

function errorOf(result: Result<unknown, unknown>): unknown {
  return result.ok ? undefined : result.error;
}

/** Bounds and what the metadata says, for each spec. */
function read(specs: readonly ShardSpecRef[]): unknown[] {
  return specs.map((spec) => ({ start: spec.keyRangeStart, end: spec.keyRangeEnd, ...unwrap(decodeMetadata(spec)) }));
}

describe("planHintedSplitReplace", () => {
  test("gives every child of a manifest its own rows", () => {
    const cursor = Cursor.withLastKey(row(11n));
    const plan = unwrap(planHintedSplitReplace(rows(10n, 20n), cursor, [row(13n), row(19n)]));
    expect(read(plan.children.map((child) => child.spec))).toEqual([
      { start: row(10n), end: row(13n), hint: manifestHint(7n, 10n, 13n), connectorExtra: extra },
      { start: row(13n), end: row(19n), hint: manifestHint(7n, 13n, 19n), connectorExtra: extra },
      { start: row(19n), end: row(20n), hint: manifestHint(7n, 19n, 20n), connectorExtra: extra },
    ]);
    expect(plan.children.map((child) => child.cursor)).toEqual([cursor, fresh, fresh]);
  });

  test("a child's hint always says what its range says", () => {
    const points = fc
      .uniqueArray(fc.bigInt(1n, 29n), { minLength: 1, maxLength: 5 })
      .map((values) => values.toSorted((a, b) => Number(a - b)));
    fc.assert(
      fc.property(points, (values) => {
        const plan = unwrap(
          planHintedSplitReplace(
            rows(0n, 30n),
            fresh,
            values.map((value) => row(value)),
          ),
        );
        for (const { spec } of plan.children) {
          const { hint } = unwrap(decodeMetadata(spec));
          expect(hint.kind === "Manifest" && [row(hint.startRow), row(hint.endRow)]).toEqual([
            spec.keyRangeStart,
            spec.keyRangeEnd,
          ]);
        }
      }),
    );
  });

  test("demotes the children of a prefix to ranges", () => {
    const parent = unwrap(prefixShard({ prefix: ascii("ab"), connectorExtra: extra }));
    const plan = unwrap(planHintedSplitReplace(parent, fresh, [ascii("abm")]));
    expect(read(plan.children.map((child) => child.spec))).toEqual([
      { start: ascii("ab"), end: ascii("abm"), hint: { kind: "Range" }, connectorExtra: extra },
      { start: ascii("abm"), end: ascii("ac"), hint: { kind: "Range" }, connectorExtra: extra },
    ]);
  });

  test("leaves the metadata of a range as it is, even if empty", () => {
    for (const parent of [
      unwrap(rangeShard({ start: ascii("a"), end: ascii("z"), connectorExtra: extra })),
      ShardSpec.withRange({ start: ascii("a"), end: bytes() }),
    ]) {
      const plan = unwrap(planHintedSplitReplace(parent, fresh, [ascii("m")]));
      expect(plan).toEqual(unwrap(planSplitReplaceAtPoints(parent, fresh, [ascii("m")])));
      expect(plan.children.every((child) => compareBytes(child.spec.metadata, parent.metadata) === 0)).toBe(true);
    }
  });

  test("the split itself is checked first, and fails as it does without hints", () => {
    const parent = unwrap(manifestShard(manifestRange(7n, 10n, 20n)));
    for (const points of [[], [row(13n), row(12n)], [row(10n)], [row(99n)], [bytes()]]) {
      expect(errorOf(planHintedSplitReplace(parent, fresh, points))).toEqual(
        errorOf(planSplitReplaceAtPoints(parent, fresh, points)),
      );
    }
    const behind = planHintedSplitReplace(parent, Cursor.withLastKey(row(15n)), [row(15n)]);
    expect(behind).toEqual({ ok: false, error: { kind: "SplitPointBehindCursor", pointIndex: 0 } });
  });

  test("a point that is no row is refused for the child that it would end", () => {
    const refused = planHintedSplitReplace(rows(10n, 20n), fresh, [row(13n), Uint8Array.from([...row(15n), 0])]);
    expect(refused).toEqual({
      ok: false,
      error: { kind: "ChildHintInvalid", childIndex: 1, reason: { kind: "InvalidManifestBoundary", boundary: "End" } },
    });
  });

  test("metadata that is no envelope is refused, not handed on", () => {
    const parent = ShardSpec.withRangeAndMetadata({
      start: ascii("a"),
      end: ascii("z"),
      metadata: ascii("a connector's own"),
    });
    expect(planHintedSplitReplace(parent, fresh, [ascii("m")])).toEqual({
      ok: false,
      error: { kind: "ParentMetadataInvalid", reason: { kind: "MalformedMetadata", hintError: undefined } },
    });
  });

  test("a hint that the parent's range has outgrown is refused", () => {
    const lying = ShardSpec.withRangeAndMetadata({ start: row(0n), end: row(99n), metadata: rows(10n, 20n).metadata });
    expect(planHintedSplitReplace(lying, fresh, [row(15n)])).toMatchObject({
      error: { kind: "ChildHintInvalid", childIndex: 0 },
    });
  });

  test("the children tile the parent whenever there is a plan", () => {
    const parent = unwrap(prefixShard({ prefix: hex("61") }));
    fc.assert(
      fc.property(fc.array(denseKey({ max: 3 }), { maxLength: 4 }), denseKey({ max: 3 }), (points, last) => {
        const cursor = last.length === 0 ? fresh : Cursor.withLastKey(last);
        const planned = planHintedSplitReplace(parent, cursor, points);
        expect(planned.ok).toBe(planSplitReplaceAtPoints(parent, cursor, points).ok);
        if (!planned.ok) return;
        const specs = planned.value.children.map((child) => child.spec);
        const bounds = [parent.keyRangeStart, ...points, parent.keyRangeEnd];
        expect(specs.map((spec) => [spec.keyRangeStart, spec.keyRangeEnd])).toEqual(
          bounds.slice(1).map((end, index) => [bounds[index], end]),
        );
      }),
      { numRuns: 500 },
    );
  });
});

describe("planHintedSplitResidual", () => {
  test("gives both parts their own rows", () => {
    const plan = unwrap(planHintedSplitResidual(rows(10n, 20n), Cursor.withLastKey(row(12n)), row(15n)));
    expect(read([plan.parentNewSpec, plan.residualSpec])).toEqual([
      { start: row(10n), end: row(15n), hint: manifestHint(7n, 10n, 15n), connectorExtra: extra },
      { start: row(15n), end: row(20n), hint: manifestHint(7n, 15n, 20n), connectorExtra: extra },
    ]);
  });

  test("demotes both parts of a prefix", () => {
    const parent = unwrap(prefixShard({ prefix: ascii("ab") }));
    const plan = unwrap(planHintedSplitResidual(parent, fresh, ascii("abm")));
    expect(read([plan.parentNewSpec, plan.residualSpec])).toMatchObject([
      { hint: { kind: "Range" } },
      { hint: { kind: "Range" } },
    ]);
  });

  test("the split itself is checked first", () => {
    const parent = rows(10n, 20n);
    for (const point of [row(10n), row(20n), row(99n), bytes()]) {
      expect(errorOf(planHintedSplitResidual(parent, fresh, point))).toEqual(
        errorOf(planSplitResidualAtPoint(parent, fresh, point)),
      );
    }
    expect(planHintedSplitResidual(parent, Cursor.withLastKey(row(15n)), row(15n))).toMatchObject({
      error: { kind: "SplitPointBehindCursor" },
    });
    expect(planHintedSplitResidual(parent, fresh, row(15n).subarray(0, 9))).toMatchObject({ ok: false });
  });
});

test("wrong arguments are refused with a sentence", () => {
  const parent = rows(10n, 20n);
  for (const value of [undefined, null, 7, "x"]) {
    expect(() => planHintedSplitReplace(value as never, fresh, [])).toThrow(InvariantViolation);
    expect(() => planHintedSplitReplace(parent, value as never, [row(15n)])).toThrow(InvariantViolation);
    expect(() => planHintedSplitReplace(parent, fresh, value as never)).toThrow(InvariantViolation);
    expect(() => planHintedSplitResidual(parent, fresh, value as never)).toThrow(InvariantViolation);
  }
});
