// The builder stages what a run will consist of. An entry that is half added, an id that is used twice or a handle that is followed
// although it is stale would register work that was never requested, or lose work that was.
import {
  Cursor,
  MAX_METADATA_SIZE,
  ShardArena,
  ShardSpec,
  U64_MAX,
  type InitialShardInput,
  type ShardSpecHandle,
} from "@gossip/contracts";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { decodeHint } from "../hints/decode-metadata.ts";
import { manifestHint, manifestRange } from "../hints/hints.fixture.ts";
import { encodeKey } from "../keys/key-encoding.ts";
import { ascii, bytes, filled, hex } from "../keys.fixture.ts";
import { ManifestRowKey } from "../keys/manifest-row-key.ts";
import { PreallocShardBuilder } from "./prealloc-shard-builder.ts";
import { rangeShard, rangeShardRef } from "../shards/shard-constructors.ts";
import { ShardSpecScratch } from "../shards/shard-spec-scratch.ts";

interface Sizes {
  readonly entryLimit?: number;
  readonly specSlots?: number;
  readonly byteCapacity?: number;
}

function make({ entryLimit = 8, specSlots = 1024, byteCapacity = 1 << 20 }: Sizes = {}): {
  arena: ShardArena;
  builder: PreallocShardBuilder;
} {
  const arena = ShardArena.withCapacity({ specSlots, byteCapacity });
  return { arena, builder: unwrap(PreallocShardBuilder.tryNew(arena, { entryLimit })) };
}

function range(start: string, end: string): { start: Uint8Array; end: Uint8Array } {
  return { start: ascii(start), end: ascii(end) };
}

/** What was built, as values: the specs themselves are borrowed. */
function read(inputs: readonly InitialShardInput[]): unknown[] {
  return inputs.map(({ shard, spec, cursor }) => ({ shard, spec: unwrap(ShardSpec.tryFromRef(spec)), cursor }));
}

function build(builder: PreallocShardBuilder): unknown[] {
  return read(unwrap(builder.buildInputs()));
}

const refused = (error: unknown): object => ({ ok: false, error });

