// A bulk split adds many shards in one call. Half of them would be worse than none: the caller would register a run with a hole
// in it, or try again and register some shards twice.
import { ShardArena, U64_MAX } from "@gossip/contracts";
import { compareBytes, InvariantViolation, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { decodeConnectorExtra, decodeHint } from "../hints/decode-metadata.ts";
import { manifestHint, manifestRange } from "../hints/hints.fixture.ts";
import { ascii, bytes, denseKey, filled } from "../keys.fixture.ts";
import { PreallocShardBuilder } from "./prealloc-shard-builder.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

function make({
  entryLimit = 8,
  specSlots = 1024,
  byteCapacity = 1 << 20,
}: { entryLimit?: number; specSlots?: number; byteCapacity?: number } = {}) {
  const arena = ShardArena.withCapacity({ specSlots, byteCapacity });
  return { arena, builder: new PreallocShardBuilder(arena, { entryLimit }) };
}

/** Points `from`, `from` + 1, and so on: two bytes each, in order. */
function points(count: number, from = 1): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => Uint8Array.of((from + index) >> 8, (from + index) & 0xff));
}

function bounds(builder: PreallocShardBuilder): [Uint8Array, Uint8Array][] {
  return unwrap(builder.buildInputs()).map(({ spec }) => [spec.keyRangeStart.slice(), spec.keyRangeEnd.slice()]);
}

/** Everything that a refused call must leave as it was. */
function state({ arena, builder }: { arena: ShardArena; builder: PreallocShardBuilder }): unknown {
  return [builder.length, builder.remainingEntries, arena.liveSpecCount, arena.liveBytes];
}

const refused = (error: unknown): object => ({ ok: false, error });

