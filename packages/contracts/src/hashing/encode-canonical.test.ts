// Two requests with one hash would be taken for one: the second caller would learn that its work is already done.
// So the bytes must differ wherever the values do.
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ascii, denseKey, u64 } from "../arbitraries.fixture.ts";
import { CanonicalWriter } from "./canonical-writer.ts";
import { Cursor } from "../cursors/cursor.ts";
import { encodeCursorInto, encodeShardKeyInto, encodeShardSpecInto } from "./encode-canonical.ts";
import { RunId } from "../ids/run-id.ts";
import { ShardId } from "../ids/shard-id.ts";
import { ShardKey } from "../ids/shard-key.ts";
import type { ShardSpecRef } from "../specs/shard-spec-ref.ts";
import { ShardSpec } from "../specs/shard-spec.ts";

// Zero and one bytes are what tags and lengths are made of: a field that could run into its neighbor does so here.
const confusable = fc
  .array(fc.constantFrom(0x00, 0x01, 0x02), { maxLength: 6 })
  .map((values) => Uint8Array.from(values));

const cursor = fc
  .tuple(confusable, confusable)
  .map(([lastKey, token]) => (lastKey.length === 0 ? Cursor.initial() : Cursor.fromParts({ lastKey, token })));

const spec: fc.Arbitrary<ShardSpecRef> = fc.record({
  keyRangeStart: confusable,
  keyRangeEnd: confusable,
  metadata: confusable,
});

function hexOf<T>(encodeInto: (value: T, out: CanonicalWriter) => void, value: T): string {
  const out = new CanonicalWriter();
  encodeInto(value, out);
  return Buffer.from(out.view()).toString("hex");
}

describe("canonical bytes", () => {
  test.each([
    { name: "no cursor", hex: hexOf(encodeCursorInto, Cursor.initial()), expected: "0000" },
    { name: "key", hex: hexOf(encodeCursorInto, Cursor.withLastKey(ascii("k"))), expected: "01010000006b00" },
    {
      name: "key and token",
      hex: hexOf(encodeCursorInto, Cursor.fromParts({ lastKey: ascii("k"), token: ascii("to") })),
      expected: "01010000006b0102000000746f",
    },
    {
      name: "spec",
      hex: hexOf(encodeShardSpecInto, { keyRangeStart: ascii("a"), keyRangeEnd: ascii(""), metadata: ascii("mm") }),
      expected: "010000006100000000020000006d6d",
    },
    {
      name: "shard key",
      hex: hexOf(encodeShardKeyInto, ShardKey.of(RunId.fromRaw(1n), ShardId.fromRaw(0x0203n))),
      expected: "01000000000000000302000000000000",
    },
  ])("of $name are $expected", ({ hex, expected }) => {
    expect(hex).toBe(expected);
  });

  test("of cursors are equal exactly where the cursors are", () => {
    fc.assert(
      fc.property(cursor, cursor, (a, b) => {
        expect(hexOf(encodeCursorInto, a) === hexOf(encodeCursorInto, b)).toBe(Cursor.equals(a, b));
      }),
    );
  });

  test("of specs are equal exactly where the specs are", () => {
    fc.assert(
      fc.property(spec, spec, (a, b) => {
        expect(hexOf(encodeShardSpecInto, a) === hexOf(encodeShardSpecInto, b)).toBe(ShardSpec.equals(a, b));
      }),
    );
  });

  test("of a spec and a cursor in a row do not run into each other", () => {
    const both = (value: { spec: ShardSpecRef; cursor: Cursor }, out: CanonicalWriter): void => {
      encodeShardSpecInto(value.spec, out);
      encodeCursorInto(value.cursor, out);
    };
    fc.assert(
      fc.property(fc.record({ spec, cursor }), fc.record({ spec, cursor }), (a, b) => {
        const areSame = ShardSpec.equals(a.spec, b.spec) && Cursor.equals(a.cursor, b.cursor);
        expect(hexOf(both, a) === hexOf(both, b)).toBe(areSame);
      }),
    );
  });

  test("of shard keys are equal exactly where the keys are", () => {
    const key = fc.tuple(u64, u64).map(([run, shard]) => ShardKey.of(RunId.fromRaw(run), ShardId.fromRaw(shard)));
    fc.assert(
      fc.property(key, key, (a, b) => {
        expect(hexOf(encodeShardKeyInto, a) === hexOf(encodeShardKeyInto, b)).toBe(ShardKey.equals(a, b));
      }),
    );
  });

  test("are not written at all where the value is none", () => {
    const out = new CanonicalWriter();
    expect(() => encodeCursorInto({ lastKey: "k" } as never, out)).toThrow(InvariantViolation);
    expect(() => encodeShardSpecInto({ ...ShardSpec.unbounded(), metadata: null } as never, out)).toThrow(
      InvariantViolation,
    );
    expect(() => encodeShardKeyInto({ run: 1n } as never, out)).toThrow(InvariantViolation);
    expect(out.length).toBe(0);
  });

  test("do not depend on how long the neighbors are", () => {
    fc.assert(
      fc.property(denseKey({ min: 0, max: 40 }), denseKey({ min: 0, max: 40 }), (a, b) => {
        const bytes = hexOf(encodeShardSpecInto, { keyRangeStart: a, keyRangeEnd: b, metadata: ascii("") });
        expect(bytes).toHaveLength(2 * (12 + a.length + b.length));
      }),
    );
  });
});
