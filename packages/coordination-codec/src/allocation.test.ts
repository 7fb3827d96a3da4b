// A checkpoint encodes its record. What that leaves on the heap, the collector takes away while other sessions wait for
// their commit. The bound is that of noise: a boxed number is 16 bytes, a view 96.

import { Cursor, SHARD_OP_LOG_CAP, type OpId } from "@gossip/contracts";
import { heapBytesPerCall } from "@gossip/tools/heap";
import { expect, test } from "vitest";
import { encodeRunRecordInto } from "./encode-run-record.ts";
import { encodeShardRecordInto } from "./encode-shard-record.ts";
import { RecordWriter } from "./record-writer.ts";
import { ShardEncoder } from "./shard-encoder.ts";
import { activeRun, BUSY_SHARD, DONE_RUN, FRESH_SHARD, PARKED_SHARD, SPLIT_SHARD } from "./samples.fixture.ts";

const NOISE_BYTES = 4;

test("encoding shards' records into a writer allocates nothing", () => {
  const out = new RecordWriter();
  const records = [FRESH_SHARD, BUSY_SHARD, SPLIT_SHARD, PARKED_SHARD];
  const bytes = heapBytesPerCall((calls) => {
    for (let call = 0; call < calls; call++) {
      out.reset();
      encodeShardRecordInto(records[call % records.length]!, out);
    }
  }, 5000);
  expect(bytes).toBeLessThan(NOISE_BYTES);
});

test("encoding runs' records into a writer allocates nothing", () => {
  const out = new RecordWriter();
  const records = [DONE_RUN, activeRun(50)];
  const bytes = heapBytesPerCall((calls) => {
    for (let call = 0; call < calls; call++) {
      out.reset();
      encodeRunRecordInto(records[call % records.length]!, out);
    }
  }, 5000);
  expect(bytes).toBeLessThan(NOISE_BYTES);
});

test("encoding checkpoints of a shard one after the other allocates nothing", () => {
  const out = new RecordWriter();
  const encoder = new ShardEncoder();
  // Checkpoints in a circle: each log is the one before without its first entry, and with another at its end.
  const entries = Array.from({ length: 2 * SHARD_OP_LOG_CAP }, (_, index) => ({
    ...BUSY_SHARD.opLog[0]!,
    opId: BigInt(index) as OpId,
  }));
  const records = entries.map((_, first) => ({
    ...BUSY_SHARD,
    cursor: Cursor.withLastKey(BUSY_SHARD.cursor.lastKey!),
    opLog: Array.from({ length: SHARD_OP_LOG_CAP }, (_unused, index) => entries[(first + index) % entries.length]!),
  }));
  const bytes = heapBytesPerCall((calls) => {
    for (let call = 0; call < calls; call++) {
      out.reset();
      encoder.encodeInto(records[(call + 31) % records.length]!, records[call % records.length]!, out);
    }
  }, 4096);
  expect(bytes).toBeLessThan(NOISE_BYTES);
});
