// A key given as text must be the key that its UTF-8 is, or text and bytes would have two owners.
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { encodeHeadInto } from "./text-bytes.ts";

// On a busy machine a property takes longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

test("the head of a text is the head of its UTF-8, lone surrogates included", () => {
  const anyText = fc.array(
    fc.oneof(
      fc.constantFrom(0x61, 0x7f, 0x80, 0x7ff, 0x800, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xffff),
      fc.integer({ min: 0, max: 0xffff }),
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(anyText, fc.integer({ min: 0, max: 40 }), (units, size) => {
      const text = String.fromCharCode(...units);
      const out = new Uint8Array(size + 3);
      const written = encodeHeadInto(text, size, out);
      const whole = new TextEncoder().encode(text);
      expect(written).toBeGreaterThanOrEqual(Math.min(size, whole.length));
      expect(written).toBeLessThanOrEqual(whole.length);
      expect([...out.subarray(0, written)]).toEqual([...whole.subarray(0, written)]);
    }),
    { numRuns: 1_000 },
  );
});
