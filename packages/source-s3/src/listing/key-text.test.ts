// A range that begins between two characters must begin at the first key that lies in it: one too early is work done
// twice, one too late is an object that is never processed.
import { fc, test } from "@fast-check/vitest";
import { expect, test as example } from "vitest";
import { compareBytes } from "@gossip/stdx";
import { keyBytes, leastTextFrom, textBelow } from "./key-text.ts";

const texts = fc.string({ unit: "binary", maxLength: 4 });
const bounds = fc.oneof(
  fc.uint8Array({ maxLength: 6 }),
  // Cut and changed texts: where mistakes would be.
  fc
    .tuple(texts, fc.nat(12), fc.nat(255))
    .map(([text, cut, byte]) => Uint8Array.of(...keyBytes(text).subarray(0, cut), byte)),
);

test.prop([bounds, texts])(
  "a text is not below the bytes exactly if it is not below the least such text",
  (bytes, text) => {
    const least = leastTextFrom(bytes);
    const isAbove = compareBytes(keyBytes(text), bytes) >= 0;
    expect(isAbove).toBe(least !== undefined && compareBytes(keyBytes(text), keyBytes(least)) >= 0);
  },
);

test.prop([texts])("a text is the least from its own bytes", (text) => {
  expect(leastTextFrom(keyBytes(text))).toBe(text);
});

test.prop([texts, texts])("the text below one is below it, and above everything that is much lower", (text, other) => {
  fc.pre(text !== "");
  const below = textBelow(text);
  expect(compareBytes(keyBytes(below), keyBytes(text))).toBeLessThan(0);
  // What is between the two begins with a character that keys do not have.
  const isBetween =
    compareBytes(keyBytes(other), keyBytes(below)) > 0 && compareBytes(keyBytes(other), keyBytes(text)) < 0;
  if (isBetween) expect(other).toMatch(/[\u{10fffd}-\u{10ffff}]/u);
});

example("the text below a key of the greatest length is no longer than a key", () => {
  expect(keyBytes(textBelow("k".repeat(1024))).length).toBe(1024);
  expect(textBelow("a\0")).toBe("a");
  expect(textBelow("a\ue000")).toBe("a\ud7ff\u{10fffd}");
});

example.each([
  [[0x61, 0x80], "a\u0080"],
  [[0xed, 0xa0], "\ue000"],
  [[0x61, 0xff], "b"],
  [[0xff], undefined],
  [[0xf4, 0x8f, 0xbf, 0xbf, 0xff], undefined],
  [[], ""],
])("from %j", (bytes, expected) => {
  expect(leastTextFrom(Uint8Array.from(bytes))).toBe(expected);
});
