// A listing is one buffer with a record behind the other. If one were read with a byte of the next, or after a damaged one
// as if it were intact, a worker would get a shard that was never registered. So every record must read as it does alone.

import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeShardIn, decodeShardRecord } from "./decode-shard-record.ts";
import { encodeDeletedRun } from "./deleted-run.ts";
import { expectSame } from "./expect-same.fixture.ts";
import { resealed, runBlob, shardBlob } from "./layout.fixture.ts";
import { FieldReader } from "./field-reader.ts";
import { shardRecord } from "./records.fixture.ts";
import { DONE_RUN, FRESH_SHARD } from "./samples.fixture.ts";

/** A shard's record of either version: whole, cut short, with a byte that changed since or that was wrong from the start; or something else. */
const blob: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 4, arbitrary: whole() },
  whole().chain((bytes) => fc.nat(bytes.length).map((size) => bytes.slice(0, size))),
  changed().map(([bytes]) => bytes),
  changed().map(([bytes, version]) => (version === 2 ? resealed(bytes) : bytes)),
  fc.constant(runBlob(DONE_RUN, 2)),
  fc.constant(encodeDeletedRun(DONE_RUN)),
  fc.uint8Array({ maxLength: 8 }),
);

function whole(): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(shardRecord, fc.constantFrom(1 as const, 2 as const))
    .map(([record, version]) => shardBlob(record, version));
}

function changed(): fc.Arbitrary<readonly [Uint8Array, 1 | 2]> {
  return fc
    .tuple(shardRecord, fc.constantFrom(1 as const, 2 as const), fc.nat(), fc.nat(255))
    .map(([record, version, place, byte]) => {
      const bytes = shardBlob(record, version);
      // Not in the checksum, which is there to be made anew.
      bytes[place % (bytes.length - 4)] = byte;
      return [bytes, version] as const;
    });
}

/** The blobs in a part of a larger buffer, one behind the other. */
function packed(blobs: readonly Uint8Array[], offset: number): Buffer {
  const all = Buffer.concat([Buffer.alloc(offset, 0x76), ...blobs, Buffer.alloc(5, 0x32)]);
  return all.subarray(offset, all.length - 5);
}

describe("FieldReader", () => {
  test("reads each record as if it were alone, whatever the others are, and in whatever order", () => {
    fc.assert(
      fc.property(
        fc.array(blob, { minLength: 1, maxLength: 6 }),
        fc.nat(9),
        fc.boolean(),
        (blobs, offset, isBackwards) => {
          const buffer = packed(blobs, offset);
          const reader = new FieldReader(buffer);
          const starts = blobs.map((_, index) => blobs.slice(0, index).reduce((sum, { length }) => sum + length, 0));
          const order = isBackwards ? [...blobs.keys()].reverse() : [...blobs.keys()];
          const read = order.map((index) =>
            decodeShardIn(reader, starts[index]!, starts[index]! + blobs[index]!.length),
          );
          // The records own what they hold.
          buffer.fill(0);
          expectSame(
            read,
            order.map((index) => decodeShardRecord(blobs[index]!)),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  test("takes no place that is not in its buffer", () => {
    const bytes = shardBlob(FRESH_SHARD, 2);
    const reader = new FieldReader(bytes);
    const outside: readonly (readonly [number, number])[] = [
      [-1, 5],
      [5, 4],
      [0, bytes.length + 1],
      [bytes.length, bytes.length + 1],
      [0.5, 5],
      [0, Number.NaN],
      [Symbol("1") as never, 5],
      [0, "5" as never],
    ];
    for (const [start, end] of outside)
      expect(() => decodeShardIn(reader, start, end), `${String(start)} to ${end}`).toThrow(InvariantViolation);
    expect(decodeShardIn(reader, 3, 3)).toMatchObject({ error: { kind: "Truncated", remaining: 0 } });
    expect(decodeShardIn(reader, 0, bytes.length).ok).toBe(true);
  });

  test.each([undefined, "bytes", [1, 2], new ArrayBuffer(8)])("is made of bytes and nothing else: %o", (bytes) => {
    expect(() => new FieldReader(bytes as never)).toThrow(InvariantViolation);
  });
});
