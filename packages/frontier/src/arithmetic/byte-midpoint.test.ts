// A midpoint becomes the bound between two shards. One that is not strictly inside makes an empty shard or an overlap; one
// that differs from run to run makes a retried split another split.
import { MAX_KEY_SIZE } from "@gossip/contracts";
import { compareBytes, InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { byteMidpoint, byteMidpointInto } from "./byte-midpoint.ts";
import { fivePhaseMidpoint } from "./five-phases.fixture.ts";
import { KeyBuf } from "../keys/key-buf.ts";
import {
  anyKey,
  ascii,
  bytes,
  denseKey,
  expectBytes,
  filled,
  fullKey,
  hex,
  join,
  NOT_BYTES,
  toHex,
} from "../keys.fixture.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

function midpoint(a: Uint8Array, b: Uint8Array): Uint8Array | undefined {
  const out = new KeyBuf();
  const into = byteMidpointInto(a, b, out) ? out.toOwned() : undefined;
  expectBytes(byteMidpoint(a, b), into);
  return into;
}

describe("byteMidpoint", () => {
  test("is what the five phases say, for all keys", () => {
    fc.assert(
      fc.property(anyKey, anyKey, (a, b) => {
        expectBytes(midpoint(a, b), fivePhaseMidpoint(a, b));
      }),
      { numRuns: 3000 },
    );
    fc.assert(
      fc.property(fullKey, fullKey, (a, b) => {
        expectBytes(midpoint(a, b), fivePhaseMidpoint(a, b));
      }),
      { numRuns: 300 },
    );
    // Full length and nearly the same: there the last phase has no byte to append.
    const tail = denseKey({ min: 1, max: 3 });
    fc.assert(
      fc.property(fc.constantFrom(0x00, 0x61, 0xff), tail, tail, fc.boolean(), (fill, tailA, tailB, isShort) => {
        const a = join(filled(MAX_KEY_SIZE - tailA.length, fill), tailA);
        const b = join(filled((isShort ? MAX_KEY_SIZE - 3 : MAX_KEY_SIZE) - tailB.length, fill), tailB);
        expectBytes(midpoint(a, b), fivePhaseMidpoint(a, b));
        expectBytes(midpoint(b, a), fivePhaseMidpoint(b, a));
      }),
      { numRuns: 400 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 40 }), (a, b) => {
        expectBytes(midpoint(a, b), fivePhaseMidpoint(a, b));
      }),
    );
  });

  test("byte midpoint is strictly between when present", () => {
    fc.assert(
      fc.property(denseKey({ min: 3, max: 3 }), denseKey({ min: 3, max: 3 }), (a, b) => expectBetween(a, b)),
      { numRuns: 2000 },
    );
  });

  test("byte midpoint different lengths strictly between", () => {
    fc.assert(
      fc.property(denseKey({ max: 5 }), denseKey({ max: 5 }), (a, b) => {
        fc.pre(a.length !== b.length);
        expectBetween(a, b);
      }),
      { numRuns: 2000 },
    );
  });

  // Below the greatest size there is a key between two others exactly when the successor of the lower is one.
  test("exists exactly when a key lies between", () => {
    fc.assert(
      fc.property(denseKey(), denseKey(), (a, b) => {
        const isRoom = compareBytes(join(a, bytes(0)), b) < 0;
        expect(midpoint(a, b) !== undefined).toBe(isRoom);
      }),
      { numRuns: 2000 },
    );
  });

  test("byte midpoint output respects max key size", () => {
    const shared = filled(MAX_KEY_SIZE - 1);
    const neighbors = [join(shared, bytes(0x00)), join(shared, bytes(0x01))] as const;
    expect(midpoint(...neighbors)).toBeUndefined();
    const apart = [join(shared, bytes(0x00)), join(shared, bytes(0x02))] as const;
    expectBytes(midpoint(...apart), join(shared, bytes(0x01)));

    // Neighbors with a carry: what the lower one's successor is, is shorter and may lie in between.
    const head = filled(MAX_KEY_SIZE - 2);
    expectBytes(midpoint(join(head, hex("61ff")), join(head, hex("6200"))), join(head, hex("62")));
    expect(midpoint(join(head, hex("61ff")), join(head, hex("62")))).toBeUndefined();
  });

  test("byte midpoint rejects oversized inputs", () => {
    const oversized = filled(MAX_KEY_SIZE + 1);
    expect(midpoint(bytes(), oversized)).toBeUndefined();
    expect(midpoint(oversized, bytes(0xff))).toBeUndefined();
    expect(midpoint(oversized, filled(MAX_KEY_SIZE + 1, 0x62))).toBeUndefined();
  });

  describe("byte midpoint edge cases", () => {
    test.each([
      ["", "", undefined],
      ["", "02", "01"],
      ["", "01", "00"],
      ["", "00", undefined],
      ["00", "ff", "7f"],
      ["40", "c0", "80"],
      ["0000", "0002", "0001"],
      ["0100", "0104", "0102"],
      ["01", "02", "0100"],
      ["01", "0100", undefined],
      ["01", "010000", "0100"],
      ["01", "0101", "0100"],
      ["ff", "ff02", "ff01"],
      ["10", "1080", "1040"],
      ["fffe", "ffff", "fffe00"],
      ["02", "01", undefined],
      ["01", "01", undefined],
      ["0101", "01", undefined],
    ])("between %s and %s: %s", (a, b, expected) => {
      const found = midpoint(hex(a), hex(b));
      expect(found && toHex(found)).toBe(expected);
    });
  });

  test("byte midpoint carry regression", () => {
    expect(toHex(midpoint(hex("80ff"), hex("8100"))!)).toBe("80ff00");
    expect(toHex(midpoint(hex("ff00"), hex("ffff"))!)).toBe("ff7f");
    expect(toHex(midpoint(hex("80"), hex("ff"))!)).toBe("bf");
    expect(toHex(midpoint(hex("00ff"), hex("0201"))!)).toBe("0180");
  });

  test("either key, or both, may be any view of the buffer", () => {
    const place = fc.record({ from: fc.nat(10), size: fc.nat(6) });
    fc.assert(
      fc.property(denseKey({ min: 10, max: 10 }), place, place, denseKey(), (content, first, second, other) => {
        const views = [
          (out: KeyBuf) => out.asBytes().subarray(first.from, first.from + first.size),
          (out: KeyBuf) => out.asBytes().subarray(second.from, second.from + second.size),
          () => other,
        ] as const;
        for (const viewA of views) {
          for (const viewB of views) {
            const out = new KeyBuf();
            out.copyFromSlice(content);
            const expected = byteMidpoint(new Uint8Array(viewA(out)), new Uint8Array(viewB(out)));
            expect(byteMidpointInto(viewA(out), viewB(out), out) ? out.toOwned() : undefined).toEqual(expected);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test("a refusal leaves the buffer as it was", () => {
    const out = new KeyBuf();
    out.copyFromSlice(ascii("kept"));
    const { generation } = out;
    for (const [a, b] of [
      ["02", "01"],
      ["01", "0100"],
      ["", "00"],
    ] as const) {
      expect(byteMidpointInto(hex(a), hex(b), out)).toBe(false);
    }
    const head = filled(MAX_KEY_SIZE - 1);
    expect(byteMidpointInto(join(head, hex("00")), join(head, hex("01")), out)).toBe(false);
    expect(out.toOwned()).toEqual(ascii("kept"));
    expect(out.generation).toBe(generation);
  });

  test.each(NOT_BYTES.map((value) => [value]))("%s is refused with a sentence", (value) => {
    const wrong = value as Uint8Array;
    expect(() => byteMidpoint(wrong, bytes(1))).toThrow(InvariantViolation);
    expect(() => byteMidpoint(bytes(1), wrong)).toThrow("b must be a Uint8Array");
    expect(() => byteMidpointInto(wrong, bytes(1), new KeyBuf())).toThrow("a must be a Uint8Array");
    expect(() => byteMidpointInto(bytes(1), bytes(2), value as KeyBuf)).toThrow("out must be a KeyBuf");
  });
});

function expectBetween(a: Uint8Array, b: Uint8Array): void {
  const found = midpoint(a, b);
  fc.pre(found !== undefined);
  expect(compareBytes(a, found)).toBeLessThan(0);
  expect(compareBytes(found, b)).toBeLessThan(0);
}
