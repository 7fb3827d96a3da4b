// These two answers stand between a worker and the record. Calling a step back "forward" repeats work forever;
// calling the exclusive end "in bounds" lets two shards claim one key.
import { compareBytes, InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ascii, denseKey } from "../arbitraries.fixture.ts";
import { checkCursorAdvance, checkCursorBounds } from "./check-cursor.ts";
import { Cursor } from "./cursor.ts";
import { ShardSpec } from "../specs/shard-spec.ts";

const key = denseKey({ min: 1, max: 3 });
const bound = denseKey({ min: 0, max: 3 });
const none = Cursor.initial();
const at = (text: string): Cursor => Cursor.withLastKey(ascii(text));

describe("checkCursorAdvance", () => {
  test.each([
    { current: none, next: none, answer: "Forward" },
    { current: none, next: at("a"), answer: "Forward" },
    { current: at("b"), next: at("b"), answer: "Forward" },
    { current: at("b"), next: at("ba"), answer: "Forward" },
    { current: at("b"), next: at("azz"), answer: "Regression" },
    { current: at("b"), next: none, answer: "ResetToNone" },
  ])("$current.lastKey to $next.lastKey is $answer", ({ current, next, answer }) => {
    expect(checkCursorAdvance({ current, next })).toBe(answer);
  });

  test("is a regression exactly where the key gets smaller, whatever the tokens", () => {
    fc.assert(
      fc.property(key, key, bound, bound, (from, to, fromToken, toToken) => {
        const current = Cursor.fromParts({ lastKey: from, token: fromToken });
        const next = Cursor.fromParts({ lastKey: to, token: toToken });
        expect(checkCursorAdvance({ current, next })).toBe(compareBytes(to, from) < 0 ? "Regression" : "Forward");
      }),
    );
  });
});

describe("checkCursorBounds", () => {
  test.each([
    { cursor: none, answer: "NoKey" },
    { cursor: at("azz"), answer: "BelowRange" },
    { cursor: at("b"), answer: "InBounds" },
    { cursor: at("mzz"), answer: "InBounds" },
    { cursor: at("n"), answer: "AboveRange" },
    { cursor: at("na"), answer: "AboveRange" },
  ])("$cursor.lastKey in [b, n) is $answer", ({ cursor, answer }) => {
    expect(checkCursorBounds(cursor, ShardSpec.withRange({ start: ascii("b"), end: ascii("n") }))).toBe(answer);
  });

  test("is in bounds exactly where the range contains the key", () => {
    fc.assert(
      fc.property(key, bound, bound, (lastKey, start, end) => {
        const spec = ShardSpec.tryWithRange({ start, end });
        fc.pre(spec.ok);
        const answer = checkCursorBounds(Cursor.withLastKey(lastKey), spec.value);
        expect(answer === "InBounds").toBe(ShardSpec.containsKey(spec.value, lastKey));
        if (answer === "BelowRange") expect(compareBytes(lastKey, start)).toBeLessThan(0);
        if (answer === "AboveRange") expect(compareBytes(lastKey, end)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("bad input", () => {
  test.each([undefined, null, 1, {}, "cursor"])("refuses %j for a cursor or a spec", (bad) => {
    const spec = ShardSpec.unbounded();
    expect(() => checkCursorAdvance(bad as { current: Cursor; next: Cursor })).toThrow(
      typeof bad === "object" && bad !== null ? "cursor must be an object" : InvariantViolation,
    );
    if (typeof bad !== "object" || bad === null) {
      expect(() => checkCursorBounds(bad as unknown as Cursor, spec)).toThrow(InvariantViolation);
    }
    expect(() => checkCursorBounds(none, bad as unknown as ShardSpec)).toThrow(InvariantViolation);
  });
});
