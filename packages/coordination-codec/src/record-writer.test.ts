// A writer is kept and shared by many records. Bytes of the last one, or of one that was refused half-way, must never
// turn up in the next.

import { DERIVED_SHARD_BIT, type ShardId } from "@gossip/contracts";
import { equalBytes, InvariantViolation, ok } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeShardRecord } from "./decode-shard-record.ts";
import { encodeDeletedRunInto } from "./deleted-run.ts";
import { encodeRunRecordInto } from "./encode-run-record.ts";
import { encodeShardRecord, encodeShardRecordInto } from "./encode-shard-record.ts";
import { expectSame } from "./expect-same.fixture.ts";
import { RecordWriter } from "./record-writer.ts";
import { shardRecord } from "./records.fixture.ts";
import { activeRun, BUSY_SHARD, DONE_RUN, FRESH_SHARD } from "./samples.fixture.ts";

describe("RecordWriter", () => {
  test("holds records one behind the other, however it grew", () => {
    const out = new RecordWriter();
    fc.assert(
      fc.property(fc.array(shardRecord, { maxLength: 5 }), (records) => {
        out.reset();
        const ends = records.map((record) => {
          encodeShardRecordInto(record, out);
          return out.length;
        });
        for (const [index, record] of records.entries()) {
          const start = ends[index - 1] ?? 0;
          expectSame(decodeShardRecord(out.view().slice(start, ends[index])), ok(record));
        }
        const last = ends.at(-2) ?? 0;
        expect(equalBytes(out.view(last), out.toOwned(last))).toBe(true);
      }),
    );
  });

  test("is as before when a record is refused half-way", () => {
    const out = new RecordWriter();
    encodeShardRecordInto(FRESH_SHARD, out);
    const before = out.toOwned();

    expect(() => encodeShardRecordInto({ ...BUSY_SHARD, attempts: -1 }, out)).toThrow(InvariantViolation);
    expect(() => encodeRunRecordInto({ ...DONE_RUN, lastTime: -1n as never }, out)).toThrow(InvariantViolation);
    expect(() => encodeDeletedRunInto({ ...DONE_RUN, run: 1 as never }, out)).toThrow(InvariantViolation);
    expect(out.toOwned()).toEqual(before);

    encodeShardRecordInto(BUSY_SHARD, out);
    expect(out.toOwned(before.length)).toEqual(encodeShardRecord(BUSY_SHARD));
  });

  test("a copy does not change with the writer", () => {
    const out = new RecordWriter();
    encodeShardRecordInto(FRESH_SHARD, out);
    const owned = out.toOwned();
    out.reset();
    encodeShardRecordInto(BUSY_SHARD, out);
    expect(owned).toEqual(encodeShardRecord(FRESH_SHARD));
  });

  test("gives back what a large run took", () => {
    const out = new RecordWriter();
    for (let count = 0; count < 3; count++) encodeRunRecordInto(activeRun(10_000), out);
    expect(out.length).toBeGreaterThan(3 * 160_000);
    expect(out.view().buffer.byteLength).toBeGreaterThanOrEqual(out.length);
    out.reset();
    expect(out.view().buffer.byteLength).toBe(256 * 1024);
    expect(out.length).toBe(0);
  });

  test("a view begins where something was written", () => {
    const out = new RecordWriter();
    encodeShardRecordInto(FRESH_SHARD, out);
    expect(out.view(out.length)).toEqual(new Uint8Array(0));
    for (const bad of [-1, 0.5, out.length + 1, "0", null]) {
      expect(() => out.view(bad as number)).toThrow(InvariantViolation);
      expect(() => out.toOwned(bad as number)).toThrow(InvariantViolation);
    }
  });

  test("nothing else is written to", () => {
    for (const bad of [undefined, null, {}, new Uint8Array(9)]) {
      expect(() => encodeShardRecordInto(FRESH_SHARD, bad as never)).toThrow(InvariantViolation);
      expect(() => encodeRunRecordInto(DONE_RUN, bad as never)).toThrow(InvariantViolation);
      expect(() => encodeDeletedRunInto(DONE_RUN, bad as never)).toThrow(InvariantViolation);
    }
  });
});

test("two tenants of one first byte are not taken for each other", () => {
  const tenants = ["07", "08", "07"].map((last) => ("07".repeat(31) + last) as typeof FRESH_SHARD.tenant);
  for (const tenant of tenants) {
    const record = { ...FRESH_SHARD, tenant, spawned: [DERIVED_SHARD_BIT as ShardId] };
    expectSame(decodeShardRecord(encodeShardRecord(record)), ok(record));
  }
});
