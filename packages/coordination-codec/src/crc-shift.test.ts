// The checksum of a record is put together from parts that were computed at different times. Where that is off by a bit for some length,
// every record of that length is stored as damaged, and nothing can be read of it again.

import fc from "fast-check";
import { expect, test } from "vitest";
import { CrcShift } from "./crc-shift.ts";
import { updateCrc } from "./crc32c.ts";

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
const update = (register: number, bytes: Uint8Array): number => updateCrc(register, viewOf(bytes), 0, bytes.length);

const register = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

test("bytes lead where zeros of their number and they themselves from 0 lead together", () => {
  fc.assert(
    fc.property(register, fc.uint8Array({ maxLength: 80 }), (before, bytes) => {
      expect(new CrcShift(bytes.length).of(before) ^ update(0, bytes)).toBe(update(before, bytes));
    }),
    { numRuns: 500 },
  );
});

test("what is before others is taken out by what they shift it to", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 80 }), (gone, kept) => {
      const both = update(0, Uint8Array.of(...gone, ...kept));
      expect(both ^ new CrcShift(kept.length).of(update(0, gone))).toBe(update(0, kept));
    }),
  );
});

test("one after the other is both at once, wherever bytes are cut", () => {
  fc.assert(
    fc.property(register, fc.uint8Array({ maxLength: 70 }), fc.nat({ max: 70 }), (before, bytes, at) => {
      const cut = Math.min(at, bytes.length);
      expect(updateCrc(updateCrc(before, viewOf(bytes), 0, cut), viewOf(bytes), cut, bytes.length)).toBe(
        update(before, bytes),
      );
    }),
  );
});
