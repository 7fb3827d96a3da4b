// A manifest is the one moment at which a run says what it covers. Two shards that overlap process keys twice for the
// run's whole life, and an id that looks derived crashes the code that builds a record for it.
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ascii, denseKey, filled, holes, OVERSIZED_KEY } from "../arbitraries.fixture.ts";
import { Cursor } from "../cursors/cursor.ts";
import { validateManifest, type InitialShardInput } from "./manifest.ts";
import { ShardId } from "../ids/shard-id.ts";
import type { ShardSpecRef } from "../specs/shard-spec-ref.ts";
import { ShardSpec } from "../specs/shard-spec.ts";
import { cursorAt, range } from "../specs.fixture.ts";

const OK = { ok: true, value: undefined };
const DERIVED = (1n << 63n) + 7n;

function entry(id: bigint, spec: ShardSpecRef, cursor: Cursor = Cursor.initial()): InitialShardInput {
  return { shard: ShardId.fromRaw(id), spec, cursor };
}

const parts = (lastKey: Uint8Array, tokenSize = 0): Cursor => Cursor.fromParts({ lastKey, token: filled(tokenSize) });

describe("validateManifest", () => {
  test("accepts ranges that touch or leave gaps, in any order, from id 0 on", () => {
    const manifest = [
      entry(9n, range("m", "t"), cursorAt("p")),
      entry(0n, range("a", "f"), cursorAt("a")),
      entry((1n << 63n) - 1n, range("f", "g")),
      // Alike in one half of the id.
      entry((1n << 32n) + 9n, range("g", "h")),
      entry((1n << 32n) + 10n, range("h", "i")),
    ];
    expect(validateManifest(manifest)).toEqual(OK);
  });

  test("accepts sizes up to the limits", () => {
    const shard = entry(0n, {
      keyRangeStart: filled(4096, 0x61),
      keyRangeEnd: filled(4096, 0x62),
      metadata: filled(16_384),
    });
    expect(validateManifest([{ ...shard, cursor: parts(filled(4096, 0x61), 16_384) }])).toEqual(OK);
  });

  test("accepts exactly the ranges that share no key", () => {
    const key = denseKey({ min: 1, max: 2 });
    const bytes = [0x00, 0x61, 0xfe, 0xff];
    const probes = bytes
      .flatMap((a) => [
        [a],
        ...bytes.flatMap((b) => [
          [a, b],
          [a, b, 0x00],
        ]),
      ])
      .map((k) => Uint8Array.from(k));
    fc.assert(
      fc.property(fc.array(fc.tuple(key, key), { minLength: 1, maxLength: 4 }), (bounds) => {
        const specs = bounds.map(([start, end]) => ShardSpec.tryWithRange({ start, end }));
        fc.pre(specs.every((spec) => spec.ok));
        const manifest = specs.flatMap((spec, index) => (spec.ok ? [entry(BigInt(index), spec.value)] : []));
        const isDisjoint = probes.every(
          (probe) => manifest.filter(({ spec }) => ShardSpec.containsKey(spec, probe)).length <= 1,
        );
        expect(validateManifest(manifest).ok).toBe(isDisjoint);
      }),
      { numRuns: 1000 },
    );
  });

  const ten_thousand = Array.from({ length: 10_001 }, (_, index) => entry(5n, range(`k${index}`, "")));
  const specReason = { kind: "InvertedRange", startLen: 2, endLen: 1 };
  const inverted = range("bb", "b");
  // Every rule alone, and every pair of neighboring rules broken at once.
  test.each([
    {
      broken: "too many, and ids",
      manifest: ten_thousand,
      error: { kind: "TooManyShards", count: 10_001, max: 10_000 },
    },
    { broken: "empty", manifest: [], error: { kind: "Empty" } },
    {
      broken: "duplicate and derived ids",
      manifest: [entry(DERIVED, range("a", "b")), entry(9n, range("c", "d")), entry(9n, range("d", "e"))],
      error: { kind: "DuplicateIds", shardId: 9n },
    },
    {
      broken: "several duplicate ids, the smallest",
      manifest: [7n, 3n, 7n, 5n, 3n].map((id) => entry(id, range("a", "b"))),
      error: { kind: "DuplicateIds", shardId: 3n },
    },
    {
      broken: "derived id, and an unbounded range before it",
      manifest: [entry(1n, range("", "b")), entry(DERIVED, range("c", "d"))],
      error: { kind: "DerivedIdInManifest", shardId: DERIVED },
    },
    {
      broken: "several derived ids, the first listed",
      manifest: [entry(DERIVED + 1n, range("a", "b")), entry(DERIVED, range("c", "d"))],
      error: { kind: "DerivedIdInManifest", shardId: DERIVED + 1n },
    },
    {
      broken: "no start, and an invalid spec before it",
      manifest: [entry(1n, inverted), entry(2n, range("", "b"))],
      error: { kind: "UnboundedRange", shardId: 2n },
    },
    { broken: "no end", manifest: [entry(1n, range("b", ""))], error: { kind: "UnboundedRange", shardId: 1n } },
    {
      broken: "several unbounded, the first listed",
      manifest: [entry(8n, range("b", "")), entry(2n, range("", "b"))],
      error: { kind: "UnboundedRange", shardId: 8n },
    },
    {
      broken: "invalid spec, and an overlap before it",
      manifest: [entry(1n, range("a", "m")), entry(2n, range("b", "n")), entry(3n, inverted)],
      error: { kind: "InvalidSpec", shardId: 3n, reason: specReason },
    },
    {
      broken: "several invalid specs, the first listed",
      manifest: [entry(9n, inverted), entry(2n, range("c", "c")), entry(3n, range("d", "e"))],
      error: { kind: "InvalidSpec", shardId: 9n, reason: specReason },
    },
    {
      broken: "start too large",
      manifest: [entry(3n, { ...range("a", "b"), keyRangeStart: OVERSIZED_KEY })],
      error: { kind: "InvalidSpec", shardId: 3n, reason: { kind: "KeyTooLarge", size: 4097, max: 4096 } },
    },
    {
      broken: "overlap, and a cursor before it",
      manifest: [entry(1n, range("a", "m"), cursorAt("z")), entry(2n, range("l", "n"))],
      error: { kind: "OverlappingRanges", shardA: 1n, shardB: 2n },
    },
    {
      broken: "overlap, in the order of the starts",
      manifest: [entry(1n, range("l", "n")), entry(2n, range("a", "m"))],
      error: { kind: "OverlappingRanges", shardA: 2n, shardB: 1n },
    },
    {
      broken: "overlap of equal starts, in the order listed",
      manifest: [entry(9n, range("a", "m")), entry(2n, range("a", "f"))],
      error: { kind: "OverlappingRanges", shardA: 9n, shardB: 2n },
    },
    {
      broken: "cursor's key and token too large",
      manifest: [entry(1n, range("a", "b"), parts(OVERSIZED_KEY, 16_385))],
      error: { kind: "CursorKeyTooLarge", shardId: 1n, size: 4097, max: 4096 },
    },
    {
      broken: "cursor's token too large, and out of bounds",
      manifest: [entry(1n, range("a", "b"), parts(ascii("z"), 16_385))],
      error: { kind: "CursorTokenTooLarge", shardId: 1n, size: 16_385, max: 16_384 },
    },
    {
      broken: "cursor out of bounds, and a later shard's key too large",
      manifest: [entry(1n, range("a", "b"), cursorAt("b")), entry(2n, range("c", "d"), parts(OVERSIZED_KEY))],
      error: { kind: "CursorOutOfBounds", shardId: 1n },
    },
    {
      broken: "cursor's token too large, and a later shard's key too large",
      manifest: [
        entry(1n, range("a", "b"), parts(ascii("a"), 16_385)),
        entry(2n, range("c", "d"), parts(OVERSIZED_KEY)),
      ],
      error: { kind: "CursorTokenTooLarge", shardId: 1n, size: 16_385, max: 16_384 },
    },
    {
      broken: "cursor below",
      manifest: [entry(1n, range("b", "c"), cursorAt("a"))],
      error: { kind: "CursorOutOfBounds", shardId: 1n },
    },
  ])("refuses by the first broken rule: $broken", ({ manifest, error }) => {
    expect(validateManifest(manifest)).toEqual({ ok: false, error });
  });

  test("takes 10,000 shards", () => {
    const manifest = Array.from({ length: 10_000 }, (_, index) => {
      const start = Uint8Array.of(1, index >> 8, index & 0xff);
      return entry(BigInt(index), {
        keyRangeStart: start,
        keyRangeEnd: Uint8Array.of(...start, 1),
        metadata: ascii(""),
      });
    });
    expect(validateManifest(manifest)).toEqual(OK);
    expect(validateManifest(manifest.reverse())).toEqual(OK);
  });

  test("reads each field of a spec once, because a borrowed one pays for every read", () => {
    let readCount = 0;
    const counted = range("a", "b");
    const spec = new Proxy(counted, {
      get: (target, field) => {
        readCount += 1;
        return Reflect.get(target, field) as unknown;
      },
    });
    expect(validateManifest([entry(1n, spec, cursorAt("a"))])).toEqual(OK);
    expect(readCount).toBe(3);
  });

  test.each([
    undefined,
    null,
    "manifest",
    { length: 1 },
    holes(1),
    [undefined],
    [{}],
    [{ ...entry(1n, range("a", "b")), shard: 1 }],
    [{ ...entry(1n, range("a", "b")), spec: { keyRangeStart: "a" } }],
    [{ ...entry(1n, range("a", "b")), cursor: undefined }],
    [{ ...entry(1n, range("a", "b")), cursor: { lastKey: "a" } }],
  ])("refuses what is no manifest (%#)", (bad) => {
    expect(() => validateManifest(bad as InitialShardInput[])).toThrow(InvariantViolation);
  });

  test("refuses with errors that a logger can write, and that hold no key", () => {
    const manifest = [entry(1n, range("secret-a", "secret-z")), entry(2n, range("secret-b", "secret-c"))];
    const refusal = validateManifest(manifest);
    expect(JSON.stringify(refusal)).toBe(
      '{"ok":false,"error":{"kind":"OverlappingRanges","shardA":"0000000000000001","shardB":"0000000000000002"}}',
    );
    expect(structuredClone(refusal)).toEqual({
      ok: false,
      error: { kind: "OverlappingRanges", shardA: 1n, shardB: 2n },
    });
  });
});
