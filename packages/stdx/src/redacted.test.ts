// A hash that reaches a log is an oracle, and a worker's name in an error tells one tenant about another.
// They leak in unexpected ways: an object printed with the one that was meant, a template string, a
// clone. So the secret is put anywhere in anything, and then looked for in everything that prints.

import { format, inspect } from "node:util";
import { deserialize, serialize } from "node:v8";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { InvariantViolation } from "./assert.ts";
import { Redacted } from "./redacted.ts";

const MARK = "5ec2e7";
const secret = fc.oneof(
  fc.string().map((text) => `${MARK}${text}`),
  fc.constant({ nested: { deep: [MARK] } }),
  fc.constant(new Map([[MARK, MARK]])),
  fc.constant(Buffer.from(MARK)),
  fc.constant(BigInt(`0x${MARK}`)),
  fc.constant(Symbol(MARK)),
  fc.constant(new Error(MARK)),
  fc.constant(() => MARK),
);

/** A wrapper at any depth: in objects, arrays, maps, sets and errors. */
const holder = fc
  .tuple(secret, fc.array(fc.constantFrom("object", "array", "map", "key", "set", "cause"), { maxLength: 6 }))
  .map(([value, path]) => path.reduce<unknown>(wrap, new Redacted(value)));

function wrap(inner: unknown, kind: string): unknown {
  if (kind === "object") return { kind, inner };
  if (kind === "array") return [1, inner];
  if (kind === "map") return new Map([["key", inner]]);
  if (kind === "key") return new Map([[inner, "value"]]);
  if (kind === "set") return new Set([inner]);
  return new Error("outer", { cause: inner });
}

/** The secret in any of the forms that it could be printed in. */
const TRACES = [MARK, Buffer.from(MARK).toString("hex"), "35 65 63", "53,101,99", String(BigInt(`0x${MARK}`))];

function expectSilent(text: string): void {
  for (const trace of TRACES) expect(text).not.toContain(trace);
}

describe("Redacted", () => {
  test("shows in no way of printing, however deep it lies", () => {
    fc.assert(
      fc.property(holder, (value) => {
        expectSilent(inspect(value));
        expectSilent(inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true }));
        expectSilent(
          inspect(value, { depth: Number.POSITIVE_INFINITY, customInspect: false, showHidden: true, showProxy: true }),
        );
        expectSilent(inspect(value, { depth: 0, compact: false, sorted: true }));
        expectSilent(JSON.stringify(value));
        expectSilent(`${value as string}`);
        for (const directive of ["%s", "%o", "%O", "%j", "%d", "%i", "%f"]) expectSilent(format(directive, value));
        expectSilent(inspect(structuredClone(value), { depth: Number.POSITIVE_INFINITY }));
        expectSilent(inspect(deserialize(serialize(value)), { depth: Number.POSITIVE_INFINITY }));
      }),
    );
  });

  test("has nothing to enumerate or to copy", () => {
    fc.assert(
      fc.property(secret, (value) => {
        const redacted = new Redacted(value);
        expect(Reflect.ownKeys(redacted)).toEqual([]);
        expect(Reflect.ownKeys(Object.assign({}, redacted))).toEqual([]);
        expectSilent(String(redacted));
        expectSilent(JSON.stringify({ redacted }));
      }),
    );
  });

  test("says that something is there", () => {
    const redacted = new Redacted("x");
    expect([String(redacted), `${redacted as unknown as string}`, inspect(redacted), JSON.stringify(redacted)]).toEqual(
      ["<redacted>", "<redacted>", "<redacted>", '"<redacted>"'],
    );
    expect(inspect({ a: { b: { c: { d: redacted } } } }, { depth: 9 })).toContain("d: <redacted>");
  });

  test("reveals what it was given, to who asks", () => {
    fc.assert(fc.property(secret, (value) => Object.is(Redacted.reveal(new Redacted(value)), value)));
  });

  test.each([undefined, null, "secret", {}, Object.create(Redacted.prototype), structuredClone(new Redacted(1))])(
    "%o cannot be revealed",
    (value) => {
      const reveal = () => Redacted.reveal(value as Redacted<unknown>);
      expect(reveal).toThrow(InvariantViolation);
      expect(reveal).toThrow(/^only a Redacted can be revealed, got (?!.*secret)/u);
    },
  );
});
