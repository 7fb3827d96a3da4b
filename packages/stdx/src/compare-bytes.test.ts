// This order decides which shard owns a key. It has three ways through it, by length, and a key compared
// one way here and another way there would be owned twice or not at all. So every length around the
// seams is held to one plain definition, for every kind of array and with and without the native part.

import { runInNewContext } from "node:vm";

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import { InvariantViolation } from "./assert.ts";
import * as withBuffer from "./compare-bytes.ts";

/** By the definition: the first byte that differs decides, and without one the length. */
function expectedSign(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  if (at === -1) return a.length === b.length ? 0 : -1;
  if (at >= b.length) return 1;
  return Math.sign(a[at]! - b[at]!);
}

// Few values, those that signed comparison would misplace among them: long common starts are then common.
const tail = fc.array(fc.constantFrom(0x00, 0x7f, 0x80, 0xff), { maxLength: 12 });
// The seams are at 4, at 8 and at 48 bytes.
const start = fc
  .constantFrom(0, 1, 3, 4, 7, 8, 36, 44, 45, 47, 48, 49, 60, 200)
  .map((size) => Array.from({ length: size }, () => 9));
const pair = fc
  .record({ start, a: tail, b: tail })
  .map(({ start, a, b }) => ({ a: [...start, ...a], b: [...start, ...b] }));

const makers = fc.constantFrom<(values: readonly number[]) => Uint8Array>(
  (values) => Uint8Array.from(values),
  (values) => Buffer.from(values),
  // Not at the start of its buffer, nor to the end of it.
  (values) => Uint8Array.of(1, ...values, 2).subarray(1, values.length + 1),
  (values) => runInNewContext("Uint8Array.from(values)", { values }) as Uint8Array,
);

describe.each([
  { where: "with Buffer", load: () => Promise.resolve(withBuffer) },
  { where: "without Buffer", load: () => import("./compare-bytes.ts") },
])("$where", ({ where, load }) => {
  let { compareBytes, equalBytes, startsWith } = withBuffer;
  beforeAll(async () => {
    vi.resetModules();
    if (where === "without Buffer") vi.stubGlobal("Buffer", undefined);
    ({ compareBytes, equalBytes, startsWith } = await load());
    vi.unstubAllGlobals();
  });
  afterAll(() => vi.resetModules());

  test("compareBytes orders by the first byte that differs, then by length", () => {
    fc.assert(
      fc.property(pair, makers, makers, ({ a, b }, makeA, makeB) => {
        const sign = Math.sign(compareBytes(makeA(a), makeB(b)));
        expect(sign).toBe(expectedSign(a, b));
        expect(Math.sign(compareBytes(makeB(b), makeA(a)))).toBe(-sign + 0);
      }),
      { numRuns: 500 },
    );
  });

  test("equalBytes holds exactly where compareBytes is zero", () => {
    fc.assert(
      fc.property(pair, makers, makers, ({ a, b }, makeA, makeB) => {
        expect(equalBytes(makeA(a), makeB(b))).toBe(expectedSign(a, b) === 0);
        expect(equalBytes(makeA(a), makeB(a))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("startsWith holds exactly where cutting to the prefix's length gives the prefix", () => {
    fc.assert(
      fc.property(pair, fc.boolean(), makers, makers, ({ a, b }, isPrefix, makeA, makeB) => {
        const prefix = isPrefix ? a.slice(0, b.length) : b;
        const cut = a.slice(0, prefix.length);
        expect(startsWith(makeA(a), makeB(prefix))).toBe(expectedSign(cut, prefix) === 0);
      }),
      { numRuns: 500 },
    );
  });
});

test.each([undefined, null, "key", [1, 2], new Int8Array(2), new Uint16Array(2), { length: 0 }])(
  "%o is refused on either side, and not shown",
  (value) => {
    const bytes = Uint8Array.of(1, 2);
    for (const compare of [withBuffer.compareBytes, withBuffer.equalBytes, withBuffer.startsWith]) {
      for (const call of [() => compare(value as Uint8Array, bytes), () => compare(bytes, value as Uint8Array)]) {
        expect(call).toThrow(InvariantViolation);
        expect(call).toThrow(/^the (first|second) operand must be a Uint8Array, got (?!.*key)/u);
      }
    }
  },
);
