// A writer that reuses the bytes of a log must write what a writer without memory writes. Bytes of another log would be stored
// with a valid checksum, and a retry would then be executed a second time.

import { ShardId } from "@gossip/contracts";
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeShardRecord, encodeShardRecordInto } from "./encode-shard-record.ts";
import { RecordWriter } from "./record-writer.ts";
import { BUSY_SHARD, goingOn } from "./samples.fixture.ts";

/** The records of a shard that is checkpointed again and again. */
const advancedShards = (shard: bigint) => goingOn({ ...BUSY_SHARD, shard: ShardId.fromRaw(shard) }, 24);

test("writes the same bytes as a writer without memory, whichever records came before", () => {
  const families = [1n, 513n, 1025n].map((shard) => advancedShards(shard));
  const out = new RecordWriter({ reusesLogs: true });
  const pick = fc.record({ family: fc.nat(families.length - 1), step: fc.nat(23) });
  fc.assert(
    fc.property(fc.array(pick, { minLength: 1, maxLength: 40 }), (picks) => {
      for (const { family, step } of picks) {
        const record = families[family]![step]!;
        out.reset();
        encodeShardRecordInto(record, out);
        expect(out.toOwned()).toEqual(encodeShardRecord(record));
      }
    }),
  );
});

test("forgets a log that it could not write to the end", () => {
  const out = new RecordWriter({ reusesLogs: true });
  const [first, second] = advancedShards(1n).slice(-2);
  encodeShardRecordInto(first!, out);
  const broken = { ...second!, opLog: second!.opLog.with(15, undefined as never) };
  expect(() => encodeShardRecordInto(broken, out)).toThrow(InvariantViolation);
  out.reset();
  encodeShardRecordInto(second!, out);
  expect(out.toOwned()).toEqual(encodeShardRecord(second!));
});
