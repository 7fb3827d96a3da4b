// A checksum that is computed a little differently finds damage just as well, until another program, or the next version
// of this one, reads the same bytes and calls all of them damaged.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { crc32c } from "./crc32c.ts";
import { crc32cByBits } from "./layout.fixture.ts";

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
const checksum = (bytes: Uint8Array): number => crc32c(viewOf(bytes), 0, bytes.length) >>> 0;

describe("crc32c", () => {
  // The check value of the algorithm, and the vectors of RFC 3720, appendix B.4.
  test.each([
    ["the check value", new TextEncoder().encode("123456789"), 0xe306_9283],
    ["nothing", new Uint8Array(0), 0],
    ["32 bytes of 00", new Uint8Array(32), 0x8a91_36aa],
    ["32 bytes of ff", new Uint8Array(32).fill(0xff), 0x62a8_ab43],
    ["32 bytes that rise", Uint8Array.from({ length: 32 }, (_, index) => index), 0x46dd_794e],
    ["32 bytes that fall", Uint8Array.from({ length: 32 }, (_, index) => 31 - index), 0x113f_db5c],
  ])("%s", (_name, bytes, expected) => {
    expect(checksum(bytes)).toBe(expected);
  });

  test("is the definition's, at every length and position", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), fc.nat({ max: 9 }), fc.nat({ max: 9 }), (bytes, before, after) => {
        const within = new Uint8Array(before + bytes.length + after).fill(0xaa);
        within.set(bytes, before);
        expect(crc32c(viewOf(within), before, before + bytes.length) >>> 0).toBe(crc32cByBits(bytes));
      }),
      { numRuns: 500 },
    );
  });

  test("tells every one, two and three flipped bits of a record's size", () => {
    // What a flip does to the checksum does not depend on the rest. So no flip may do nothing, no two the same, and no
    // two together what a third does.
    const size = 96;
    const clean = checksum(new Uint8Array(size));
    const effects = Array.from({ length: 8 * size }, (_, bit) => {
      const flipped = new Uint8Array(size);
      flipped[bit >> 3] = 1 << (bit & 7);
      return (checksum(flipped) ^ clean) >>> 0;
    });
    const known = new Set(effects);
    expect(known.has(0)).toBe(false);
    expect(known.size).toBe(effects.length);
    const hidden = effects.filter((one, index) =>
      effects.slice(index + 1).some((other) => known.has((one ^ other) >>> 0)),
    );
    expect(hidden).toEqual([]);
  });
});
