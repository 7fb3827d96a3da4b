// A hint tells a connector which rows or which prefix a shard stands for. One that decodes to something else sends it to the
// wrong data; a decoder that throws, or reads past its input, lets stored bytes take a worker down.
import { MAX_METADATA_SIZE, U64_MAX } from "@gossip/contracts";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { anyHint, manifestHint } from "./hints.fixture.ts";
import { ascii, bytes, filled, hex, join, NOT_BYTES, toHex, u64 } from "../keys.fixture.ts";
import { MetadataBuf } from "./metadata-buf.ts";
import { ShardHintView } from "./shard-hint-view.ts";
import { ShardHint } from "./shard-hint.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

/** All ways to encode, checked to agree. */
function encode(hint: ShardHint): ReturnType<typeof ShardHint.encode> {
  const encoded = ShardHint.encode(hint);
  const out = new MetadataBuf();
  out.copyFromSlice(ascii("before"));
  const into = ShardHint.encodeInto(hint, out);
  const length = ShardHint.encodedLength(hint);
  if (encoded.ok) {
    expect(into.ok && out.toOwned()).toEqual(encoded.value);
    expect(length).toEqual({ ok: true, value: encoded.value.length });
  } else {
    expect([into, length]).toEqual([encoded, encoded]);
    expect(out.toOwned()).toEqual(ascii("before"));
  }
  return encoded;
}

/** All ways to decode, checked to agree. */
function decode(data: Uint8Array): ReturnType<typeof ShardHint.decode> {
  const decoded = ShardHint.decode(data);
  const view = new ShardHintView();
  const looked = view.decode(data);
  if (decoded.ok) {
    expect(looked.ok).toBe(true);
    expect({ hint: view.toOwned(), consumed: view.consumed }).toEqual(decoded.value);
    expect(view.kind).toBe(decoded.value.hint.kind);
  } else {
    expect(looked).toEqual(decoded);
    expect([view.kind, view.consumed]).toEqual(["Range", 1]);
  }
  return decoded;
}

function refusal(data: Uint8Array): unknown {
  const decoded = decode(data);
  return decoded.ok ? undefined : decoded.error;
}

describe("ShardHint round trip", () => {
  test("shard hint range roundtrip", () => {
    expect(toHex(unwrap(encode(ShardHint.RANGE)))).toBe("00");
    expect(decode(hex("00"))).toEqual({ ok: true, value: { hint: { kind: "Range" }, consumed: 1 } });
  });

  test("shard hint prefix roundtrip", () => {
    const hint: ShardHint = { kind: "Prefix", prefix: ascii("ab") };
    expect(toHex(unwrap(encode(hint)))).toBe("01000000026162");
    expect(decode(hex("01000000026162"))).toEqual({ ok: true, value: { hint, consumed: 7 } });
    expect(unwrap(encode({ kind: "Prefix", prefix: bytes() }))).toEqual(hex("0100000000"));
  });

  test("shard hint manifest roundtrip", () => {
    const hint = manifestHint(1n, 2n, U64_MAX);
    const encoded = hex("02 0000000000000001 0000000000000002 ffffffffffffffff");
    expect(unwrap(encode(hint))).toEqual(encoded);
    expect(decode(encoded)).toEqual({ ok: true, value: { hint, consumed: 25 } });
  });

  test("shard hint proptest roundtrip", () => {
    fc.assert(
      fc.property(anyHint, (hint) => {
        const encoded = unwrap(encode(hint));
        expect(decode(encoded)).toEqual({ ok: true, value: { hint, consumed: encoded.length } });
      }),
      { numRuns: 500 },
    );
  });

  test("a decoded hint owns its bytes", () => {
    const data = hex("01000000026162");
    const { hint } = unwrap(ShardHint.decode(data));
    data.fill(0);
    expect(hint).toEqual({ kind: "Prefix", prefix: ascii("ab") });
  });

  test("every byte string is a hint or an error, and a hint encodes to what it was decoded from", () => {
    const tagged = fc
      .tuple(fc.constantFrom(0, 1, 2, 3), fc.uint8Array({ maxLength: 40 }))
      .map(([tag, rest]) => join(bytes(tag), rest));
    const prefixed = fc
      .tuple(fc.nat(6), fc.uint8Array({ maxLength: 8 }))
      .map(([size, rest]) => join(bytes(1, 0, 0, 0, size), rest));
    const rows = fc.tuple(u64, u64, u64, fc.uint8Array({ maxLength: 3 })).map(([id, start, end, rest]) => {
      const data = join(filled(25, 2), rest);
      const view = new DataView(data.buffer);
      [id, start, end].forEach((value, index) => view.setBigUint64(1 + 8 * index, value));
      return data;
    });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 40 }), tagged, prefixed, rows), (data) => {
        const decoded = decode(data);
        if (!decoded.ok) return;
        const { hint, consumed } = decoded.value;
        expect(consumed).toBeGreaterThan(0);
        expect(consumed).toBeLessThanOrEqual(data.length);
        expect(unwrap(encode(hint))).toEqual(data.slice(0, consumed));
      }),
      { numRuns: 3000 },
    );
  });
});

