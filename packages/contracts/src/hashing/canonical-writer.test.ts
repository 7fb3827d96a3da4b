// Hashes of these bytes are stored forever. A field written in another width or order would not fail: it would turn
// every retry into a conflict, and every derived id into a new shard.
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { denseKey, filled, NOT_BYTES, u64 } from "../arbitraries.fixture.ts";
import { CanonicalWriter } from "./canonical-writer.ts";

type Field =
  | { readonly kind: "u8" | "u32"; readonly value: number }
  | { readonly kind: "u64"; readonly value: bigint }
  | { readonly kind: "bytes"; readonly value: Uint8Array };

const field: fc.Arbitrary<Field> = fc.oneof(
  fc.record({ kind: fc.constant("u8" as const), value: fc.nat({ max: 0xff }) }),
  fc.record({ kind: fc.constant("u32" as const), value: fc.nat({ max: 0xffff_ffff }) }),
  fc.record({ kind: fc.constant("u64" as const), value: u64 }),
  fc.record({
    kind: fc.constant("bytes" as const),
    value: fc.oneof(denseKey({ min: 0, max: 3 }), fc.uint8Array({ maxLength: 400 })),
  }),
);

function write(out: CanonicalWriter, { kind, value }: Field): void {
  switch (kind) {
    case "u8":
      return out.u8(value);
    case "u32":
      return out.u32(value);
    case "u64":
      return out.u64(value);
    case "bytes":
      return out.bytes(value);
  }
}

/** The same layout by Node's Buffer, one field at a time. */
function expected({ kind, value }: Field): Buffer {
  const out = Buffer.alloc(kind === "u8" ? 1 : kind === "u64" ? 8 : 4);
  switch (kind) {
    case "u8":
      out.writeUInt8(value);
      return out;
    case "u32":
      out.writeUInt32LE(value);
      return out;
    case "u64":
      out.writeBigUInt64LE(value);
      return out;
    case "bytes":
      out.writeUInt32LE(value.length);
      return Buffer.concat([out, value]);
  }
}

describe("CanonicalWriter", () => {
  test("writes integers little-endian and bytes behind their length, however it grew", () => {
    const reused = new CanonicalWriter();
    fc.assert(
      fc.property(fc.array(field, { maxLength: 40 }), (fields) => {
        const fresh = new CanonicalWriter();
        reused.reset();
        for (const one of fields) {
          write(fresh, one);
          write(reused, one);
        }
        const bytes = new Uint8Array(Buffer.concat(fields.map(expected)));
        expect(new Uint8Array(fresh.view())).toEqual(bytes);
        expect(new Uint8Array(reused.view())).toEqual(bytes);
        expect(reused.length).toBe(bytes.length);
      }),
    );
  });

  test("writes fixed bytes as they are", () => {
    const out = new CanonicalWriter();
    out.fixedBytes(Uint8Array.of(1, 2, 3));
    expect(out.view()).toEqual(Uint8Array.of(1, 2, 3));
  });

  test("gives back what a large message took", () => {
    const out = new CanonicalWriter();
    out.fixedBytes(filled(1 << 20));
    expect(out.view().buffer.byteLength).toBeGreaterThanOrEqual(1 << 20);
    out.reset();
    expect(out.view().buffer.byteLength).toBe(64 * 1024);
    expect(out.length).toBe(0);
  });

  test("a view shows the current message, also if the one before had its size and the buffer has grown since", () => {
    const out = new CanonicalWriter();
    out.fixedBytes(filled(3, 1));
    expect(out.view()).toEqual(filled(3, 1));
    out.reset();
    out.fixedBytes(filled(3, 2));
    expect(out.view()).toEqual(filled(3, 2));
    out.fixedBytes(filled(1 << 10, 3));
    out.reset();
    out.fixedBytes(filled(3, 4));
    expect(out.view()).toEqual(filled(3, 4));
  });

  test("refuses what does not fit its field, and writes nothing then", () => {
    const out = new CanonicalWriter();
    for (const bad of [-1, 256, 0.5, Number.NaN, 1n, "1", undefined]) {
      expect(() => out.u8(bad as number)).toThrow(InvariantViolation);
    }
    for (const bad of [-1, 2 ** 32, 0.5, Number.POSITIVE_INFINITY, 1n, null]) {
      expect(() => out.u32(bad as number)).toThrow(InvariantViolation);
    }
    for (const bad of [-1n, 1n << 64n, 1, undefined]) expect(() => out.u64(bad as bigint)).toThrow(InvariantViolation);
    for (const bad of NOT_BYTES) {
      expect(() => out.bytes(bad as Uint8Array)).toThrow(InvariantViolation);
      expect(() => out.fixedBytes(bad as Uint8Array)).toThrow(InvariantViolation);
    }
    expect(out.length).toBe(0);
  });
});