describe("staging and building", () => {
  test("mixed range prefix manifest builds valid manifest", () => {
    const { builder } = make();
    unwrap(builder.addRange(range("a", "b")));
    unwrap(builder.addPrefix({ prefix: ascii("c") }));
    unwrap(builder.addManifest({ ...manifestRange(0x6100000000000000n << 1n, 0n, 5n), connectorExtra: ascii("x") }));
    const inputs = unwrap(builder.buildInputs());
    expect(inputs.map((input) => unwrap(decodeHint(input.spec)).kind)).toEqual(["Range", "Prefix", "Manifest"]);
    expect(inputs.map((input) => input.shard)).toEqual([0n, 1n, 2n]);
  });

  test("ids are assigned in insertion order", () => {
    const { builder } = make();
    expect(unwrap(builder.addRange(range("x", "y")))).toBe(0n);
    expect(builder.addRange(range("y", "x")).ok).toBe(false);
    expect(unwrap(builder.addRange(range("a", "b")))).toBe(1n);
    expect(unwrap(builder.splitRangeByBoundaries({ ...range("c", "e"), splitPoints: [ascii("d")] }))).toEqual([2n, 3n]);
    expect(unwrap(builder.buildInputs()).map((input) => [input.shard, input.spec.keyRangeStart])).toEqual([
      [0n, ascii("x")],
      [1n, ascii("a")],
      [2n, ascii("c")],
      [3n, ascii("d")],
    ]);
  });

  test("default add methods use initial cursor", () => {
    const { arena, builder } = make();
    unwrap(builder.addRange(range("a", "b")));
    unwrap(builder.addPrefix({ prefix: ascii("c") }));
    unwrap(builder.addManifest(manifestRange(1n, 0n, 5n)));
    unwrap(builder.addSpecRef(unwrap(rangeShard(range("d", "e")))));
    unwrap(builder.addSpecHandle(unwrap(arena.allocSpec(unwrap(rangeShard(range("f", "g")))))));
    unwrap(builder.splitRangeByBoundaries({ ...range("h", "j"), splitPoints: [ascii("i")] }));
    expect(unwrap(builder.buildInputs()).every((input) => Cursor.isInitial(input.cursor))).toBe(true);
  });

  test("with cursor methods preserve non initial cursor", () => {
    const { builder } = make();
    const [inRange, inPrefix] = [
      Cursor.withLastKey(ascii("am")),
      Cursor.fromParts({ lastKey: ascii("cc"), token: ascii("t") }),
    ];
    unwrap(builder.addRangeWithCursor(range("a", "b"), inRange));
    unwrap(builder.addPrefixWithCursor({ prefix: ascii("c") }, inPrefix));
    expect(unwrap(builder.buildInputs()).map((input) => input.cursor)).toEqual([inRange, inPrefix]);
  });

  test("add manifest with cursor preserves initial cursor", () => {
    const { builder } = make();
    unwrap(builder.addManifestWithCursor(manifestRange(1n, 0n, 5n), Cursor.initial()));
    expect(unwrap(builder.buildInputs())[0]!.cursor).toBe(Cursor.initial());
  });

  test("add manifest with cursor preserves explicit cursor", () => {
    const { builder } = make();
    const cursor = Cursor.withLastKey(encodeKey(new ManifestRowKey({ manifestId: 1n, row: 3n })));
    unwrap(builder.addManifestWithCursor(manifestRange(1n, 0n, 5n), cursor));
    expect(unwrap(builder.buildInputs())[0]!.cursor).toEqual(cursor);
  });

  test("cursor outside range fails manifest validation", () => {
    const { builder } = make();
    unwrap(builder.addRangeWithCursor(range("a", "b"), Cursor.withLastKey(ascii("b"))));
    expect(builder.buildInputs()).toEqual(
      refused({ kind: "ManifestInvalid", reason: { kind: "CursorOutOfBounds", shardId: 0n } }),
    );
  });

  test("overlapping ranges fail on build validation", () => {
    const { builder } = make();
    unwrap(builder.addRange(range("a", "c")));
    unwrap(builder.addRange(range("b", "d")));
    expect(builder.buildInputs()).toEqual(
      refused({ kind: "ManifestInvalid", reason: { kind: "OverlappingRanges", shardA: 0n, shardB: 1n } }),
    );
    expect(builder.length).toBe(2);
  });

  test("a range without a bound is staged and found when building", () => {
    const { builder } = make();
    unwrap(builder.addRange({ start: bytes(), end: ascii("b") }));
    expect(builder.buildInputs()).toMatchObject({
      error: { kind: "ManifestInvalid", reason: { kind: "UnboundedRange" } },
    });
  });

  test("build inputs on empty builder returns manifest empty", () => {
    expect(make().builder.buildInputs()).toEqual(refused({ kind: "ManifestInvalid", reason: { kind: "Empty" } }));
  });

  test("build inputs is idempotent", () => {
    const { arena, builder } = make();
    unwrap(builder.addRange(range("a", "b")));
    const live = arena.liveSpecCount;
    expect(build(builder)).toEqual(build(builder));
    expect([builder.length, arena.liveSpecCount]).toEqual([1, live]);
  });
});