describe("ShardHint decode", () => {
  test("shard hint decode rejects empty data", () => {
    expect(refusal(bytes())).toEqual({ kind: "EmptyData" });
  });

  test("shard hint decode rejects unknown tag", () => {
    for (let tag = 3; tag < 256; tag++)
      expect(refusal(join(bytes(tag), filled(30)))).toEqual({ kind: "UnknownTag", tag });
  });

  test("shard hint decode rejects truncated prefix header", () => {
    for (let size = 1; size < 5; size++) {
      expect(refusal(hex("01ffffffff").subarray(0, size))).toEqual({
        kind: "TruncatedPrefix",
        expectedMin: 5,
        actual: size,
      });
    }
  });

  test("shard hint decode rejects truncated prefix payload", () => {
    expect(refusal(hex("0100000002"))).toEqual({ kind: "TruncatedPrefix", expectedMin: 7, actual: 5 });
    expect(refusal(hex("010000000261"))).toEqual({ kind: "TruncatedPrefix", expectedMin: 7, actual: 6 });
    expect(refusal(hex("01ffffffff61"))).toEqual({ kind: "TruncatedPrefix", expectedMin: 5 + 0xffff_ffff, actual: 6 });
    expect(refusal(hex("018000000061"))).toEqual({ kind: "TruncatedPrefix", expectedMin: 5 + 2 ** 31, actual: 6 });
  });

  test("shard hint decode rejects truncated manifest", () => {
    const whole = unwrap(ShardHint.encode(manifestHint(1n, 2n, 3n)));
    for (let size = 1; size < 25; size++) {
      expect(refusal(whole.subarray(0, size))).toEqual({ kind: "TruncatedManifest", expectedMin: 25, actual: size });
    }
  });

  test("shard hint decode rejects inverted manifest rows", () => {
    const data = hex("02 0000000000000001 0000000000000009 0000000000000003");
    expect(refusal(data)).toEqual({ kind: "InvertedManifestRows", startRow: 9n, endRow: 3n });
  });

  test("shard hint decode rejects equal manifest rows", () => {
    const data = hex("02 0000000000000001 0000000000000003 0000000000000003");
    expect(refusal(data)).toEqual({ kind: "InvertedManifestRows", startRow: 3n, endRow: 3n });
  });

  test("shard hint decode rejects raw inverted manifest", () => {
    const high = hex("02 0000000000000001 ffffffff00000000 00000000ffffffff");
    expect(refusal(high)).toEqual({ kind: "InvertedManifestRows", startRow: 0xffffffff00000000n, endRow: 0xffffffffn });
    const low = hex("02 0000000000000001 00000000ffffffff 00000000fffffffe");
    expect(refusal(low)).toEqual({ kind: "InvertedManifestRows", startRow: 0xffffffffn, endRow: 0xfffffffen });
  });

  test("rows are accepted exactly when they are in order", () => {
    fc.assert(
      fc.property(u64, u64, (startRow, endRow) => {
        const data = filled(25, 2);
        const view = new DataView(data.buffer);
        view.setBigUint64(9, startRow);
        view.setBigUint64(17, endRow);
        expect(decode(data).ok).toBe(startRow < endRow);
        expect(encode(manifestHint(1n, startRow, endRow)).ok).toBe(startRow < endRow);
      }),
    );
  });

  test("shard hint decode returns consumed length with trailing bytes", () => {
    const tail = ascii("tail");
    fc.assert(
      fc.property(anyHint, (hint) => {
        const encoded = unwrap(encode(hint));
        expect(decode(join(encoded, tail))).toEqual({ ok: true, value: { hint, consumed: encoded.length } });
      }),
    );
  });
});

