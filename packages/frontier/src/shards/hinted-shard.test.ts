// These write the hint that a connector will read beside the range that a coordinator will lease. If the two disagree, the worker
// does other work than it was given.
import { MAX_KEY_SIZE, MAX_METADATA_SIZE, ShardSpec } from "@gossip/contracts";
import { startsWith, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { agreeing } from "./constructor-forms.fixture.ts";
import { decodeConnectorExtra, decodeHint, decodeMetadata } from "../hints/decode-metadata.ts";
import { manifestHint, manifestRange } from "../hints/hints.fixture.ts";
import { anyKey, ascii, bytes, denseKey, filled, hex, join, toHex } from "../keys.fixture.ts";
import {
  manifestShard,
  manifestShardInto,
  manifestShardRef,
  prefixShard,
  prefixShardInto,
  prefixShardRef,
  rangeShard,
  rangeShardInto,
  rangeShardRef,
  shardSpecFromManifestRange,
  shardSpecFromPrefix,
} from "./shard-constructors.ts";
import { ShardSpecScratch } from "./shard-spec-scratch.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

const range = agreeing({ owned: rangeShard, ref: rangeShardRef, into: rangeShardInto });
const prefixed = agreeing({ owned: prefixShard, ref: prefixShardRef, into: prefixShardInto });
const rows = agreeing({ owned: manifestShard, ref: manifestShardRef, into: manifestShardInto });

const refused = (error: unknown): object => ({ ok: false, error });

describe("rangeShard", () => {
  test("range shard roundtrip with decode helpers", () => {
    const spec = unwrap(range({ start: ascii("a"), end: ascii("b"), connectorExtra: ascii("x") }));
    expect(unwrap(decodeMetadata(spec))).toEqual({ hint: { kind: "Range" }, connectorExtra: ascii("x") });
    expect(unwrap(decodeHint(spec))).toEqual({ kind: "Range" });
    expect(unwrap(decodeConnectorExtra(spec))).toEqual(ascii("x"));
    expect([spec.keyRangeStart, spec.keyRangeEnd]).toEqual([ascii("a"), ascii("b")]);
  });

  test("always frames its hint, and takes missing bounds", () => {
    expect(toHex(unwrap(range({ start: ascii("a"), end: ascii("b") })).metadata)).toBe("0000000100");
    expect(ShardSpec.isUnbounded(unwrap(range({ start: bytes(), end: bytes() })))).toBe(true);
  });

  test("accepts exactly what a spec may be", () => {
    fc.assert(
      fc.property(anyKey, anyKey, (start, end) => {
        const expected = ShardSpec.tryWithRange({ start, end });
        const built = range({ start, end });
        expect(built.ok).toBe(expected.ok);
        if (!built.ok) expect(built).toEqual(expected);
      }),
    );
  });

  test("range shard rejects oversized metadata", () => {
    const room = MAX_METADATA_SIZE - 5;
    expect(range({ start: ascii("a"), end: ascii("b"), connectorExtra: filled(room) }).ok).toBe(true);
    const tooLarge = refused({ kind: "MetadataTooLarge", size: MAX_METADATA_SIZE + 1, max: MAX_METADATA_SIZE });
    expect(range({ start: ascii("a"), end: ascii("b"), connectorExtra: filled(room + 1) })).toEqual(tooLarge);
    // Metadata is encoded before the spec is looked at.
    expect(range({ start: filled(5000), end: ascii("a"), connectorExtra: filled(room + 1) })).toEqual(tooLarge);
  });

  test("bounds of any size are measured, not cut off", () => {
    expect(range({ start: filled(70_000), end: ascii("b") })).toEqual(
      refused({ kind: "KeyTooLarge", size: 70_000, max: MAX_KEY_SIZE }),
    );
    expect(range({ start: ascii("a"), end: filled(70_000) })).toEqual(
      refused({ kind: "KeyTooLarge", size: 70_000, max: MAX_KEY_SIZE }),
    );
    expect(range({ start: ascii("b"), end: ascii("a") })).toEqual(
      refused({ kind: "InvertedRange", startLen: 1, endLen: 1 }),
    );
  });
});

describe("prefixShard", () => {
  test("prefix shard roundtrip with decode helpers", () => {
    const spec = unwrap(prefixed({ prefix: ascii("ab"), connectorExtra: ascii("x") }));
    expect(unwrap(decodeMetadata(spec))).toEqual({
      hint: { kind: "Prefix", prefix: ascii("ab") },
      connectorExtra: ascii("x"),
    });
    expect([spec.keyRangeStart, spec.keyRangeEnd]).toEqual([ascii("ab"), ascii("ac")]);
    expect(toHex(spec.metadata)).toBe("0000000701000000026162" + "78");
  });

  test("prefix shard rejects oversized prefix with prefix too large", () => {
    const prefix = filled(MAX_KEY_SIZE + 1);
    expect(prefixed({ prefix })).toEqual(
      refused({ kind: "PrefixTooLarge", size: MAX_KEY_SIZE + 1, max: MAX_KEY_SIZE }),
    );
    expect(prefixed({ prefix: filled(MAX_KEY_SIZE) }).ok).toBe(true);
  });

  test("prefix shard rejects all ff prefix", () => {
    expect(prefixed({ prefix: hex("ff") })).toEqual(refused({ kind: "NoSuccessor" }));
    expect(prefixed({ prefix: filled(MAX_KEY_SIZE, 0xff) })).toEqual(refused({ kind: "NoSuccessor" }));
  });

  test("prefix shard rejects empty prefix", () => {
    expect(prefixed({ prefix: bytes() })).toEqual(refused({ kind: "EmptyPrefix" }));
  });

  test("the first thing that is wrong decides", () => {
    const connectorExtra = filled(MAX_METADATA_SIZE);
    expect(prefixed({ prefix: bytes(), connectorExtra })).toEqual(refused({ kind: "EmptyPrefix" }));
    expect(prefixed({ prefix: filled(5000, 0xff), connectorExtra })).toMatchObject({
      error: { kind: "PrefixTooLarge" },
    });
    expect(prefixed({ prefix: hex("ff"), connectorExtra })).toEqual(refused({ kind: "NoSuccessor" }));
    expect(prefixed({ prefix: ascii("a"), connectorExtra })).toEqual(
      refused({
        kind: "InvalidShardSpec",
        reason: { kind: "MetadataTooLarge", size: MAX_METADATA_SIZE + 10, max: MAX_METADATA_SIZE },
      }),
    );
  });

  test("prefix shard contains all keys with prefix", () => {
    fc.assert(
      fc.property(denseKey({ min: 1 }), denseKey(), (prefix, key) => {
        const built = prefixed({ prefix });
        fc.pre(built.ok);
        expect(ShardSpec.containsKey(built.value, key)).toBe(startsWith(key, prefix));
        expect(ShardSpec.containsKey(built.value, join(prefix, key))).toBe(true);
        const plain = unwrap(shardSpecFromPrefix({ prefix }));
        expect([built.value.keyRangeStart, built.value.keyRangeEnd]).toEqual([plain.keyRangeStart, plain.keyRangeEnd]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("manifestShard", () => {
  test("manifest shard roundtrip with decode helpers", () => {
    const spec = unwrap(rows({ ...manifestRange(7n, 16n, 32n), connectorExtra: ascii("x") }));
    expect(unwrap(decodeMetadata(spec))).toEqual({ hint: manifestHint(7n, 16n, 32n), connectorExtra: ascii("x") });
    const plain = unwrap(shardSpecFromManifestRange(manifestRange(7n, 16n, 32n)));
    expect([spec.keyRangeStart, spec.keyRangeEnd]).toEqual([plain.keyRangeStart, plain.keyRangeEnd]);
  });

  test("manifest shard rejects inverted rows", () => {
    const inverted = refused({ kind: "InvertedRange", startLen: 16, endLen: 16 });
    expect(rows(manifestRange(7n, 3n, 2n))).toEqual(inverted);
    expect(rows(manifestRange(7n, 3n, 3n))).toEqual(inverted);
    // The hint is measured before the connector's bytes are.
    expect(rows({ ...manifestRange(7n, 3n, 3n), connectorExtra: filled(MAX_METADATA_SIZE) })).toEqual(inverted);
    expect(rows({ ...manifestRange(7n, 3n, 4n), connectorExtra: filled(MAX_METADATA_SIZE) })).toMatchObject({
      error: { kind: "MetadataTooLarge" },
    });
  });
});

test("parts that are given may be views of the scratch, any of any part of it", () => {
  const content = { start: ascii("aaaabbbb"), end: ascii("ccccdddd"), metadata: ascii("eeeeffff") };
  const parts = ["start", "end", "metadata"] as const;
  const fresh = (): ShardSpecScratch => {
    const scratch = new ShardSpecScratch();
    for (const part of parts) scratch[part].copyFromSlice(content[part]);
    return scratch;
  };
  for (const one of parts) {
    for (const two of parts) {
      for (const three of parts) {
        const views = (scratch: ShardSpecScratch): readonly [Uint8Array, Uint8Array, Uint8Array] => [
          scratch[one].asBytes().subarray(0, 4),
          scratch[two].asBytes().subarray(4),
          scratch[three].asBytes().subarray(2, 6),
        ];
        const copies = views(fresh()).map((view) => new Uint8Array(view)) as [Uint8Array, Uint8Array, Uint8Array];
        const expectSame = (
          build: (scratch: ShardSpecScratch, given: readonly [Uint8Array, Uint8Array, Uint8Array]) => unknown,
        ): void => {
          const scratch = fresh();
          expect(build(scratch, views(scratch))).toEqual(build(fresh(), copies));
        };
        expectSame((scratch, [start, end, connectorExtra]) =>
          ownedOr(rangeShardRef({ start, end, connectorExtra }, scratch)),
        );
        expectSame((scratch, [prefix, , connectorExtra]) =>
          ownedOr(prefixShardRef({ prefix, connectorExtra }, scratch)),
        );
        expectSame((scratch, [, , connectorExtra]) =>
          ownedOr(manifestShardRef({ ...manifestRange(1n, 2n, 3n), connectorExtra }, scratch)),
        );
      }
    }
  }
});

function ownedOr(built: ReturnType<typeof rangeShardRef> | ReturnType<typeof prefixShardRef>): unknown {
  return built.ok ? built.value.toOwned() : built.error;
}

test("wrong arguments are refused with a sentence", () => {
  expect(() => rangeShard({ start: "a" as never, end: bytes() })).toThrow("start must be a Uint8Array");
  expect(() => rangeShard({ start: bytes(), end: null as never })).toThrow("end must be a Uint8Array");
  expect(() => rangeShard({ start: bytes(), end: bytes(), connectorExtra: [] as never })).toThrow(
    "connectorExtra must be a Uint8Array",
  );
  expect(() => prefixShard({ prefix: undefined as never })).toThrow("prefix must be a Uint8Array");
  expect(() => manifestShard(manifestRange(1n, 2n, 3 as never))).toThrow("hint end row must be a bigint");
  for (const build of [rangeShard, prefixShard, manifestShard])
    expect(() => build(null as never)).toThrow("must be an object");
});
