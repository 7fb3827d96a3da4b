// The range of a shard is half-open and an empty bound is no bound. Every off-by-one here is a key that two workers
// process or that none does, and a bound that is borrowed by mistake turns into another shard's.
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ascii, denseKey, filled, NOT_BYTES, OVERSIZED_KEY } from "../arbitraries.fixture.ts";
import { MAX_KEY_SIZE, MAX_METADATA_SIZE } from "../limits.ts";
import { validateShardSpec, type ShardSpecRef } from "./shard-spec-ref.ts";
import { ShardSpec } from "./shard-spec.ts";

const bound = denseKey({ min: 0, max: 3 });
const OVERSIZED_METADATA = filled(MAX_METADATA_SIZE + 1);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

function ref(start: string | Uint8Array, end: string | Uint8Array, metadata: Uint8Array = ascii("")): ShardSpecRef {
  const bytes = (value: string | Uint8Array): Uint8Array => (typeof value === "string" ? ascii(value) : value);
  return { keyRangeStart: bytes(start), keyRangeEnd: bytes(end), metadata };
}

describe("validateShardSpec", () => {
  const keyTooLarge = (size: number) => ({ kind: "KeyTooLarge", size, max: 4096 });
  const metadataTooLarge = { kind: "MetadataTooLarge", size: 16_385, max: 16_384 };
  // Each pair of neighboring rules is broken at once, and the earlier one must decide.
  test.each([
    { broken: "start size and end size", spec: ref(filled(4098), OVERSIZED_KEY), error: keyTooLarge(4098) },
    { broken: "end size", spec: ref("a", OVERSIZED_KEY), error: keyTooLarge(4097) },
    { broken: "end size and metadata", spec: ref("a", OVERSIZED_KEY, OVERSIZED_METADATA), error: keyTooLarge(4097) },
    { broken: "metadata", spec: ref("a", "b", OVERSIZED_METADATA), error: metadataTooLarge },
    { broken: "metadata and order", spec: ref("b", "a", OVERSIZED_METADATA), error: metadataTooLarge },
    { broken: "order", spec: ref("ba", "b"), error: { kind: "InvertedRange", startLen: 2, endLen: 1 } },
    { broken: "an empty range", spec: ref("b", "b"), error: { kind: "InvertedRange", startLen: 1, endLen: 1 } },
  ])("refuses by the first broken rule: $broken", ({ spec, error }) => {
    expect(validateShardSpec(spec)).toEqual({ ok: false, error });
    expect(ShardSpec.tryFromRef(spec)).toEqual({ ok: false, error });
    const input = { start: spec.keyRangeStart, end: spec.keyRangeEnd, metadata: spec.metadata };
    expect(ShardSpec.tryWithRangeAndMetadata(input)).toEqual({ ok: false, error });
    expect(() => ShardSpec.withRangeAndMetadata(input)).toThrow(InvariantViolation);
    if (spec.metadata.length === 0) {
      expect(ShardSpec.tryWithRange(input)).toEqual({ ok: false, error });
      expect(() => ShardSpec.withRange(input)).toThrow(/^shard spec was refused: .*\d+ bytes/);
    }
  });

  test("accepts sizes up to the limits", () => {
    const spec = ref(filled(MAX_KEY_SIZE, 0x61), filled(MAX_KEY_SIZE, 0x62), filled(MAX_METADATA_SIZE));
    expect(validateShardSpec(spec)).toEqual({ ok: true, value: undefined });
  });

  test("refuses two bounds exactly where no key lies between them, and never a missing one", () => {
    fc.assert(
      fc.property(bound, bound, (start, end) => {
        const isRange = start.length === 0 || end.length === 0 || hex(start) < hex(end);
        expect(validateShardSpec(ref(start, end)).ok).toBe(isRange);
      }),
    );
  });
});

describe("ShardSpec", () => {
  test("contains the keys from its start up to its end, without the end", () => {
    fc.assert(
      fc.property(bound, bound, bound, (start, end, key) => {
        // Hex text of whole bytes sorts as the bytes do.
        const isInside = (start.length === 0 || hex(key) >= hex(start)) && (end.length === 0 || hex(key) < hex(end));
        expect(ShardSpec.containsKey(ref(start, end), key)).toBe(isInside);
      }),
    );
  });

  test.each([
    { spec: ref("", ""), start: true, end: true },
    { spec: ref("a", ""), start: false, end: true },
    { spec: ref("", "z"), start: true, end: false },
    { spec: ref("a", "z"), start: false, end: false },
  ])("knows which bounds are missing: start $start, end $end", ({ spec, start, end }) => {
    expect(ShardSpec.isStartUnbounded(spec)).toBe(start);
    expect(ShardSpec.isEndUnbounded(spec)).toBe(end);
    expect(ShardSpec.isUnbounded(spec)).toBe(start && end);
  });

  test("unbounded has three empty fields", () => {
    expect(ShardSpec.unbounded()).toEqual(ref("", ""));
  });

  test("is equal exactly where all three fields are", () => {
    fc.assert(
      fc.property(fc.array(bound, { minLength: 6, maxLength: 6 }), ([a, b, c, d, e, f]) => {
        const left = ref(a!, b!, c!);
        const right = ref(d!, e!, f!);
        expect(ShardSpec.equals(left, right)).toBe(
          [a, b, c].map((x) => hex(x!)).join() === [d, e, f].map((x) => hex(x!)).join(),
        );
        expect(ShardSpec.equals(left, ref(a!, b!, c!))).toBe(true);
      }),
    );
  });

  test.each([
    { name: "Uint8Array", make: (text: string) => ascii(text) },
    { name: "Buffer", make: (text: string) => Buffer.from(text) },
  ])("does not change when the caller writes to the $name it was made of", ({ make }) => {
    const input = { start: make("a"), end: make("m"), metadata: make("meta") };
    const spec = ShardSpec.withRangeAndMetadata(input);
    for (const bytes of Object.values(input)) bytes.fill(0);
    expect(spec).toEqual(ref("a", "m", ascii("meta")));
    expect(Object.isFrozen(spec)).toBe(true);
  });

  test("refuses what is not bytes, in every field", () => {
    for (const bad of NOT_BYTES) {
      const bytes = bad as Uint8Array;
      for (const field of ["keyRangeStart", "keyRangeEnd", "metadata"]) {
        const spec = { ...ref("a", "z"), [field]: bytes };
        expect(() => validateShardSpec(spec)).toThrow(/must be a Uint8Array, got/);
        expect(() => ShardSpec.tryFromRef(spec)).toThrow(InvariantViolation);
        expect(() => ShardSpec.isUnbounded(spec)).toThrow(InvariantViolation);
        expect(() => ShardSpec.equals(ref("a", "z"), spec)).toThrow(InvariantViolation);
      }
      expect(() => ShardSpec.containsKey(ref("a", "z"), bytes)).toThrow("key must be a Uint8Array");
      expect(() => ShardSpec.withRange({ start: bytes, end: ascii("z") })).toThrow(InvariantViolation);
    }
    expect(() => ShardSpec.tryWithRange(undefined as never)).toThrow("key range must be an object, got undefined");
    expect(() => ShardSpec.isStartUnbounded(null as never)).toThrow("shard spec must be an object, got null");
  });

  test("tells sizes and never keys when it throws", () => {
    const input = { start: ascii("secret-b"), end: ascii("secret-a") };
    expect(() => ShardSpec.withRange(input)).toThrow(/^(?!.*secret).*\(8 bytes\).*\(8 bytes\)/);
  });
});
