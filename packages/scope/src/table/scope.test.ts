// A scope that shares its bytes with the caller could change its prefix after it was checked.
import { describe, expect, test } from "vitest";
import { InvariantViolation } from "@gossip/stdx";
import { bytes } from "../arbitrary.fixture.ts";
import { MAX_ID_LENGTH, MAX_PREFIX_SIZE } from "../limits.ts";
import { Scope } from "./scope.ts";

describe("Scope", () => {
  test("keeps its own prefix, whatever becomes of the bytes given and those it gives", () => {
    const given = bytes("app:");
    const scope = new Scope({ prefix: given, writer: "w" });
    given[0] = 0;
    scope.prefix[1] = 0;
    expect(scope.prefix).toEqual(bytes("app:"));
  });

  test("text stands for its UTF-8", () => {
    expect(new Scope({ prefix: "é:", writer: "w" }).prefix).toEqual(Uint8Array.of(0xc3, 0xa9, 0x3a));
  });

  test("covers its prefix and what starts with it, and no shorter key", () => {
    const scope = new Scope({ prefix: "app:", writer: "w" });
    expect(["app:", "app:1", "app", "", "apq:"].map((key) => scope.matches(key))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(scope.matches(bytes("app:1"))).toBe(true);
  });

  test("an empty prefix covers every key", () => {
    const scope = new Scope({ prefix: "", writer: "w" });
    expect([scope.matches(""), scope.matches("x")]).toEqual([true, true]);
  });

  test("has no fallback until it is given one, and the last one given counts", () => {
    const scope = new Scope({ prefix: "app:", writer: "w" });
    expect(scope.fallback).toBeUndefined();
    expect(scope.withFallback("f").withFallback("g").fallback).toBe("g");
    expect(scope.fallback).toBeUndefined();
  });

  test("is equal to a scope that declares the same", () => {
    const scope = new Scope({ prefix: "app:", writer: "w" });
    expect(scope.equals(new Scope({ prefix: bytes("app:"), writer: "w" }))).toBe(true);
    expect(scope.equals(scope.withFallback("f"))).toBe(false);
    expect(scope.equals(new Scope({ prefix: "app", writer: "w" }))).toBe(false);
    expect(scope.equals(new Scope({ prefix: "app:", writer: "x" }))).toBe(false);
  });

  test.each<[string, () => Scope]>([
    ["a prefix that is a number", () => new Scope({ prefix: 7 as never, writer: "w" })],
    ["a prefix of 16-bit numbers", () => new Scope({ prefix: new Uint16Array(2) as never, writer: "w" })],
    ["a prefix that is too long", () => new Scope({ prefix: new Uint8Array(MAX_PREFIX_SIZE + 1), writer: "w" })],
    ["no writer", () => new Scope({ prefix: "a" } as never)],
    ["a writer that is too long", () => new Scope({ prefix: "a", writer: "w".repeat(MAX_ID_LENGTH + 1) })],
    ["a fallback that is null", () => new Scope({ prefix: "a", writer: "w", fallback: null as never })],
  ])("bad input is described in a sentence: %s", (_, make) => {
    expect(make).toThrow(InvariantViolation);
  });

  test("is compared with scopes only", () => {
    expect(() => new Scope({ prefix: "a", writer: "w" }).equals({ prefix: "a", writer: "w" } as never)).toThrow(
      InvariantViolation,
    );
  });

  test("the greatest prefix and id are allowed", () => {
    expect(
      new Scope({ prefix: new Uint8Array(MAX_PREFIX_SIZE), writer: "w".repeat(MAX_ID_LENGTH) }).prefix.length,
    ).toBe(MAX_PREFIX_SIZE);
  });
});