describe("splitRangeByBoundaries", () => {
  test("split range by boundaries exact capacity preserves ordering", () => {
    const { builder } = make({ entryLimit: 3 });
    const split = builder.splitRangeByBoundaries({
      start: ascii("a"),
      splitPoints: [ascii("c"), ascii("b")].reverse(),
      end: ascii("d"),
      connectorExtra: ascii("x"),
    });
    expect(unwrap(split)).toEqual([0n, 1n, 2n]);
    expect(bounds(builder)).toEqual([
      [ascii("a"), ascii("b")],
      [ascii("b"), ascii("c")],
      [ascii("c"), ascii("d")],
    ]);
    for (const { spec } of unwrap(builder.buildInputs())) {
      expect([unwrap(decodeHint(spec)).kind, unwrap(decodeConnectorExtra(spec))]).toEqual(["Range", ascii("x")]);
    }
    expect(builder.remainingEntries).toBe(0);
  });

  test("split range by boundaries under capacity succeeds", () => {
    const { builder } = make();
    unwrap(builder.addRange({ start: ascii("a"), end: ascii("b") }));
    expect(unwrap(builder.splitRangeByBoundaries({ start: ascii("b"), splitPoints: [], end: ascii("c") }))).toEqual([
      1n,
    ]);
    expect(
      unwrap(builder.splitRangeByBoundaries({ start: ascii("c"), splitPoints: [ascii("d")], end: ascii("e") })),
    ).toEqual([2n, 3n]);
    expect([builder.length, builder.remainingEntries]).toEqual([4, 4]);
    expect(builder.buildInputs().ok).toBe(true);
  });

  test("split range capacity exceeded has no partial writes", () => {
    const made = make({ entryLimit: 3 });
    unwrap(made.builder.addRange({ start: ascii("a"), end: ascii("b") }));
    const before = state(made);
    const split = made.builder.splitRangeByBoundaries({
      start: ascii("b"),
      splitPoints: [ascii("c"), ascii("d")],
      end: ascii("e"),
    });
    expect(split).toEqual(refused({ kind: "CapacityExceeded", limit: 3, current: 1, additional: 3 }));
    expect(state(made)).toEqual(before);
  });

  test("split range fan out exceeded has no partial writes", () => {
    const made = make({ entryLimit: 1 });
    const before = state(made);
    const split = made.builder.splitRangeByBoundaries({
      start: bytes(0),
      splitPoints: points(256),
      end: filled(1, 0xff),
    });
    // Fan-out is looked at before room is.
    expect(split).toEqual(refused({ kind: "FanOutExceeded", limit: 256, requested: 257 }));
    expect(state(made)).toEqual(before);
    const widest = make({ entryLimit: 256 });
    expect(
      unwrap(
        widest.builder.splitRangeByBoundaries({ start: bytes(0, 0), splitPoints: points(255), end: filled(1, 0xff) }),
      ).length,
    ).toBe(256);
    expect(widest.builder.buildInputs().ok).toBe(true);
  });

  test("a part that is no range leaves nothing behind, wherever it is", () => {
    const inverted = { kind: "RangeInvalid", reason: { kind: "InvertedRange", startLen: 1, endLen: 1 } };
    for (const [splitPoints, error] of [
      [["c", "b"], inverted],
      [["b", "b"], inverted],
      [["b", "z"], inverted],
      [["a"], inverted],
      [["b", ""], { kind: "RangeInvalid", reason: { kind: "InvertedRange", startLen: 1, endLen: 0 } }],
      [["", "b"], { kind: "RangeInvalid", reason: { kind: "InvertedRange", startLen: 1, endLen: 0 } }],
    ] as const) {
      const made = make();
      const before = state(made);
      const split = made.builder.splitRangeByBoundaries({
        start: ascii("a"),
        splitPoints: splitPoints.map(ascii),
        end: ascii("d"),
      });
      expect(split).toEqual(refused(error));
      expect(state(made)).toEqual(before);
    }
    const made = make();
    const split = made.builder.splitRangeByBoundaries({
      start: ascii("a"),
      splitPoints: [ascii("b"), filled(4097, 0x63)],
      end: ascii("d"),
    });
    expect(split).toMatchObject({ error: { kind: "RangeInvalid", reason: { kind: "KeyTooLarge", size: 4097 } } });
    expect(made.builder.isEmpty).toBe(true);
  });

  test("the ends of the range may be missing, and are found when building", () => {
    const { builder } = make();
    expect(unwrap(builder.splitRangeByBoundaries({ start: bytes(), splitPoints: [ascii("m")], end: bytes() }))).toEqual(
      [0n, 1n],
    );
    expect(builder.buildInputs()).toMatchObject({ error: { reason: { kind: "UnboundedRange", shardId: 0n } } });
  });

  test("adds all parts or none, exactly as the points allow", () => {
    fc.assert(
      fc.property(
        denseKey({ min: 1 }),
        fc.array(denseKey(), { maxLength: 4 }),
        denseKey({ min: 1 }),
        fc.nat(6),
        (start, splitPoints, end, room) => {
          const made = make({ entryLimit: room + 1 });
          const before = state(made);
          const cuts = [start, ...splitPoints, end];
          const isInOrder = cuts.every((cut, index) => index === 0 || compareBytes(cuts[index - 1]!, cut) < 0);
          const split = made.builder.splitRangeByBoundaries({ start, splitPoints, end });
          expect(split.ok).toBe(isInOrder && cuts.length - 1 <= room + 1);
          if (split.ok) expect(bounds(made.builder)).toEqual(cuts.slice(1).map((cut, index) => [cuts[index], cut]));
          else expect(state(made)).toEqual(before);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe("splitManifestByRows", () => {
  test("split manifest by rows exact capacity tiles manifest rows", () => {
    const { builder } = make({ entryLimit: 4 });
    const split = builder.splitManifestByRows({
      ...manifestRange(7n, 10n, 20n),
      rowsPerShard: 3n,
      connectorExtra: ascii("x"),
    });
    expect(unwrap(split)).toEqual([0n, 1n, 2n, 3n]);
    const specs = unwrap(builder.buildInputs()).map((input) => input.spec);
    expect(specs.map((spec) => unwrap(decodeHint(spec)))).toEqual([
      manifestHint(7n, 10n, 13n),
      manifestHint(7n, 13n, 16n),
      manifestHint(7n, 16n, 19n),
      manifestHint(7n, 19n, 20n),
    ]);
    expect(specs.map((spec) => unwrap(decodeConnectorExtra(spec)))).toEqual([
      ascii("x"),
      ascii("x"),
      ascii("x"),
      ascii("x"),
    ]);
    for (let index = 1; index < specs.length; index++)
      expect(specs[index]!.keyRangeStart).toEqual(specs[index - 1]!.keyRangeEnd);
  });

  test("split manifest by rows under capacity succeeds", () => {
    const { builder } = make();
    expect(unwrap(builder.splitManifestByRows({ ...manifestRange(7n, 0n, 10n), rowsPerShard: 5n })).length).toBe(2);
    expect(unwrap(builder.splitManifestByRows({ ...manifestRange(8n, 0n, 10n), rowsPerShard: 99n })).length).toBe(1);
    expect(builder.remainingEntries).toBe(5);
  });

  test("split manifest by rows capacity exceeded has no partial writes", () => {
    const made = make({ entryLimit: 3 });
    unwrap(made.builder.addRange({ start: ascii("a"), end: ascii("b") }));
    const before = state(made);
    expect(made.builder.splitManifestByRows({ ...manifestRange(7n, 0n, 3n), rowsPerShard: 1n })).toEqual(
      refused({ kind: "CapacityExceeded", limit: 3, current: 1, additional: 3 }),
    );
    expect(state(made)).toEqual(before);
  });

  test("split manifest by rows fan out exceeded has no partial writes", () => {
    const made = make({ entryLimit: 1 });
    const before = state(made);
    expect(made.builder.splitManifestByRows({ ...manifestRange(7n, 0n, 257n), rowsPerShard: 1n })).toEqual(
      refused({ kind: "FanOutExceeded", limit: 256, requested: 257 }),
    );
    expect(made.builder.splitManifestByRows({ ...manifestRange(7n, 0n, U64_MAX), rowsPerShard: 1n })).toEqual(
      refused({ kind: "FanOutExceeded", limit: 256, requested: Number.MAX_SAFE_INTEGER }),
    );
    expect(state(made)).toEqual(before);
    expect(
      unwrap(
        make({ entryLimit: 256 }).builder.splitManifestByRows({ ...manifestRange(7n, 0n, 256n), rowsPerShard: 1n }),
      ).length,
    ).toBe(256);
  });

  test("split manifest by rows handles u64 boundary without wrap", () => {
    const { builder } = make();
    const split = builder.splitManifestByRows({ ...manifestRange(U64_MAX, U64_MAX - 5n, U64_MAX), rowsPerShard: 3n });
    expect(unwrap(split)).toEqual([0n, 1n]);
    expect(unwrap(builder.buildInputs()).map((input) => unwrap(decodeHint(input.spec)))).toEqual([
      manifestHint(U64_MAX, U64_MAX - 5n, U64_MAX - 2n),
      manifestHint(U64_MAX, U64_MAX - 2n, U64_MAX),
    ]);
    const whole = make();
    expect(
      unwrap(whole.builder.splitManifestByRows({ ...manifestRange(0n, 0n, U64_MAX), rowsPerShard: U64_MAX })).length,
    ).toBe(1);
    expect(
      unwrap(whole.builder.splitManifestByRows({ ...manifestRange(1n, 0n, U64_MAX), rowsPerShard: U64_MAX - 1n }))
        .length,
    ).toBe(2);
  });

  test("rows are tiled, one shard a chunk, exactly when there are rows and chunks of them", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 20n), fc.bigInt(0n, 20n), fc.bigInt(0n, 7n), (start, end, rowsPerShard) => {
        const { builder } = make({ entryLimit: 20 });
        const split = builder.splitManifestByRows({ ...manifestRange(7n, start, end), rowsPerShard });
        expect(split.ok).toBe(start < end && rowsPerShard > 0n);
        if (!split.ok) {
          expect(split.error).toEqual({
            kind: "ManifestCtorInvalid",
            reason: { kind: "InvertedRange", startLen: 16, endLen: 16 },
          });
          return;
        }
        const hints = unwrap(builder.buildInputs()).map((input) => unwrap(decodeHint(input.spec)));
        const expected = Array.from({ length: Math.ceil(Number(end - start) / Number(rowsPerShard)) }, (_, index) => {
          const from = start + BigInt(index) * rowsPerShard;
          return manifestHint(7n, from, from + rowsPerShard < end ? from + rowsPerShard : end);
        });
        expect(hints).toEqual(expected);
      }),
    );
  });

  test("metadata that is too large leaves nothing behind", () => {
    const made = make();
    const before = state(made);
    const split = made.builder.splitManifestByRows({
      ...manifestRange(7n, 0n, 3n),
      rowsPerShard: 1n,
      connectorExtra: filled(20_000),
    });
    expect(split).toMatchObject({ error: { kind: "ManifestCtorInvalid", reason: { kind: "MetadataTooLarge" } } });
    expect(state(made)).toEqual(before);
  });
});

describe("an arena that runs full on the way", () => {
  test("takes every part out again, and says what fits then", () => {
    for (const byteCapacity of [64, 112, 160, 304, 1024]) {
      const made = make({ entryLimit: 300, byteCapacity });
      unwrap(made.builder.addRange({ start: ascii("a"), end: ascii("b") }));
      const before = state(made);
      const split = made.builder.splitRangeByBoundaries({
        start: ascii("b"),
        splitPoints: points(200, 0x6300),
        end: ascii("z"),
      });
      expect(split).toMatchObject({ ok: false, error: { kind: "SlabFull", requested: 16 } });
      expect(state(made)).toEqual(before);
      const rows = made.builder.splitManifestByRows({ ...manifestRange(7n, 0n, 200n), rowsPerShard: 1n });
      expect(rows).toMatchObject({ ok: false, error: { kind: "SlabFull" } });
      expect(state(made)).toEqual(before);

      // `available` is the largest class that fits now, and no smaller one.
      const { available } = (split as { error: { available: number } }).error;
      const fits = (size: number): boolean => {
        const placed = made.arena.allocSpec({ keyRangeStart: bytes(), keyRangeEnd: bytes(), metadata: filled(size) });
        if (placed.ok) made.arena.freeSpec(placed.value);
        return placed.ok;
      };
      expect([fits(available), fits(available + 1)]).toEqual([true, false]);
    }
  });

  test("without slots, too", () => {
    const made = make({ specSlots: 3 });
    unwrap(made.builder.addRange({ start: ascii("a"), end: ascii("b") }));
    const before = state(made);
    const split = made.builder.splitRangeByBoundaries({
      start: ascii("b"),
      splitPoints: [ascii("c"), ascii("d")],
      end: ascii("e"),
    });
    expect(split).toEqual(refused({ kind: "SlabFull", requested: 1, available: 0 }));
    expect(state(made)).toEqual(before);
    expect(
      unwrap(made.builder.splitRangeByBoundaries({ start: ascii("b"), splitPoints: [ascii("c")], end: ascii("e") })),
    ).toEqual([1n, 2n]);
  });
});

test("wrong arguments are refused with a sentence", () => {
  const { builder } = make();
  const good = { start: ascii("a"), splitPoints: [ascii("b")], end: ascii("c") };
  expect(() => builder.splitRangeByBoundaries(null as never)).toThrow(InvariantViolation);
  expect(() => builder.splitRangeByBoundaries({ ...good, splitPoints: undefined as never })).toThrow(
    "splitPoints must be an array of keys",
  );
  expect(() => builder.splitRangeByBoundaries({ ...good, splitPoints: ["b" as never] })).toThrow(
    "split point must be a Uint8Array",
  );
  expect(() => builder.splitRangeByBoundaries({ ...good, start: 1 as never })).toThrow("start must be a Uint8Array");
  expect(() => builder.splitRangeByBoundaries({ ...good, connectorExtra: "x" as never })).toThrow(
    "connectorExtra must be a Uint8Array",
  );
  const rows = { ...manifestRange(1n, 0n, 9n), rowsPerShard: 3n };
  expect(() => builder.splitManifestByRows(undefined as never)).toThrow(InvariantViolation);
  expect(() => builder.splitManifestByRows({ ...rows, rowsPerShard: 3 as never })).toThrow(
    "rows per shard must be a bigint",
  );
  expect(() => builder.splitManifestByRows({ ...rows, endRow: -1n as never })).toThrow(
    "end row must be a bigint from 0 to 2^64 - 1, got a negative one",
  );
  expect(builder.isEmpty).toBe(true);
});
