// A checkpoint encodes its record. What that leaves on the heap, the collector takes away while other sessions wait for
// their commit. The bound is that of noise: a boxed number is 16 bytes, a view 96.

import { heapBytesPerCall } from "@gossip/tools/heap";
import { expect, test } from "vitest";
import { encodeRunRecordInto } from "./encode-run-record.ts";
import { encodeShardRecordInto } from "./encode-shard-record.ts";
import { RecordWriter } from "./record-writer.ts";
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
