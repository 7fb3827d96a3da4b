// A cursor decides which keys a worker will never look at again. One that changes after it was made, or that claims a
// position it does not have, loses items without a trace.
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ascii, denseKey, filled, NOT_BYTES, OVERSIZED_KEY } from "../arbitraries.fixture.ts";
import { Cursor } from "./cursor.ts";
import { MAX_KEY_SIZE, MAX_TOKEN_SIZE } from "../limits.ts";

const key = denseKey({ min: 1, max: 3 });
const token = fc.option(denseKey({ min: 0, max: 2 }), { nil: undefined });
const OVERSIZED_TOKEN = filled(MAX_TOKEN_SIZE + 1);

describe("Cursor", () => {
  test("has neither key nor token at first", () => {
    expect(Cursor.initial()).toEqual({ lastKey: undefined, token: undefined });
    expect(Cursor.isInitial(Cursor.initial())).toBe(true);
    expect(Cursor.isInitial(Cursor.withLastKey(ascii("k")))).toBe(false);
  });

  test("holds what it was given, and an empty token is none", () => {
    fc.assert(
      fc.property(key, token, (lastKey, given) => {
        const expected = { lastKey, token: given?.length ? given : undefined };
        expect(Cursor.fromParts({ lastKey, token: given })).toEqual(expected);
        expect(Cursor.tryFromParts({ lastKey, token: given })).toEqual({ ok: true, value: expected });
      }),
    );
  });

  test("is equal exactly where key and token are", () => {
    fc.assert(
      fc.property(key, token, key, token, (aKey, aToken, bKey, bToken) => {
        const text = (k: Uint8Array, t: Uint8Array | undefined): string =>
          `${k.join()}|${t?.length ? t.join() : "none"}`;
        const a = Cursor.fromParts({ lastKey: aKey, token: aToken });
        const b = Cursor.fromParts({ lastKey: bKey, token: bToken });
        expect(Cursor.equals(a, b)).toBe(text(aKey, aToken) === text(bKey, bToken));
        expect(Cursor.equals(a, Cursor.initial())).toBe(false);
      }),
    );
    expect(Cursor.equals(Cursor.initial(), Cursor.initial())).toBe(true);
  });

  // A Buffer's `slice` shares memory, so it is the input that a careless copy would miss.
  test.each([
    { name: "Uint8Array", make: (text: string) => ascii(text) },
    { name: "Buffer", make: (text: string) => Buffer.from(text) },
  ])("does not change when the caller writes to the $name it was made of", ({ make }) => {
    const lastKey = make("key");
    const givenToken = make("token");
    const cursor = Cursor.fromParts({ lastKey, token: givenToken });
    lastKey.fill(0);
    givenToken.fill(0);
    expect(cursor).toEqual({ lastKey: ascii("key"), token: ascii("token") });
    expect(Object.isFrozen(cursor)).toBe(true);
  });

  test("takes sizes up to the limits from outside", () => {
    const parts = { lastKey: filled(MAX_KEY_SIZE), token: filled(MAX_TOKEN_SIZE) };
    expect(Cursor.tryFromParts(parts).ok).toBe(true);
    expect(Cursor.tryWithLastKey(parts.lastKey).ok).toBe(true);
  });

  test("does not check sizes where the caller vouches for it", () => {
    const parts = { lastKey: OVERSIZED_KEY, token: OVERSIZED_TOKEN };
    expect(Cursor.fromParts(parts).token).toHaveLength(MAX_TOKEN_SIZE + 1);
    expect(Cursor.withLastKey(OVERSIZED_KEY).lastKey).toHaveLength(MAX_KEY_SIZE + 1);
  });

  const emptyKey = { kind: "EmptyLastKey" };
  const keyTooLarge = { kind: "KeyTooLarge", size: 4097, max: 4096 };
  const tokenTooLarge = { kind: "TokenTooLarge", size: 16_385, max: 16_384 };
  test.each([
    { broken: "empty key", parts: { lastKey: ascii("") }, error: emptyKey },
    { broken: "empty key and token too large", parts: { lastKey: ascii(""), token: OVERSIZED_TOKEN }, error: emptyKey },
    { broken: "key too large", parts: { lastKey: OVERSIZED_KEY }, error: keyTooLarge },
    { broken: "both too large", parts: { lastKey: OVERSIZED_KEY, token: OVERSIZED_TOKEN }, error: keyTooLarge },
    { broken: "token too large", parts: { lastKey: ascii("k"), token: OVERSIZED_TOKEN }, error: tokenTooLarge },
  ])("refuses by the first broken rule: $broken", ({ parts, error }) => {
    expect(Cursor.tryFromParts(parts)).toEqual({ ok: false, error });
    if (!("token" in parts)) expect(Cursor.tryWithLastKey(parts.lastKey)).toEqual({ ok: false, error });
  });

  test("throws on an empty key where the caller vouches for it", () => {
    expect(() => Cursor.withLastKey(ascii(""))).toThrow(InvariantViolation);
    expect(() => Cursor.fromParts({ lastKey: ascii(""), token: ascii("t") })).toThrow("last key must not be empty");
  });

  test("refuses what is not bytes, in every position", () => {
    for (const bad of NOT_BYTES) {
      const bytes = bad as Uint8Array;
      expect(() => Cursor.withLastKey(bytes)).toThrow(/cursor last key must be a Uint8Array, got/);
      expect(() => Cursor.tryWithLastKey(bytes)).toThrow(InvariantViolation);
      expect(() => Cursor.fromParts(bad as { lastKey: Uint8Array })).toThrow(InvariantViolation);
      if (bad !== undefined) {
        expect(() => Cursor.tryFromParts({ lastKey: ascii("k"), token: bytes })).toThrow(/cursor token must be/);
      }
    }
  });

  test.each([
    { name: "undefined", bad: undefined },
    { name: "a key that is text", bad: { lastKey: "k", token: undefined } },
    { name: "an empty key", bad: { lastKey: ascii(""), token: undefined } },
    { name: "a token without a key", bad: { lastKey: undefined, token: ascii("t") } },
  ])("refuses $name as a cursor", ({ bad }) => {
    expect(() => Cursor.isInitial(bad as Cursor)).toThrow(InvariantViolation);
    expect(() => Cursor.equals(Cursor.initial(), bad as Cursor)).toThrow(InvariantViolation);
  });
});
