// These turn typed keys into the ranges that everything above works on. A bound that is off by one key, or refused by another
// name than promised, is found only when a shard is missing work.
import { MAX_KEY_SIZE, MAX_METADATA_SIZE, ShardArena, ShardSpec, U64_MAX } from "@gossip/contracts";
import { InvariantViolation, startsWith, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { agreeing } from "./constructor-forms.fixture.ts";
import { manifestRange } from "../hints/hints.fixture.ts";
import { encodeKey, type KeyEncoding } from "../keys/key-encoding.ts";
import { anyKey, ascii, bytes, denseKey, filled, hex, u64 } from "../keys.fixture.ts";
import { ManifestRowKey } from "../keys/manifest-row-key.ts";
import { PathKey } from "../keys/path-key.ts";
import { prefixSuccessor } from "../arithmetic/successors.ts";
import {
  rangeShard,
  shardSpecFromKeys,
  shardSpecFromKeysInto,
  shardSpecFromKeysRef,
  shardSpecFromManifestRange,
  shardSpecFromManifestRangeInto,
  shardSpecFromManifestRangeRef,
  shardSpecFromPrefix,
  shardSpecFromPrefixInto,
  shardSpecFromPrefixRef,
} from "./shard-constructors.ts";
import { ShardSpecScratch } from "./shard-spec-scratch.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

const fromKeys = agreeing({ owned: shardSpecFromKeys, ref: shardSpecFromKeysRef, into: shardSpecFromKeysInto });
const fromPrefix = agreeing({ owned: shardSpecFromPrefix, ref: shardSpecFromPrefixRef, into: shardSpecFromPrefixInto });
const fromRows = agreeing({
  owned: shardSpecFromManifestRange,
  ref: shardSpecFromManifestRangeRef,
  into: shardSpecFromManifestRangeInto,
});

function raw(key: Uint8Array): KeyEncoding {
  return { encodeInto: (out) => out.copyFromSlice(key) };
}

const refused = (error: unknown): object => ({ ok: false, error });

describe("shardSpecFromKeys", () => {
  test("has the keys' bytes as bounds, and the metadata as it is", () => {
    const spec = fromKeys({ start: new PathKey("a"), end: new PathKey("b"), metadata: ascii("m") });
    expect(spec).toEqual({
      ok: true,
      value: { keyRangeStart: ascii("a"), keyRangeEnd: ascii("b"), metadata: ascii("m") },
    });
    expect(unwrap(fromKeys({ start: raw(bytes()), end: raw(bytes()) }))).toEqual(ShardSpec.unbounded());
  });

  test("accepts exactly what a spec may be", () => {
    fc.assert(
      fc.property(anyKey, anyKey, (start, end) => {
        const expected = ShardSpec.tryWithRange({ start, end });
        expect(fromKeys({ start: raw(start), end: raw(end) }).ok).toBe(expected.ok);
      }),
    );
  });

  test("shard spec from keys surfaces oversized encoded boundary", () => {
    const long = raw(filled(MAX_KEY_SIZE + 1));
    const tooLarge = refused({ kind: "KeyTooLarge", size: MAX_KEY_SIZE + 1, max: MAX_KEY_SIZE });
    expect(fromKeys({ start: long, end: raw(ascii("b")) })).toEqual(tooLarge);
    expect(fromKeys({ start: raw(ascii("a")), end: long })).toEqual(tooLarge);
    expect(fromKeys({ start: raw(ascii("a")), end: raw(filled(MAX_KEY_SIZE, 0x62)) }).ok).toBe(true);
  });

  test("checks sizes, then metadata, then order", () => {
    const metadata = filled(MAX_METADATA_SIZE + 1);
    const long = raw(filled(MAX_KEY_SIZE + 1));
    expect(fromKeys({ start: raw(ascii("b")), end: long, metadata })).toMatchObject({ error: { kind: "KeyTooLarge" } });
    expect(fromKeys({ start: raw(ascii("b")), end: raw(ascii("a")), metadata })).toEqual(
      refused({ kind: "MetadataTooLarge", size: MAX_METADATA_SIZE + 1, max: MAX_METADATA_SIZE }),
    );
    expect(fromKeys({ start: raw(ascii("ba")), end: raw(ascii("a")) })).toEqual(
      refused({ kind: "InvertedRange", startLen: 2, endLen: 1 }),
    );
  });

  test("an encoding may itself make specs", () => {
    const nested: KeyEncoding = {
      encodeInto(out) {
        const inner = unwrap(rangeShard({ start: ascii("x"), end: ascii("y") }));
        out.copyFromSlice(inner.keyRangeEnd);
      },
    };
    expect(unwrap(fromKeys({ start: new PathKey("a"), end: nested }))).toMatchObject({
      keyRangeStart: ascii("a"),
      keyRangeEnd: ascii("y"),
    });
  });

  test("an encoding that throws leaves the owned form usable", () => {
    const broken: KeyEncoding = { encodeInto: () => expect.unreachable() };
    expect(() => shardSpecFromKeys({ start: broken, end: new PathKey("b") })).toThrow();
    expect(shardSpecFromKeys({ start: new PathKey("a"), end: new PathKey("b") }).ok).toBe(true);
  });
});

describe("shardSpecFromPrefix", () => {
  test("shard spec from prefix produces valid half open range", () => {
    fc.assert(
      fc.property(anyKey, (prefix) => {
        const built = fromPrefix({ prefix });
        const end = prefixSuccessor(prefix);
        expect(built.ok).toBe(end !== undefined);
        if (built.ok) expect(built.value).toEqual(unwrap(ShardSpec.tryWithRange({ start: prefix, end: end! })));
      }),
    );
    fc.assert(
      fc.property(denseKey({ min: 1 }), denseKey(), (prefix, key) => {
        const built = fromPrefix({ prefix });
        fc.pre(built.ok);
        expect(ShardSpec.containsKey(built.value, key)).toBe(startsWith(key, prefix));
      }),
    );
  });

  test("each way to be no prefix has its kind, and the first decides", () => {
    const metadata = filled(MAX_METADATA_SIZE + 1);
    expect(fromPrefix({ prefix: bytes(), metadata })).toEqual(refused({ kind: "EmptyPrefix" }));
    expect(fromPrefix({ prefix: filled(MAX_KEY_SIZE + 1, 0xff), metadata })).toEqual(
      refused({ kind: "PrefixTooLarge", size: MAX_KEY_SIZE + 1, max: MAX_KEY_SIZE }),
    );
    expect(fromPrefix({ prefix: hex("ffff"), metadata })).toEqual(refused({ kind: "NoSuccessor" }));
    expect(fromPrefix({ prefix: ascii("a"), metadata })).toEqual(
      refused({
        kind: "InvalidShardSpec",
        reason: { kind: "MetadataTooLarge", size: MAX_METADATA_SIZE + 1, max: MAX_METADATA_SIZE },
      }),
    );
  });
});

describe("shardSpecFromManifestRange", () => {
  test("has the rows' keys as bounds, and the metadata as it is", () => {
    const spec = unwrap(fromRows({ ...manifestRange(7n, 16n, 32n), metadata: ascii("m") }));
    expect(spec.keyRangeStart).toEqual(encodeKey(new ManifestRowKey({ manifestId: 7n, row: 16n })));
    expect(spec.keyRangeEnd).toEqual(encodeKey(new ManifestRowKey({ manifestId: 7n, row: 32n })));
    expect(spec.metadata).toEqual(ascii("m"));
  });

  test("shard spec from manifest range rejects inverted or degenerate", () => {
    fc.assert(
      fc.property(u64, u64, u64, (id, start, end) => {
        const built = fromRows(manifestRange(id, start, end));
        expect(built.ok).toBe(start < end);
        if (!built.ok) expect(built.error).toEqual({ kind: "InvertedRange", startLen: 16, endLen: 16 });
      }),
    );
    expect(fromRows(manifestRange(1n, 3n, 3n)).ok).toBe(false);
  });
});

describe("borrowed specs", () => {
  const input = { start: new PathKey("a"), end: new PathKey("b") };

  test("a borrow that outlived its scratch throws, whatever was written", () => {
    const writes: ((scratch: ShardSpecScratch) => void)[] = [
      (scratch) => void unwrap(shardSpecFromKeysRef(input, scratch)),
      (scratch) => scratch.start.copyFromSlice(ascii("z")),
      (scratch) => scratch.end.commit(0),
      (scratch) => scratch.metadata.copyFromSlice(bytes()),
    ];
    for (const write of writes) {
      const scratch = new ShardSpecScratch();
      const borrowed = unwrap(shardSpecFromKeysRef(input, scratch));
      expect(borrowed.keyRangeStart).toEqual(ascii("a"));
      write(scratch);
      for (const read of [
        () => borrowed.keyRangeStart,
        () => borrowed.keyRangeEnd,
        () => borrowed.metadata,
        () => borrowed.toOwned(),
      ]) {
        expect(read).toThrow(new InvariantViolation("shard spec outlived its scratch, which was written again"));
      }
    }
  });

  test("what was copied out stays, and two scratches do not disturb each other", () => {
    const [first, second] = [new ShardSpecScratch(), new ShardSpecScratch()];
    const borrowed = unwrap(shardSpecFromKeysRef(input, first));
    const owned = borrowed.toOwned();
    unwrap(shardSpecFromKeysRef({ start: new PathKey("x"), end: new PathKey("y") }, second));
    expect(borrowed.keyRangeEnd).toEqual(ascii("b"));
    unwrap(shardSpecFromKeysRef({ start: new PathKey("x"), end: new PathKey("y") }, first));
    expect(owned.keyRangeEnd).toEqual(ascii("b"));
  });

  test("owned specs share nothing with each other or with what they were made of", () => {
    const prefix = ascii("ab");
    const first = unwrap(shardSpecFromPrefix({ prefix }));
    prefix.fill(0);
    unwrap(shardSpecFromPrefix({ prefix: ascii("zz") }));
    expect(first).toMatchObject({ keyRangeStart: ascii("ab"), keyRangeEnd: ascii("ac") });
  });

  test("an arena without room is reported as that", () => {
    const scratch = new ShardSpecScratch();
    const arena = ShardArena.withCapacity({ specSlots: 1, byteCapacity: 16 });
    const full = shardSpecFromKeysInto(input, scratch, arena);
    expect(full).toMatchObject({ ok: false, error: { kind: "SlabFull", requested: 16 } });
    expect(arena.liveSpecCount).toBe(0);
  });
});

test("wrong arguments are refused with a sentence", () => {
  const scratch = new ShardSpecScratch();
  const arena = ShardArena.withCapacity({ specSlots: 1, byteCapacity: 64 });
  const good = { start: new PathKey("a"), end: new PathKey("b") };
  for (const value of [undefined, null, 7, "a"]) {
    for (const build of [shardSpecFromKeys, shardSpecFromPrefix, shardSpecFromManifestRange]) {
      expect(() => build(value as never)).toThrow("the parts of a shard spec must be an object");
    }
    expect(() => shardSpecFromKeysRef(good, value as never)).toThrow("scratch must be a ShardSpecScratch");
    expect(() => shardSpecFromKeysInto(good, scratch, value as never)).toThrow("arena must be a ShardArena");
    expect(() => shardSpecFromKeysInto(good, value as never, arena)).toThrow(InvariantViolation);
  }
  expect(() => shardSpecFromKeys({ ...good, end: {} as never })).toThrow("end must have a method encodeInto");
  expect(() => shardSpecFromKeys({ ...good, metadata: "m" as never })).toThrow("metadata must be a Uint8Array");
  expect(() => shardSpecFromPrefix({ prefix: "a" as never })).toThrow("prefix must be a Uint8Array");
  expect(() => shardSpecFromManifestRange(manifestRange(1n, 2n, U64_MAX + 1n))).toThrow(
    "manifest row must be a bigint from 0 to 2^64 - 1",
  );
});
