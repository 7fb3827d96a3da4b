// A path that sorts elsewhere than its bytes do is visited out of order, and a cursor then skips its neighbors. A path that
// changes on the way to bytes names another file.
import { MAX_KEY_SIZE } from "@gossip/contracts";
import { compareBytes, InvariantViolation, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { KeyBuf } from "./key-buf.ts";
import { encodeKey, type KeyEncoding } from "./key-encoding.ts";
import { ascii, bytes, filled, toHex } from "../keys.fixture.ts";
import { PathKey } from "./path-key.ts";
import { readUtf8, utf8Size } from "./utf8.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

/** Characters of one to four bytes, and those whose order as UTF-16 is not their order as UTF-8. */
const character = fc.constantFrom(
  "\0",
  "-",
  "/",
  "a",
  "~",
  "\u{7f}",
  "\u{80}",
  "\u{e9}",
  "\u{7ff}",
  "\u{800}",
  "\u{d7ff}",
  "\u{e000}",
  "\u{ffff}",
  "\u{10000}",
  "\u{10ffff}",
);
const path = fc.array(character, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));

/** The logical order, independent of UTF-8: by code points, a prefix first. */
function compareCodePoints(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = left[index]!.codePointAt(0)! - right[index]!.codePointAt(0)!;
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

describe("PathKey", () => {
  test("path key encoding preserves logical order", () => {
    fc.assert(
      fc.property(path, path, (a, b) => {
        const [keyA, keyB] = [new PathKey(a), new PathKey(b)];
        const order = Math.sign(compareBytes(encodeKey(keyA), encodeKey(keyB)));
        expect(order).toBe(Math.sign(compareCodePoints(a, b)));
        expect(Math.sign(PathKey.compare(keyA, keyB))).toBe(order);
      }),
      { numRuns: 1000 },
    );
  });

  test("is in byte order where strings are not", () => {
    const [tilde, face] = ["\u{ff5e}", "\u{1f600}"];
    expect(tilde > face).toBe(true);
    expect(PathKey.compare(new PathKey(tilde), new PathKey(face))).toBeLessThan(0);
  });

  test("path key uses identity utf8 encoding", () => {
    expect(toHex(encodeKey(new PathKey("a//B/\u{e9}\u{301}\u{1f600}")))).toBe("612f2f422fc3a9cc81f09f9880");
    expect(encodeKey(new PathKey("./a/../b\0"))).toEqual(ascii("./a/../b\0"));
    fc.assert(
      fc.property(path, (text) => {
        expect(encodeKey(new PathKey(text))).toEqual(new Uint8Array(Buffer.from(text, "utf8")));
      }),
    );
  });

  test("path key new rejects empty path", () => {
    expect(() => new PathKey("")).toThrow(new InvariantViolation("a path must not be empty"));
    expect(PathKey.tryNew("")).toEqual({ ok: false, error: { kind: "EmptyPath" } });
  });

  test("path key new rejects oversized path", () => {
    const path = "\u{e9}".repeat(MAX_KEY_SIZE / 2) + "a";
    expect(() => new PathKey(path)).toThrow(new InvariantViolation("a path of 4097 bytes is over the limit of 4096"));
    expect(PathKey.tryNew(path)).toEqual({ ok: false, error: { kind: "PathTooLarge", size: 4097, max: 4096 } });
  });

  test("path key new accepts path at max size", () => {
    const path = "\u{e9}".repeat(MAX_KEY_SIZE / 2);
    expect(encodeKey(unwrap(PathKey.tryNew(path))).length).toBe(MAX_KEY_SIZE);
    expect(encodeKey(new PathKey("a".repeat(MAX_KEY_SIZE)))).toEqual(filled(MAX_KEY_SIZE));
  });

  test.each([
    ["\u{d800}", 0],
    ["a\u{dc00}", 1],
    ["ab\u{d800}b", 2],
    ["\u{d800}\u{d800}\u{dc00}", 0],
    ["\u{d800}\u{dc00}\u{dfff}", 2],
    ["\u{1f600}\u{dbff}", 2],
  ])("refuses a lone surrogate, and names its position", (text, index) => {
    expect(PathKey.tryNew(text)).toEqual({ ok: false, error: { kind: "LoneSurrogate", index } });
    expect(() => new PathKey(text)).toThrow(`code unit ${index} of the path is a lone surrogate`);
  });

  test("what is no string is refused with a sentence", () => {
    for (const value of [undefined, null, 7, ["a"], ascii("a")]) {
      expect(() => new PathKey(value as unknown as string)).toThrow("path must be a string");
      expect(() => PathKey.tryNew(value as unknown as string)).toThrow(InvariantViolation);
    }
    expect(() => PathKey.compare(new PathKey("a"), "b" as unknown as PathKey)).toThrow(InvariantViolation);
    expect(() => new PathKey("a").encodeInto({} as KeyBuf)).toThrow("out must be a KeyBuf");
  });
});

describe("UTF-8", () => {
  test("the size is that of the encoding exactly when the text has one", () => {
    const unit = fc.constantFrom(
      "a",
      "\u{7f}",
      "\u{80}",
      "\u{7ff}",
      "\u{800}",
      "\u{d800}",
      "\u{dbff}",
      "\u{dc00}",
      "\u{dfff}",
      "\u{e000}",
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 5 }), (units) => {
        const text = units.join("");
        const isWhole = !/\p{Surrogate}/u.test(text);
        const size = utf8Size(text);
        expect(size >= 0).toBe(isWhole);
        if (isWhole) expect(size).toBe(Buffer.byteLength(text));
        else expect(-1 - size).toBe(text.search(/\p{Surrogate}/u));
      }),
      { numRuns: 1000 },
    );
  });

  test("bytes are read exactly when they are UTF-8, short or long, at any place", () => {
    const byte = fc.constantFrom(0x00, 0x61, 0x7f, 0x80, 0xbf, 0xc2, 0xe0, 0xed, 0xef, 0xbb, 0xf0, 0xf4, 0xff);
    const input = fc.oneof(
      fc.array(byte, { maxLength: 6 }),
      fc.array(byte, { maxLength: 6 }).map((tail) => [...filled(24), ...tail]),
    );
    fc.assert(
      fc.property(input, fc.nat(3), (values, lead) => {
        const content = Uint8Array.from([...filled(lead, 0xff), ...values, 0xff]);
        const text = readUtf8(content, lead, lead + values.length);
        const roundTrip = Buffer.from(values).toString("utf8");
        const isUtf8 = Buffer.from(roundTrip, "utf8").equals(Buffer.from(values));
        expect(text).toBe(isUtf8 ? roundTrip : undefined);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("KeyEncoding", () => {
  test("key encoding returns encoded bytes", () => {
    const key: KeyEncoding = { encodeInto: (out) => out.copyFromSlice(bytes(1, 2, 3)) };
    expect(encodeKey(key)).toEqual(bytes(1, 2, 3));
    const out = new KeyBuf();
    out.copyFromSlice(filled(9));
    new PathKey("ab").encodeInto(out);
    expect(out.toOwned()).toEqual(ascii("ab"));
  });

  test("what cannot be asked for bytes is refused with a sentence", () => {
    for (const value of [undefined, null, "a", {}, { encodeInto: 1 }]) {
      expect(() => encodeKey(value as unknown as KeyEncoding)).toThrow("key must have a method encodeInto");
    }
  });
});
