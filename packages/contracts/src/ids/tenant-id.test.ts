// This text alone identifies a tenant. Two texts for one tenant would hide its runs from it; one text for two
// would show them to a stranger.
import { compareBytes, InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { filled, NOT_BYTES } from "../arbitraries.fixture.ts";
import { TenantId } from "./tenant-id.ts";

const tenantBytes = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("TenantId", () => {
  test("is its bytes in hex, both ways", () => {
    fc.assert(
      fc.property(tenantBytes, (bytes) => {
        const id = TenantId.fromBytes(bytes);
        expect(id).toBe(Buffer.from(bytes).toString("hex"));
        expect(TenantId.toBytes(id)).toEqual(bytes);
        expect(TenantId.parse(id)).toEqual({ ok: true, value: id });
      }),
    );
  });

  test("sorts as its bytes do", () => {
    fc.assert(
      fc.property(tenantBytes, tenantBytes, (a, b) => {
        expect(TenantId.fromBytes(a) < TenantId.fromBytes(b)).toBe(compareBytes(a, b) < 0);
      }),
    );
  });

  test("shows four bytes when abbreviated", () => {
    const bytes = filled(32, 0x00);
    bytes.set([0xde, 0xad, 0xbe, 0xef, 0x99]);
    expect(TenantId.abbreviate(TenantId.fromBytes(bytes))).toBe("deadbeef..");
    expect(TenantId.abbreviate(TenantId.ZERO)).toBe("00000000..");
  });

  test.each([0, 31, 33])("refuses %d bytes", (size) => {
    expect(TenantId.tryFromBytes(filled(size))).toEqual({
      ok: false,
      error: { kind: "WrongSize", size, expected: 32 },
    });
    expect(() => TenantId.fromBytes(filled(size))).toThrow(`tenant id must be 32 bytes, got ${size}`);
  });

  test("refuses what is not bytes", () => {
    for (const bad of NOT_BYTES) {
      expect(() => TenantId.fromBytes(bad as Uint8Array)).toThrow(InvariantViolation);
      expect(() => TenantId.tryFromBytes(bad as Uint8Array)).toThrow(InvariantViolation);
    }
  });

  test.each([
    { text: "00", error: { kind: "WrongTextLength", length: 2, expected: 64 } },
    { text: "A".repeat(64), error: { kind: "NotLowercaseHex" } },
    { text: "g".repeat(64), error: { kind: "NotLowercaseHex" } },
    { text: 0, error: { kind: "NotAString", given: "number" } },
  ])("does not read $text", ({ text, error }) => {
    expect(TenantId.parse(text as string)).toEqual({ ok: false, error });
    expect(() => TenantId.toBytes(text as TenantId)).toThrow("tenant id must be 64 lowercase hex digits");
    expect(() => TenantId.abbreviate(text as TenantId)).toThrow(InvariantViolation);
  });
});