describe("limits", () => {
  test("entry limit exhaustion returns capacity exceeded", () => {
    const { arena, builder } = make({ entryLimit: 1 });
    unwrap(builder.addRange(range("a", "b")));
    const full = refused({ kind: "CapacityExceeded", limit: 1, current: 1, additional: 1 });
    const before = [build(builder), arena.liveBytes];
    expect(builder.addRange(range("c", "d"))).toEqual(full);
    expect(builder.addRangeWithCursor(range("c", "d"), Cursor.initial())).toEqual(full);
    expect(builder.addPrefix({ prefix: ascii("c") })).toEqual(full);
    expect(builder.addManifest(manifestRange(1n, 0n, 5n))).toEqual(full);
    expect(builder.addSpecRef(ShardSpec.unbounded())).toEqual(full);
    expect(builder.addSpecHandle({ slot: 0, generation: 0, arenaId: 0 })).toEqual(full);
    // Room is asked for before the input is looked at.
    expect(builder.addRange(range("d", "c"))).toEqual(full);
    expect([build(builder), arena.liveBytes]).toEqual(before);
    expect([builder.length, builder.isEmpty, builder.remainingEntries, builder.entryLimit]).toEqual([1, false, 0, 1]);
  });

  test("arena slot exhaustion returns slab full", () => {
    const { builder } = make({ specSlots: 1 });
    unwrap(builder.addRange(range("a", "b")));
    expect(builder.addRange(range("c", "d"))).toEqual(refused({ kind: "SlabFull", requested: 1, available: 0 }));
    expect(builder.length).toBe(1);
  });

  test("arena byte exhaustion returns slab full", () => {
    const { arena, builder } = make({ byteCapacity: 64 });
    unwrap(builder.addRange(range("a", "b")));
    const before = [arena.liveBytes, arena.liveSpecCount];
    expect(builder.addRange({ start: filled(40), end: filled(40, 0x62) })).toEqual(
      refused({ kind: "SlabFull", requested: 64, available: 16 }),
    );
    expect(builder.addPrefix({ prefix: filled(40) })).toMatchObject({ error: { kind: "SlabFull" } });
    expect(builder.addManifest({ ...manifestRange(1n, 0n, 5n), connectorExtra: filled(40) })).toMatchObject({
      error: { kind: "SlabFull" },
    });
    expect([builder.length, arena.liveBytes, arena.liveSpecCount]).toEqual([1, ...before]);
  });

  test("add spec ref slab full", () => {
    const { builder } = make({ byteCapacity: 16 });
    expect(builder.addSpecRef(unwrap(rangeShard(range("a", "b"))))).toMatchObject({
      error: { kind: "SlabFull", requested: 16 },
    });
    expect(builder.isEmpty).toBe(true);
  });

  test("config rejects zero entry limit", () => {
    const arena = ShardArena.withCapacity({ specSlots: 1, byteCapacity: 64 });
    expect(PreallocShardBuilder.tryNew(arena, { entryLimit: 0 })).toEqual(refused({ kind: "EntryLimitZero" }));
    expect(() => new PreallocShardBuilder(arena, { entryLimit: 0 })).toThrow(InvariantViolation);
  });

  test("config rejects entry limit exceeding cap", () => {
    const arena = ShardArena.withCapacity({ specSlots: 1, byteCapacity: 64 });
    expect(PreallocShardBuilder.tryNew(arena, { entryLimit: 5, cap: 4 })).toEqual(
      refused({ kind: "CapMismatch", entryLimit: 5, cap: 4 }),
    );
    expect(PreallocShardBuilder.tryNew(arena, { entryLimit: 1025 })).toEqual(
      refused({ kind: "CapMismatch", entryLimit: 1025, cap: 1024 }),
    );
    // The cap is the smaller limit, so it is always the one that is reported.
    expect(PreallocShardBuilder.tryNew(arena, { entryLimit: 10_001 })).toEqual(
      refused({ kind: "CapMismatch", entryLimit: 10_001, cap: 1024 }),
    );
    expect(unwrap(PreallocShardBuilder.tryNew(arena, { entryLimit: 4, cap: 4 })).entryLimit).toBe(4);
    expect(unwrap(PreallocShardBuilder.tryNew(arena, { entryLimit: 1024 })).remainingEntries).toBe(1024);
  });

  test("what is no limit at all is refused with a sentence", () => {
    const arena = ShardArena.withCapacity({ specSlots: 1, byteCapacity: 64 });
    for (const cap of [0, 1025, 1.5, Number.NaN]) {
      expect(() => PreallocShardBuilder.tryNew(arena, { entryLimit: 1, cap })).toThrow(
        "cap must be a whole number from 1 to 1024",
      );
    }
    for (const entryLimit of [-1, 1.5, Number.NaN, "1" as never]) {
      expect(() => PreallocShardBuilder.tryNew(arena, { entryLimit })).toThrow("entryLimit must be a whole number");
    }
    expect(() => PreallocShardBuilder.tryNew({} as never, { entryLimit: 1 })).toThrow("arena must be a ShardArena");
    expect(() => PreallocShardBuilder.tryNew(arena, null as never)).toThrow(InvariantViolation);
  });
});

