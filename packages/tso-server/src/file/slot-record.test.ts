// The codec of the state file. A wrong checksum, or one that misses a flipped bit, turns a rotten
// file into a bound that was never written.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PHYSICAL_MS_MAX } from "@gossip/tso";
import { crc32c } from "./crc32c.ts";
import { decodeState, encodeSlot, encodeState, RECORD_SIZE, SLOT_STRIDE, STATE_FILE_SIZE } from "./slot-record.ts";

const bound = fc.oneof(fc.integer({ min: 0, max: PHYSICAL_MS_MAX }), fc.constantFrom(0, 1, PHYSICAL_MS_MAX));

test("CRC-32C agrees with its published check values", () => {
  expect(crc32c(Buffer.from("123456789"))).toBe(0xe3069283);
  expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa);
  expect(crc32c(Buffer.alloc(0))).toBe(0);
});

test("a slot is laid out as documented", () => {
  const slot = encodeSlot(0x0123_4567_89ab);
  expect(slot.subarray(0, 16).toString("hex")).toBe("4754534f01000000ab89674523010000");
  expect(slot.subarray(RECORD_SIZE)).toEqual(slot.subarray(0, RECORD_SIZE));
});

describe("decodeState", () => {
  test("gives back the greater slot, and the other one to write", () => {
    fc.assert(
      fc.property(bound, bound, (first, second) => {
        const bytes = encodeState(first);
        encodeSlot(second).copy(bytes, SLOT_STRIDE);
        expect(decodeState(bytes)).toEqual({
          ok: true,
          value: { highWaterMs: Math.max(first, second), nextSlot: second > first ? 0 : 1 },
        });
      }),
    );
  });

  test("takes the greater copy of a slot, whichever of them a crash left behind", () => {
    for (const newer of [0, RECORD_SIZE]) {
      const bytes = encodeState(5000);
      encodeSlot(9000).copy(bytes, SLOT_STRIDE + newer, 0, RECORD_SIZE);
      expect(decodeState(bytes)).toEqual({ ok: true, value: { highWaterMs: 9000, nextSlot: 0 } });
    }
  });

  test("answers whatever the bytes are, and never with a bound that was not there", () => {
    fc.assert(
      fc.property(
        bound,
        fc.array(fc.tuple(fc.nat({ max: STATE_FILE_SIZE - 1 }), fc.nat({ max: 255 })), { maxLength: 30 }),
        (first, damage) => {
          const bytes = encodeState(first);
          // Half of the damage where the records are: elsewhere it does nothing.
          for (const [at, value] of damage) bytes[at % 2 === 0 ? at : at % (2 * RECORD_SIZE)] = value;
          const decoded = decodeState(bytes);
          if (decoded.ok) expect(decoded.value.highWaterMs).toBe(first);
          else expect(["BadMagic", "CrcMismatch", "UnsupportedVersion", "OutOfRange"]).toContain(decoded.error.kind);
        },
      ),
    );
  });

  test("the same bit flipped in both copies of a slot is found out, whichever bit it is", () => {
    const whole = encodeState(1_700_000_000_000);
    for (const slot of [0, SLOT_STRIDE]) {
      for (let bit = 0; bit < RECORD_SIZE * 8; bit++) {
        const flipped = Buffer.from(whole);
        for (const copy of [slot, slot + RECORD_SIZE]) flipped[copy + (bit >> 3)]! ^= 1 << (bit & 7);
        expect(decodeState(flipped)).toMatchObject({ ok: false });
      }
    }
  });

  test("a bound above 46 bits with a right checksum is still none", () => {
    const bytes = encodeState(0);
    for (const at of [0, RECORD_SIZE]) {
      bytes.writeBigUInt64LE(BigInt(PHYSICAL_MS_MAX) + 1n, at + 8);
      bytes.writeUInt32LE(crc32c(bytes.subarray(at, at + 16)), at + 16);
    }
    expect(decodeState(bytes)).toEqual({ ok: false, error: { kind: "OutOfRange" } });
  });
});