describe("ShardHint encode", () => {
  test("shard hint encode rejects inverted manifest rows", () => {
    expect(encode(manifestHint(1n, 9n, 3n))).toEqual({
      ok: false,
      error: { kind: "InvertedManifestRows", startRow: 9n, endRow: 3n },
    });
  });

  test("shard hint encode rejects equal manifest rows", () => {
    expect(encode(manifestHint(1n, 3n, 3n))).toEqual({
      ok: false,
      error: { kind: "InvertedManifestRows", startRow: 3n, endRow: 3n },
    });
  });

  test("a prefix fills a hint to the last byte, and not beyond", () => {
    const largest = MAX_METADATA_SIZE - 5;
    expect(unwrap(encode({ kind: "Prefix", prefix: filled(largest) })).length).toBe(MAX_METADATA_SIZE);
    expect(encode({ kind: "Prefix", prefix: filled(largest + 1) })).toEqual({
      ok: false,
      error: { kind: "HintTooLarge", size: MAX_METADATA_SIZE + 1, max: MAX_METADATA_SIZE },
    });
  });

  test("a prefix longer than its length field can say is refused as that", () => {
    // An array that claims to be so long, instead of an allocation of 4 GiB.
    const huge = Object.defineProperty(bytes(), "length", { value: 2 ** 32 });
    const refused = { ok: false, error: { kind: "PrefixTooLarge", size: 2 ** 32, max: 2 ** 32 - 1 } };
    expect(ShardHint.encodedLength({ kind: "Prefix", prefix: huge })).toEqual(refused);
    expect(encode({ kind: "Prefix", prefix: huge })).toEqual(refused);
  });

  test("the prefix may be a view of the buffer", () => {
    const out = new MetadataBuf();
    out.copyFromSlice(ascii("xxabcdef"));
    unwrap(ShardHint.encodeInto({ kind: "Prefix", prefix: out.asBytes().subarray(2, 6) }, out));
    expect(toHex(out.toOwned())).toBe("010000000461626364");
  });

  test("what is no hint is refused with a sentence", () => {
    const wrong = [
      undefined,
      null,
      7,
      "Range",
      {},
      { kind: "Rows" },
      { kind: "Prefix" },
      { kind: "Prefix", prefix: "a" },
      { ...manifestHint(1n, 2n, 3n), endRow: 3 },
      manifestHint(-1n, 2n, 3n),
      manifestHint(1n, 2n, U64_MAX + 1n),
    ];
    for (const hint of wrong) {
      expect(() => ShardHint.encode(hint as ShardHint)).toThrow(InvariantViolation);
      expect(() => ShardHint.encodeInto(hint as ShardHint, new MetadataBuf())).toThrow(InvariantViolation);
      expect(() => ShardHint.encodedLength(hint as ShardHint)).toThrow(/must be/);
      expect(() => ShardHint.toJson(hint as ShardHint)).toThrow(InvariantViolation);
    }
    expect(() => ShardHint.encodeInto(ShardHint.RANGE, new Uint8Array(9) as never)).toThrow(
      "out must be a MetadataBuf",
    );
    for (const value of NOT_BYTES) {
      expect(() => ShardHint.decode(value as Uint8Array)).toThrow("bytes must be a Uint8Array");
      expect(() => new ShardHintView().decode(value as Uint8Array)).toThrow("bytes must be a Uint8Array");
    }
  });
});

describe("ShardHintView", () => {
  test("shows the parts of its kind, and none of another's", () => {
    const view = new ShardHintView();
    expect(view.kind).toBe("Range");
    expect(() => view.prefix).toThrow("only a prefix hint has a prefix");
    expect(() => view.startRow).toThrow("only a manifest hint has a manifest and rows");

    unwrap(view.decode(unwrap(ShardHint.encode({ kind: "Prefix", prefix: ascii("ab") }))));
    expect(view.prefix).toEqual(ascii("ab"));
    expect(() => view.manifestId).toThrow(InvariantViolation);

    unwrap(view.decode(unwrap(ShardHint.encode(manifestHint(7n, 16n, 32n)))));
    expect([view.manifestId, view.startRow, view.endRow]).toEqual([7n, 16n, 32n]);
    expect(() => view.prefix).toThrow(InvariantViolation);
  });

  test("a failed look leaves it as it was", () => {
    const view = new ShardHintView();
    unwrap(view.decode(unwrap(ShardHint.encode(manifestHint(7n, 16n, 32n)))));
    expect(view.decode(hex("07")).ok).toBe(false);
    expect([view.kind, view.consumed, view.endRow]).toEqual(["Manifest", 25, 32n]);
  });
});

describe("ShardHint in JSON", () => {
  test("comes back as it was", () => {
    fc.assert(
      fc.property(anyHint, (hint) => {
        const text = JSON.stringify(ShardHint.toJson(hint));
        expect(ShardHint.fromJson(JSON.parse(text))).toEqual({ ok: true, value: hint });
      }),
    );
    expect(ShardHint.toJson(manifestHint(7n, 16n, 32n))).toEqual({
      kind: "Manifest",
      manifestId: "0000000000000007",
      startRow: "0000000000000010",
      endRow: "0000000000000020",
    });
    expect(ShardHint.toJson({ kind: "Prefix", prefix: hex("fbff") })).toEqual({ kind: "Prefix", prefix: "-_8" });
  });

  test("anything else is refused, and rows out of order by their own kind", () => {
    expect(ShardHint.fromJson({ kind: "Rows" })).toMatchObject({
      ok: false,
      error: { kind: "InvalidField", field: "kind" },
    });
    expect(ShardHint.fromJson({ kind: "Prefix", prefix: "=" })).toMatchObject({
      ok: false,
      error: { field: "prefix" },
    });
    const rows = {
      kind: "Manifest",
      manifestId: "0000000000000007",
      startRow: "0000000000000020",
      endRow: "0000000000000010",
    };
    expect(ShardHint.fromJson(rows)).toEqual({
      ok: false,
      error: { kind: "InvertedManifestRows", startRow: 32n, endRow: 16n },
    });
    for (const json of [null, 7, [], "Range"]) expect(ShardHint.fromJson(json).ok).toBe(false);
  });
});