describe("handles, references and reset", () => {
  test("stale or foreign handle is rejected without panic", () => {
    const { arena, builder } = make();
    const other = ShardArena.withCapacity({ specSlots: 4, byteCapacity: 1024 });
    const spec = unwrap(rangeShard(range("a", "b")));
    const foreign = unwrap(other.allocSpec(spec));
    const stale = unwrap(arena.allocSpec(spec));
    arena.freeSpec(stale);
    const forged: ShardSpecHandle = { ...stale, slot: 99_999 };
    for (const handle of [foreign, stale, forged])
      expect(builder.addSpecHandle(handle)).toEqual(refused({ kind: "InvalidSpecHandle" }));
    expect(builder.isEmpty).toBe(true);

    // A handle that goes stale after it was added is found when building.
    const live = unwrap(arena.allocSpec(spec));
    unwrap(builder.addSpecHandle(live));
    expect(builder.buildInputs().ok).toBe(true);
    arena.freeSpec(live);
    expect(builder.buildInputs()).toEqual(refused({ kind: "InvalidSpecHandle" }));
    expect(() => builder.addSpecHandle(undefined as never)).toThrow(InvariantViolation);
  });

  test("reset allows fresh reuse and resets ids", () => {
    const { arena, builder } = make();
    unwrap(builder.addRange(range("a", "b")));
    unwrap(builder.splitManifestByRows({ ...manifestRange(1n, 0n, 4n), rowsPerShard: 1n }));
    const [before] = unwrap(builder.buildInputs());
    const outside = unwrap(arena.allocSpec(unwrap(rangeShard(range("y", "z")))));
    builder.reset();
    expect([builder.length, builder.isEmpty, builder.remainingEntries]).toEqual([0, true, 8]);
    expect(arena.liveSpecCount).toBe(1);
    expect(arena.viewSpec(outside).keyRangeStart).toEqual(ascii("y"));
    expect(() => before!.spec.keyRangeStart).toThrow(InvariantViolation);
    expect(unwrap(builder.addRange(range("c", "d")))).toBe(0n);
    expect(build(builder)).toMatchObject([{ shard: 0n, spec: { keyRangeStart: ascii("c") } }]);
  });

  test("add spec ref happy path", () => {
    const { builder } = make();
    const scratch = new ShardSpecScratch();
    unwrap(builder.addSpecRef(unwrap(rangeShardRef({ ...range("a", "b"), connectorExtra: ascii("x") }, scratch))));
    const raw = { keyRangeStart: ascii("c"), keyRangeEnd: ascii("d"), metadata: ascii("not an envelope") };
    unwrap(builder.addSpecRef(raw));
    raw.metadata.fill(0);
    unwrap(rangeShardRef(range("x", "y"), scratch));
    expect(build(builder)).toMatchObject([
      { spec: { keyRangeStart: ascii("a"), metadata: hex("000000010078") } },
      { spec: { keyRangeStart: ascii("c"), metadata: ascii("not an envelope") } },
    ]);
  });

  test("add spec ref rejects inverted range", () => {
    const { builder } = make();
    const inverted = { keyRangeStart: ascii("b"), keyRangeEnd: ascii("a"), metadata: bytes() };
    expect(builder.addSpecRef(inverted)).toEqual(
      refused({ kind: "SpecInvalid", reason: { kind: "InvertedRange", startLen: 1, endLen: 1 } }),
    );
    expect(builder.addSpecRef({ ...inverted, metadata: filled(MAX_METADATA_SIZE + 1) })).toMatchObject({
      error: { reason: { kind: "MetadataTooLarge" } },
    });
    expect(() => builder.addSpecRef(null as never)).toThrow(InvariantViolation);
    expect(builder.isEmpty).toBe(true);
  });

  test("a handle that was added is the builder's", () => {
    const { arena, builder } = make();
    unwrap(builder.addSpecHandle(unwrap(arena.allocSpec(unwrap(rangeShard(range("a", "b")))))));
    builder.reset();
    expect(arena.liveSpecCount).toBe(0);
  });

  test("disposing clears the arena once, and ends the builder's use", () => {
    const { arena, builder } = make();
    const outside = unwrap(arena.allocSpec(unwrap(rangeShard(range("y", "z")))));
    {
      using scoped = builder;
      unwrap(scoped.addRange(range("a", "b")));
    }
    expect([arena.liveSpecCount, arena.tryViewSpec(outside)]).toEqual([0, undefined]);

    const later = unwrap(arena.allocSpec(unwrap(rangeShard(range("y", "z")))));
    builder[Symbol.dispose]();
    expect(arena.viewSpec(later).keyRangeStart).toEqual(ascii("y"));
    for (const use of [
      () => builder.addRange(range("a", "b")),
      () => builder.splitRangeByBoundaries({ ...range("a", "c"), splitPoints: [ascii("b")] }),
      () => builder.splitManifestByRows({ ...manifestRange(1n, 0n, 4n), rowsPerShard: 1n }),
      () => builder.buildInputs(),
      () => builder.reset(),
    ]) {
      expect(use).toThrow("a shard builder must not be used after it was disposed of");
    }
  });
});

