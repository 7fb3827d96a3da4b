// A manifest is worked on by row. If a row's key sorted elsewhere than the row, a range of rows would hold others; if two rows
// had one key, one would never be visited.
import { U64_MAX } from "@gossip/contracts";
import { compareBytes, InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { KeyBuf } from "./key-buf.ts";
import { encodeKey } from "./key-encoding.ts";
import { filled, NOT_BYTES, toHex, u64 } from "../keys.fixture.ts";
import { decodeManifestRowKey, ManifestRowKey } from "./manifest-row-key.ts";
import { compareU64, readU32, readU64 } from "./u64-bytes.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

const rowKey = fc.record({ manifestId: u64, row: u64 }).map((parts) => new ManifestRowKey(parts));

describe("ManifestRowKey", () => {
  test("manifest row key encoding preserves logical order", () => {
    const near = fc
      .record({ manifestId: fc.bigInt(0n, 2n), row: fc.bigInt(0n, 300n) })
      .map((parts) => new ManifestRowKey(parts));
    for (const key of [near, rowKey]) {
      fc.assert(
        fc.property(key, key, (a, b) => {
          const logical = Number(a.manifestId - b.manifestId) || Number(a.row - b.row);
          expect(Math.sign(compareBytes(encodeKey(a), encodeKey(b)))).toBe(Math.sign(logical));
          expect(ManifestRowKey.compare(a, b)).toBe(Math.sign(logical));
        }),
        { numRuns: 500 },
      );
    }
  });

  test("manifest row key is fixed width and decodes", () => {
    const key = new ManifestRowKey({ manifestId: 0x0102030405060708n, row: 0xfffefdfcfbfaf9f8n });
    expect(toHex(encodeKey(key))).toBe("0102030405060708fffefdfcfbfaf9f8");
    expect(ManifestRowKey.ENCODED_LEN).toBe(16);
    expect(encodeKey(new ManifestRowKey({ manifestId: 0n, row: 0n }))).toEqual(filled(16, 0));
    expect(encodeKey(new ManifestRowKey({ manifestId: U64_MAX, row: U64_MAX }))).toEqual(filled(16, 0xff));
    expect(decodeManifestRowKey(encodeKey(key))).toEqual(key);
  });

  test("manifest row key encode decode roundtrip", () => {
    fc.assert(
      fc.property(rowKey, (key) => {
        const decoded = decodeManifestRowKey(encodeKey(key))!;
        expect([decoded.manifestId, decoded.row]).toEqual([key.manifestId, key.row]);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (encoded) => {
        expect(encodeKey(decodeManifestRowKey(encoded)!)).toEqual(encoded);
      }),
    );
  });

  test("decode manifest row key rejects non fixed width inputs", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (encoded) => {
        expect(decodeManifestRowKey(encoded) === undefined).toBe(encoded.length !== 16);
      }),
    );
    for (const size of [0, 8, 15, 17, 32]) expect(decodeManifestRowKey(filled(size))).toBeUndefined();
  });

  test("integers that do not fit are refused, each field by name", () => {
    for (const wrong of [-1n, U64_MAX + 1n, 7 as unknown as bigint, undefined as unknown as bigint]) {
      expect(() => new ManifestRowKey({ manifestId: wrong, row: 0n })).toThrow(
        "manifest id must be a bigint from 0 to 2^64 - 1",
      );
      expect(() => new ManifestRowKey({ manifestId: 0n, row: wrong })).toThrow(InvariantViolation);
      expect(ManifestRowKey.tryNew({ manifestId: wrong, row: wrong })).toEqual({
        ok: false,
        error: { kind: "NotU64", field: "manifestId" },
      });
      expect(ManifestRowKey.tryNew({ manifestId: 0n, row: wrong })).toEqual({
        ok: false,
        error: { kind: "NotU64", field: "row" },
      });
    }
    expect(ManifestRowKey.tryNew({ manifestId: 0n, row: U64_MAX })).toEqual({
      ok: true,
      value: new ManifestRowKey({ manifestId: 0n, row: U64_MAX }),
    });
  });

  test("other arguments that are wrong are refused with a sentence", () => {
    for (const value of NOT_BYTES)
      expect(() => decodeManifestRowKey(value as Uint8Array)).toThrow("key must be a Uint8Array");
    for (const value of [undefined, null, 7]) {
      expect(() => new ManifestRowKey(value as never)).toThrow(InvariantViolation);
      expect(() => ManifestRowKey.tryNew(value as never)).toThrow(InvariantViolation);
    }
    const key = new ManifestRowKey({ manifestId: 1n, row: 2n });
    expect(() => ManifestRowKey.compare(key, {} as ManifestRowKey)).toThrow(InvariantViolation);
    expect(() => key.encodeInto({} as KeyBuf)).toThrow("out must be a KeyBuf");
  });
});

test("big-endian integers are read as they were written, and compared as they are", () => {
  fc.assert(
    fc.property(u64, u64, fc.nat(5), (a, b, offset) => {
      const bytes = filled(offset + 17, 0xee);
      const view = new DataView(bytes.buffer);
      view.setBigUint64(offset, a);
      view.setBigUint64(offset + 8, b);
      expect([readU64(bytes, offset), readU64(bytes, offset + 8)]).toEqual([a, b]);
      expect(readU32(bytes, offset)).toBe(view.getUint32(offset));
      expect(Math.sign(compareU64(bytes, offset, offset + 8))).toBe(a < b ? -1 : Number(a > b));
    }),
  );
});
