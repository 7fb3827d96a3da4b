// Bytes rot, drivers cut them short, people paste them. A decoder that throws takes its process down; one that shrugs
// hands out a record that was never written, and a shard goes back to keys that were done or on past keys that were not.
// So, for every cut and every flipped bit of real records, and for anything else that chance brings up: an error, or a
// record that is in order.

import { equalBytes, type Result } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CodecError } from "./codec-error.ts";
import { decodeRunRecord } from "./decode-run-record.ts";
import { decodeShardRecord } from "./decode-shard-record.ts";
import { decodeDeletedRun, encodeDeletedRun } from "./deleted-run.ts";
import { encodeRunRecord } from "./encode-run-record.ts";
import { encodeShardRecord } from "./encode-shard-record.ts";
import { expectSame } from "./expect-same.fixture.ts";
import { resealed, runBlob, sealed, shardBlob } from "./layout.fixture.ts";
import { runRecord, shardRecord } from "./records.fixture.ts";
import { activeRun, BUSY_SHARD, DONE_RUN, FRESH_SHARD, PARKED_SHARD, SPLIT_SHARD } from "./samples.fixture.ts";

interface Blob {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Decode, and give back what the record encodes to: no encoder takes a record that is not in order. */
  readonly through: (bytes: Uint8Array) => Result<Uint8Array, CodecError>;
}

const throughShard = through(decodeShardRecord, encodeShardRecord);
const throughRun = through(decodeRunRecord, encodeRunRecord);
const throughDeletedRun = through(decodeDeletedRun, encodeDeletedRun);

function through<T>(
  decode: (bytes: Uint8Array) => Result<T, CodecError>,
  encode: (value: T) => Uint8Array,
): Blob["through"] {
  return (bytes) => {
    const decoded = decode(bytes);
    return decoded.ok ? { ok: true, value: encode(decoded.value) } : decoded;
  };
}

const SHARDS = {
  "a fresh shard": FRESH_SHARD,
  "a held shard": BUSY_SHARD,
  "a split shard": SPLIT_SHARD,
  "a parked shard": PARKED_SHARD,
};
const RUNS = { "an active run": activeRun(5), "a run that is done": DONE_RUN };

function blobsOf(version: 1 | 2): Blob[] {
  return [
    ...Object.entries(SHARDS).map(([name, record]) => ({
      name,
      bytes: shardBlob(record, version),
      through: throughShard,
    })),
    ...Object.entries(RUNS).map(([name, record]) => ({ name, bytes: runBlob(record, version), through: throughRun })),
  ];
}

const VERSION_2: readonly Blob[] = [
  ...blobsOf(2),
  {
    name: "a deleted run",
    bytes: encodeDeletedRun({ tenant: DONE_RUN.tenant, run: DONE_RUN.run }),
    through: throughDeletedRun,
  },
];
const VERSION_1: readonly Blob[] = blobsOf(1);

/** Every blob that differs from `bytes` in one bit. */
function* flipped(bytes: Uint8Array): Generator<Uint8Array> {
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    const copy = bytes.slice();
    copy[bit >> 3]! ^= 1 << (bit & 7);
    yield copy;
  }
}

describe("version 2", () => {
  test.each(VERSION_2)("$name is read when it is whole", ({ bytes, through: read }) => {
    expectSame(read(bytes), { ok: true, value: bytes });
  });

  test.each(VERSION_2)("$name: every cut is found", ({ bytes, through: read }) => {
    for (let size = 0; size < bytes.length; size++) expect(read(bytes.slice(0, size)).ok).toBe(false);
  });

  test.each(VERSION_2)("$name: every flipped bit is found", ({ bytes, through: read }) => {
    for (const damaged of flipped(bytes)) expect(read(damaged).ok).toBe(false);
  });

  test.each(VERSION_2)(
    "$name: a cut that hits a checksum by chance is found by the fields",
    ({ bytes, through: read }) => {
      for (let size = 3; size < bytes.length - 4; size++) expect(read(sealed(bytes.slice(0, size))).ok).toBe(false);
    },
  );

  test.each(VERSION_2)("$name: more bytes than there should be are found", ({ bytes, through: read }) => {
    const longer = Uint8Array.of(...bytes.subarray(0, -4), 0);
    expect(read(sealed(longer))).toEqual({ ok: false, error: { kind: "TrailingBytes", remaining: 1 } });
    expect(read(Uint8Array.of(...bytes, 0))).toEqual({
      ok: false,
      error: { kind: "ChecksumMismatch", size: bytes.length + 1 },
    });
  });

  test.each(VERSION_2)(
    "$name: what a flipped bit makes under a right checksum is refused, or a record with those bytes",
    ({ bytes, through: read }) => {
      let other = 0;
      for (const damaged of flipped(bytes.slice(0, -4))) {
        const blob = sealed(damaged);
        const result = read(blob);
        if (!result.ok) continue;
        other++;
        expect(equalBytes(result.value, blob)).toBe(true);
      }
      // The tenant's bits alone are this many, and any of them is as good as another.
      expect(other).toBeGreaterThanOrEqual(256);
    },
  );
});

