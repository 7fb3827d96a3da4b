// The successor of a key is where the next worker begins. If a key lay between the two it would never be visited; if it were
// not above the key, the key would be visited twice.
import { MAX_KEY_SIZE } from "@gossip/contracts";
import { compareBytes, InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { KeyBuf } from "../keys/key-buf.ts";
import { keySuccessor, keySuccessorInto, prefixSuccessor } from "./successors.ts";
import { anyKey, ascii, bytes, denseKey, expectBytes, filled, fullKey, join, NOT_BYTES } from "../keys.fixture.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

function successor(key: Uint8Array): Uint8Array | undefined {
  const out = new KeyBuf();
  const into = keySuccessorInto(key, out) ? out.toOwned() : undefined;
  expectBytes(keySuccessor(key), into);
  return into;
}

const longestKey = fullKey.filter((key) => key.length === MAX_KEY_SIZE);

describe("keySuccessor", () => {
  test("key successor is strictly greater", () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        const next = successor(key);
        fc.pre(next !== undefined);
        expect(compareBytes(key, next)).toBeLessThan(0);
      }),
    );
  });

  test("no key lies between a key and its successor", () => {
    fc.assert(
      fc.property(denseKey(), denseKey(), (key, other) => {
        const isAbove = compareBytes(other, key) > 0;
        expect(compareBytes(other, successor(key)!) >= 0).toBe(isAbove);
      }),
      { numRuns: 2000 },
    );
  });

  test("key successor none only when expected", () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        const isLast = key.length === MAX_KEY_SIZE && key.every((byte) => byte === 0xff);
        expect(successor(key) === undefined).toBe(isLast);
      }),
    );
    expect(successor(filled(MAX_KEY_SIZE, 0xff))).toBeUndefined();
    expect(successor(filled(MAX_KEY_SIZE + 1))).toBeUndefined();
    expect(successor(filled(MAX_KEY_SIZE + 1, 0x00))).toBeUndefined();
  });

  test("key successor appends zero when below max", () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        fc.pre(key.length < MAX_KEY_SIZE);
        expectBytes(successor(key), join(key, bytes(0x00)));
      }),
    );
    expectBytes(successor(bytes()), bytes(0x00));
    expectBytes(successor(filled(MAX_KEY_SIZE - 1, 0xff)), join(filled(MAX_KEY_SIZE - 1, 0xff), bytes(0x00)));
  });

  test("key successor delegates to prefix successor at max", () => {
    fc.assert(fc.property(longestKey, (key) => expectBytes(successor(key), prefixSuccessor(key))));
  });

  test("what the buffer held before does not show", () => {
    const out = new KeyBuf();
    out.copyFromSlice(filled(8, 0xee));
    keySuccessorInto(ascii("ab"), out);
    expect(out.toOwned()).toEqual(bytes(0x61, 0x62, 0x00));
  });

  test("a refusal leaves the buffer as it was", () => {
    const out = new KeyBuf();
    out.copyFromSlice(ascii("kept"));
    const { generation } = out;
    expect(keySuccessorInto(filled(MAX_KEY_SIZE, 0xff), out)).toBe(false);
    expect(keySuccessorInto(filled(MAX_KEY_SIZE + 1), out)).toBe(false);
    expect(out.toOwned()).toEqual(ascii("kept"));
    expect(out.generation).toBe(generation);
  });

  test("the key may be any view of the buffer", () => {
    fc.assert(
      fc.property(denseKey({ max: 8 }), fc.nat(8), fc.nat(8), (content, from, size) => {
        const out = new KeyBuf();
        out.copyFromSlice(content);
        const view = out.asBytes().subarray(from, from + size);
        const expected = keySuccessor(new Uint8Array(view));
        expectBytes(keySuccessorInto(view, out) ? out.toOwned() : undefined, expected);
      }),
    );
  });

  test.each(NOT_BYTES.map((value) => [value]))("%s is refused with a sentence", (value) => {
    expect(() => keySuccessor(value as Uint8Array)).toThrow(InvariantViolation);
    expect(() => keySuccessorInto(value as Uint8Array, new KeyBuf())).toThrow("key must be a Uint8Array");
    expect(() => keySuccessorInto(bytes(1), value as KeyBuf)).toThrow("out must be a KeyBuf");
  });
});
