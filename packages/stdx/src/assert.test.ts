// Assertions guard what callers cannot be trusted to give, so their messages meet strangers' data: they must
// say what was wrong without repeating it. And they run in hot code, where building a message costs.

import { runInNewContext } from "node:vm";
import { describe, expect, test, vi } from "vitest";
import { assert, assertBytes, assertCount, InvariantViolation, isBytes, nameType } from "./assert.ts";

describe("assert", () => {
  test("throws where the condition is falsy, with the sentence", () => {
    expect(() => assert(1 + 1 === 3, "arithmetic must hold")).toThrow(new InvariantViolation("arithmetic must hold"));
    assert(1 + 1 === 2, "arithmetic must hold");
  });

  test("builds a costly message only on failure", () => {
    const message = vi.fn(() => "built");
    assert(true, message);
    expect(message).not.toHaveBeenCalled();
    expect(() => assert(false, message)).toThrow("built");
  });

  test("names itself where it is printed", () => {
    const violation = new InvariantViolation("broken");
    expect(violation.name).toBe("InvariantViolation");
    expect(violation.stack).toMatch(/^InvariantViolation: broken\n/u);
    expect(Object.keys(violation)).toEqual([]);
  });
});

describe("assertBytes", () => {
  const foreign = runInNewContext("new Uint8Array(2)") as Uint8Array;

  test.each([new Uint8Array(0), Buffer.from("a"), new Uint8Array(new SharedArrayBuffer(1)), foreign])(
    "%o is bytes",
    (value) => {
      expect(isBytes(value)).toBe(true);
      assertBytes(value, "key");
    },
  );

  test.each([
    [undefined, "undefined"],
    [null, "null"],
    [7, "7"],
    ["secret", "a string"],
    [["secret"], "an array"],
    [new Uint8ClampedArray(1), "a view of another element type"],
    [new DataView(new ArrayBuffer(1)), "a view of another element type"],
    [new ArrayBuffer(1), "an ArrayBuffer"],
    [{ secret: true }, "an object"],
    [Object.create(Uint8Array.prototype), "an object"],
  ])("%o is not, and is called by its type", (value, name) => {
    expect(isBytes(value)).toBe(false);
    expect(() => assertBytes(value, "key")).toThrow(new InvariantViolation(`key must be a Uint8Array, got ${name}`));
  });
});

describe("assertCount", () => {
  const bounds = { min: 1, max: 8 };

  test.each([1, 8])("%d is within", (value) => assertCount(value, "fan-out", bounds));

  test.each([
    [0, "0"],
    [9, "9"],
    [1.5, "1.5"],
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "Infinity"],
    [undefined, "undefined"],
    ["4", "a string"],
    [4n, "a bigint"],
  ])("%s is not", (value, name) => {
    expect(() => assertCount(value, "fan-out", bounds)).toThrow(
      new InvariantViolation(`fan-out must be a whole number from 1 to 8, got ${name}`),
    );
  });
});

describe("nameType", () => {
  test("repeats nothing that a value says of itself", () => {
    class Secret {}
    const values = [
      new Secret(),
      { [Symbol.toStringTag]: "Secret" },
      Symbol("Secret"),
      "Secret",
      () => "Secret",
      new Error("Secret"),
      [1],
    ];
    expect(values.map(nameType)).toEqual([
      "an object",
      "an object",
      "a symbol",
      "a string",
      "a function",
      "an object",
      "an array",
    ]);
  });
});