describe("version 1", () => {
  test.each(VERSION_1)("$name is read when it is whole, and becomes version 2", ({ bytes, through: read }) => {
    const result = read(bytes);
    expect(result.ok && read(result.value)).toEqual(result);
  });

  test.each(VERSION_1)("$name: every cut is found", ({ bytes, through: read }) => {
    for (let size = 0; size < bytes.length; size++) expect(read(bytes.slice(0, size)).ok).toBe(false);
  });

  test.each(VERSION_1)(
    "$name: every flipped bit is found or makes a record that is in order",
    ({ bytes, through: read }) => {
      let found = 0;
      for (const damaged of flipped(bytes)) {
        const result = read(damaged);
        if (!result.ok) found++;
        else expectSame(read(result.value), result);
      }
      // What has no checksum has this many bits that nothing watches.
      expect(found).toBeGreaterThan(0);
      expect(found).toBeLessThan(8 * bytes.length);
    },
  );
});

const READERS = [throughShard, throughRun, throughDeletedRun];

/** Whatever they are, the bytes give an error or a record in order; in version 2 that record has just these bytes. */
function expectNoSurprise(bytes: Uint8Array): void {
  for (const read of READERS) {
    const result = read(bytes);
    if (!result.ok) continue;
    if (bytes[1] === 0x32) expectSame(result.value, bytes);
    else expectSame(read(result.value), result);
  }
}

describe("chance", () => {
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.array(fc.constantFrom(0, 1, 2, 0xff), { maxLength: 300 }).map((values) => Uint8Array.from(values)),
  );
  const header = fc
    .tuple(fc.constantFrom(0x31, 0x32), fc.constantFrom(1, 2, 3, 4))
    .map(([version, kind]) => Uint8Array.of(0x76, version, kind));

  test("any bytes", () => {
    fc.assert(fc.property(noise, expectNoSurprise), { numRuns: 1000 });
  });

  test("any bytes behind a header, with a right checksum or none", () => {
    fc.assert(
      fc.property(header, noise, (front, rest) => {
        const blob = Uint8Array.of(...front, ...rest);
        expectNoSurprise(blob);
        expectNoSurprise(sealed(blob));
      }),
      { numRuns: 1000 },
    );
  });

  const valid = fc.oneof(
    shardRecord.chain((record) => fc.constantFrom(1 as const, 2 as const).map((version) => shardBlob(record, version))),
    runRecord.chain((record) => fc.constantFrom(1 as const, 2 as const).map((version) => runBlob(record, version))),
  );
  const edit = fc.record({ at: fc.nat(), removed: fc.nat({ max: 9 }), inserted: fc.uint8Array({ maxLength: 9 }) });

  test("records with pieces cut out, put in and replaced, with a right checksum or a wrong one", () => {
    fc.assert(
      fc.property(valid, fc.array(edit, { minLength: 1, maxLength: 4 }), (blob, edits) => {
        const damaged = edits.reduce((bytes, { at, removed, inserted }) => {
          const start = at % (bytes.length + 1);
          return Uint8Array.of(...bytes.subarray(0, start), ...inserted, ...bytes.subarray(start + removed));
        }, blob);
        expectNoSurprise(damaged);
        if (damaged.length >= 4) expectNoSurprise(resealed(damaged));
      }),
      { numRuns: 1000 },
    );
  });

  test("the head of one record with the tail of another", () => {
    fc.assert(
      fc.property(valid, valid, fc.nat(), fc.nat(), (one, other, cut, join) => {
        const mixed = Uint8Array.of(...one.subarray(0, cut % one.length), ...other.subarray(join % other.length));
        expectNoSurprise(mixed);
        if (mixed.length >= 4) expectNoSurprise(resealed(mixed));
      }),
      { numRuns: 300 },
    );
  });
});
