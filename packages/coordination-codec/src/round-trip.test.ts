// A record that comes back other than it went in is a lost checkpoint, a revived lease or a forgotten retry, and no one
// would notice. So for every record that is in order: what is decoded is what was encoded, in the bytes that the
// document says, and no two records share their bytes.

import { findRunFault, findShardFault } from "@gossip/coordination/internal";
import { equalBytes, ok } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeRunRecord } from "./decode-run-record.ts";
import { decodeShardRecord } from "./decode-shard-record.ts";
import { decodeDeletedRun, encodeDeletedRun } from "./deleted-run.ts";
import { encodeRunRecord, encodeRunRecordInto } from "./encode-run-record.ts";
import { encodeShardRecord, encodeShardRecordInto } from "./encode-shard-record.ts";
import { expectSame } from "./expect-same.fixture.ts";
import { runBlob, shardBlob } from "./layout.fixture.ts";
import { RecordWriter } from "./record-writer.ts";
import { runRecord, shardRecord, tenant } from "./records.fixture.ts";

const RUNS = { numRuns: 500 };

describe("a shard's record", () => {
  test("the records of these tests are in order", () => {
    fc.assert(
      fc.property(shardRecord, (record) => {
        expect(findShardFault(record)).toBeUndefined();
      }),
    );
  });

  test("decodes to what was encoded", () => {
    fc.assert(
      fc.property(shardRecord, (record) => {
        expectSame(decodeShardRecord(encodeShardRecord(record)), ok(record));
      }),
      RUNS,
    );
  });

  test("has the bytes of the documented layout, in either form of encoding", () => {
    const out = new RecordWriter();
    fc.assert(
      fc.property(shardRecord, (record) => {
        const expected = shardBlob(record, 2);
        out.reset();
        encodeShardRecordInto(record, out);
        expect(equalBytes(out.view(), expected)).toBe(true);
        expect(equalBytes(encodeShardRecord(record), expected)).toBe(true);
      }),
      RUNS,
    );
  });

  test("shares its bytes with no other", () => {
    fc.assert(
      fc.property(shardRecord, shardRecord, fc.nat(), (record, other, pick) => {
        // Another record that differs in one field only, as long as that leaves it in order.
        const fields = Object.keys(record) as (keyof typeof record)[];
        const field = fields[pick % fields.length]!;
        const changed = { ...record, [field]: other[field] };
        fc.pre(findShardFault(changed) === undefined);
        const isSame = JSON.stringify(toComparable(record[field])) === JSON.stringify(toComparable(other[field]));
        expect(equalBytes(encodeShardRecord(record), encodeShardRecord(changed))).toBe(isSame);
      }),
      RUNS,
    );
  });

  test("is decoded from a part of a larger buffer, and keeps nothing of it", () => {
    fc.assert(
      fc.property(shardRecord, fc.nat({ max: 9 }), (record, offset) => {
        // Not by the codec, which would then know the tenant already.
        const blob = shardBlob(record, 2);
        const shared = Buffer.alloc(offset + blob.length + 5, 0xee);
        shared.set(blob, offset);
        const decoded = decodeShardRecord(shared.subarray(offset, offset + blob.length));
        shared.fill(0);
        expectSame(decoded, ok(record));
        expectSame(encodeShardRecord(record), blob);
      }),
    );
  });
});

describe("a run's record", () => {
  test("the records of these tests are in order", () => {
    fc.assert(
      fc.property(runRecord, (record) => {
        expect(findRunFault(record)).toBeUndefined();
      }),
    );
  });

  test("decodes to what was encoded", () => {
    fc.assert(
      fc.property(runRecord, (record) => {
        expectSame(decodeRunRecord(encodeRunRecord(record)), ok(record));
      }),
      RUNS,
    );
  });

  test("has the bytes of the documented layout, in either form of encoding", () => {
    const out = new RecordWriter();
    fc.assert(
      fc.property(runRecord, (record) => {
        const expected = runBlob(record, 2);
        out.reset();
        encodeRunRecordInto(record, out);
        expect(equalBytes(out.view(), expected)).toBe(true);
        expect(equalBytes(encodeRunRecord(record), expected)).toBe(true);
      }),
      RUNS,
    );
  });

  test("shares its bytes with no other", () => {
    fc.assert(
      fc.property(runRecord, runRecord, fc.nat(), (record, other, pick) => {
        const fields = Object.keys(record) as (keyof typeof record)[];
        const field = fields[pick % fields.length]!;
        const changed = { ...record, [field]: other[field] };
        fc.pre(findRunFault(changed) === undefined);
        const isSame = JSON.stringify(toComparable(record[field])) === JSON.stringify(toComparable(other[field]));
        expect(equalBytes(encodeRunRecord(record), encodeRunRecord(changed))).toBe(isSame);
      }),
      RUNS,
    );
  });
});

test("the mark of a deleted run decodes to what was encoded", () => {
  fc.assert(
    fc.property(tenant, runRecord, (owner, { run }) => {
      expectSame(decodeDeletedRun(encodeDeletedRun({ tenant: owner, run })), ok({ tenant: owner, run }));
    }),
  );
});

/** Bigints and bytes in a form that `JSON.stringify` tells apart. */
function toComparable(value: unknown): unknown {
  if (typeof value === "bigint") return `u64 ${value}`;
  if (value instanceof Uint8Array) return `bytes ${value.join(",")}`;
  if (Array.isArray(value)) return value.map(toComparable);
  if (typeof value === "object" && value !== null)
    return Object.entries(value).map(([name, field]) => [name, toComparable(field)]);
  return value;
}
