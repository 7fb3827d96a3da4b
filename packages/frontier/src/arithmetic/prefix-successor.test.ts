// The successor of a prefix is the exclusive end of a prefix scan. One that is too small loses keys without a trace; one
// that is too large scans a neighbor's. So each property is stated from the scan's side.
import { MAX_KEY_SIZE } from "@gossip/contracts";
import { compareBytes, InvariantViolation, startsWith } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { KeyBuf } from "../keys/key-buf.ts";
import { anyKey, ascii, bytes, denseKey, expectBytes, filled, hex, join, NOT_BYTES, toHex } from "../keys.fixture.ts";
import { prefixSuccessor, prefixSuccessorInto } from "./successors.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

/** The result of the `Into` form, checked to be that of the owned form. */
function successor(prefix: Uint8Array): Uint8Array | undefined {
  const out = new KeyBuf();
  const into = prefixSuccessorInto(prefix, out) ? out.toOwned() : undefined;
  expectBytes(prefixSuccessor(prefix), into);
  return into;
}

describe("prefixSuccessor", () => {
  test("prefix successor is strictly greater", () => {
    fc.assert(
      fc.property(anyKey, (prefix) => {
        const end = successor(prefix);
        fc.pre(end !== undefined);
        expect(compareBytes(prefix, end)).toBeLessThan(0);
      }),
    );
  });

  test("prefix successor is upper bound for prefixed keys", () => {
    fc.assert(
      fc.property(denseKey({ min: 1 }), denseKey(), (prefix, other) => {
        const end = successor(prefix);
        fc.pre(end !== undefined);
        const isScanned = compareBytes(prefix, other) <= 0 && compareBytes(other, end) < 0;
        expect(isScanned).toBe(startsWith(other, prefix));
      }),
      { numRuns: 2000 },
    );
  });

  test("exists exactly when the prefix has a byte that can be raised", () => {
    fc.assert(
      fc.property(anyKey, (prefix) => {
        expect(successor(prefix) !== undefined).toBe(prefix.some((byte) => byte !== 0xff));
      }),
    );
  });

  describe("prefix successor basic", () => {
    test.each([
      ["61", "62"],
      ["6162", "6163"],
      ["61ff", "62"],
      ["61ffff", "62"],
      ["ff00ff", "ff01"],
      ["00", "01"],
      ["fe", "ff"],
      ["fffe", "ffff"],
      ["7f", "80"],
    ])("%s ends at %s", (prefix, end) => {
      expect(toHex(successor(hex(prefix))!)).toBe(end);
    });

    test.each([
      ["nothing", bytes()],
      ["ff", bytes(0xff)],
      ["ff ff ff", hex("ffffff")],
      ["4096 times ff", filled(MAX_KEY_SIZE, 0xff)],
      ["4097 bytes", filled(MAX_KEY_SIZE + 1)],
    ])("%s has none", (_name, prefix) => {
      expect(successor(prefix)).toBeUndefined();
    });

    test("a prefix of the greatest size has one", () => {
      const head = filled(MAX_KEY_SIZE - 1);
      expectBytes(successor(join(head, bytes(0x61))), join(head, bytes(0x62)));
      expectBytes(successor(join(head, bytes(0xff))), join(head.subarray(1), bytes(0x62)));
    });
  });

  test("a refusal leaves the buffer, and what was borrowed from it, as it was", () => {
    const out = new KeyBuf();
    out.copyFromSlice(ascii("kept"));
    const { generation } = out;
    expect(prefixSuccessorInto(bytes(0xff), out)).toBe(false);
    expect(out.toOwned()).toEqual(ascii("kept"));
    expect(out.generation).toBe(generation);
  });

  test("the prefix may be any view of the buffer", () => {
    fc.assert(
      fc.property(denseKey({ max: 8 }), fc.nat(8), fc.nat(8), (content, from, size) => {
        const out = new KeyBuf();
        out.copyFromSlice(content);
        const view = out.asBytes().subarray(from, from + size);
        const expected = prefixSuccessor(new Uint8Array(view));
        expectBytes(prefixSuccessorInto(view, out) ? out.toOwned() : undefined, expected);
      }),
    );
  });

  test("a Buffer is bytes like any other, and its memory is left alone", () => {
    const prefix = Buffer.from("ab");
    const end = prefixSuccessor(prefix)!;
    expect(end).toEqual(ascii("ac"));
    expect(prefix.toString()).toBe("ab");
  });

  test.each(NOT_BYTES.map((value) => [value]))("%s is refused with a sentence", (value) => {
    expect(() => prefixSuccessor(value as Uint8Array)).toThrow(InvariantViolation);
    expect(() => prefixSuccessorInto(value as Uint8Array, new KeyBuf())).toThrow("prefix must be a Uint8Array");
    expect(() => prefixSuccessorInto(bytes(1), value as KeyBuf)).toThrow("out must be a KeyBuf");
  });
});
