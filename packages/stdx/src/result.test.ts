// A failure that is mistaken for a success, or the other way round, is acted upon. And a failure that is
// unwrapped ends up in a log, where the data in it must not follow.

import { describe, expect, test } from "vitest";
import { InvariantViolation } from "./assert.ts";
import { err, matchError, ok, unwrap } from "./result.ts";
import fc from "fast-check";

describe("ok and err", () => {
  test("are plain objects, so that a clone over a worker boundary is the same result", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(structuredClone(ok(value))).toStrictEqual({ ok: true, value });
        expect(structuredClone(err(value))).toStrictEqual({ ok: false, error: value });
      }),
    );
  });

  test("a success that carries nothing is one shared object", () => {
    expect(ok()).toBe(ok());
    expect(ok(undefined)).toBe(ok());
    expect(Object.isFrozen(ok())).toBe(true);
    expect(ok(null)).toStrictEqual({ ok: true, value: null });
  });
});

describe("unwrap", () => {
  test("gives back what ok was given", () => {
    fc.assert(fc.property(fc.anything(), (value) => Object.is(unwrap(ok(value)), value)));
  });

  test("throws on a failure, and tells its kind but nothing else of it", () => {
    const failure = err({ kind: "CursorRegression", key: "secret" });
    expect(() => unwrap(failure)).toThrow(new InvariantViolation("unwrapped a failure of kind CursorRegression"));
  });

  test.each(["secret", 7, null, undefined, {}, { kind: 7 }, { kind: { secret: true } }, { kind: "secret/key" }])(
    "an error of %o has no kind to tell",
    (error) => {
      expect(() => unwrap(err(error))).toThrow(new InvariantViolation("unwrapped a failure of kind unknown"));
    },
  );

  test.each([undefined, null, "ok", true])("%o is not a result", (value) => {
    expect(() => unwrap(value as never)).toThrow(/^a result to unwrap must be an object, got /u);
  });
});

describe("matchError", () => {
  test("runs the handler of the error's kind, with the error", () => {
    const handlers = { A: (error: object) => ["a", error], B: (error: object) => ["b", error] };
    for (const kind of ["A", "B"] as const) {
      const error = { kind };
      expect(matchError(error, handlers)).toEqual([kind.toLowerCase(), error]);
    }
  });

  // A kind that the types do not know must not fall through to nothing, nor to what every object inherits.
  test.each(["C", "toString", "constructor"])("a kind of %s that has no handler throws", (kind) => {
    const call = () => matchError({ kind } as { kind: "A" }, { A: () => 1 });
    expect(call).toThrow(new InvariantViolation(`there is no handler for an error of kind ${kind}`));
  });

  test.each(["__proto__", "secret/key", "A".repeat(41)])("a kind of %s is not repeated", (kind) => {
    const call = () => matchError({ kind } as { kind: "A" }, { A: () => 1 });
    expect(call).toThrow(new InvariantViolation("there is no handler for an error of kind unknown"));
  });

  test.each([undefined, null, "A"])("%o is neither an error nor handlers", (value) => {
    expect(() => matchError(value as never, {})).toThrow(/^error must be an object, got /u);
    expect(() => matchError({ kind: "A" }, value as never)).toThrow(/^handlers must be an object, got /u);
  });
});
