// A name that is not quoted as it should be runs as code, or names another file. Nothing is trusted here but the shell
// itself: it prints what it was given, and that must be the same bytes.
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shellQuote } from "./shell-quote.ts";

const byte = fc.oneof(
  fc.constantFrom(0x27, 0x22, 0x5c, 0x24, 0x60, 0x0a, 0x20, 0x2d, 0x80, 0x88, 0xff),
  fc.integer({ min: 1, max: 255 }),
);
const bytes = fc.array(byte, { maxLength: 60 }).map((values) => Uint8Array.from(values));

test("a shell reads back exactly the bytes that were quoted", () => {
  // One shell for many words: they come back one after the other, with a zero byte behind each.
  const words = fc.sample(bytes, 400);
  const script = Buffer.concat(
    words.flatMap((word) => [Buffer.from("printf '%s\\0' "), shellQuote(word)!, Buffer.from("\n")]),
  );
  const printed = spawnSync("/bin/sh", ["-s"], { input: script }).stdout;
  const expected = Buffer.concat(words.flatMap((word) => [word, Uint8Array.of(0)]));
  expect(printed.equals(expected)).toBe(true);
});

test("a zero byte has no place in an argument", () => {
  expect(shellQuote(Uint8Array.of(0x61, 0, 0x62))).toBeUndefined();
});

test("an item of no bytes is a word all the same", () => {
  expect(shellQuote(new Uint8Array(0))!.toString()).toBe("''");
});