describe("input of each shard type", () => {
  test("add range with inverted bounds returns range invalid", () => {
    const { arena, builder } = make();
    expect(builder.addRange(range("b", "a"))).toEqual(
      refused({ kind: "RangeInvalid", reason: { kind: "InvertedRange", startLen: 1, endLen: 1 } }),
    );
    expect(
      builder.addRangeWithCursor({ ...range("a", "b"), connectorExtra: filled(MAX_METADATA_SIZE) }, Cursor.initial()),
    ).toMatchObject({
      error: { kind: "RangeInvalid", reason: { kind: "MetadataTooLarge" } },
    });
    expect([builder.length, arena.liveSpecCount]).toEqual([0, 0]);
  });

  test("add prefix with empty prefix returns prefix invalid", () => {
    const { arena, builder } = make();
    expect(builder.addPrefix({ prefix: bytes() })).toEqual(
      refused({ kind: "PrefixInvalid", reason: { kind: "EmptyPrefix" } }),
    );
    expect(builder.addPrefixWithCursor({ prefix: hex("ff") }, Cursor.initial())).toEqual(
      refused({ kind: "PrefixInvalid", reason: { kind: "NoSuccessor" } }),
    );
    expect([builder.length, arena.liveSpecCount]).toEqual([0, 0]);
  });

  test("add manifest with inverted rows returns manifest ctor invalid", () => {
    const { arena, builder } = make();
    expect(builder.addManifest(manifestRange(1n, 5n, 5n))).toEqual(
      refused({ kind: "ManifestCtorInvalid", reason: { kind: "InvertedRange", startLen: 16, endLen: 16 } }),
    );
    expect([builder.length, arena.liveSpecCount]).toEqual([0, 0]);
  });

  test("a cursor that is none is refused before anything is staged", () => {
    const { arena, builder } = make();
    for (const cursor of [undefined, null, { lastKey: "a" }, { token: ascii("t") }]) {
      expect(() => builder.addRangeWithCursor(range("a", "b"), cursor as never)).toThrow(InvariantViolation);
      expect(() => builder.addPrefixWithCursor({ prefix: ascii("a") }, cursor as never)).toThrow(InvariantViolation);
      expect(() => builder.addManifestWithCursor(manifestRange(1n, 0n, 1n), cursor as never)).toThrow(
        InvariantViolation,
      );
    }
    expect([builder.length, arena.liveSpecCount]).toEqual([0, 0]);
  });

  test("hints are written as the constructors write them", () => {
    const { builder } = make();
    unwrap(builder.addManifest(manifestRange(7n, 16n, 32n)));
    expect(unwrap(decodeHint(unwrap(builder.buildInputs())[0]!.spec))).toEqual(manifestHint(7n, 16n, 32n));
    expect(() => builder.addManifest(manifestRange(7n, 16n, U64_MAX + 1n))).toThrow(InvariantViolation);
  });
});
