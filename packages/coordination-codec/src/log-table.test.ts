// A log that is taken for another's, or for what it was one operation ago, stores a history that never was: a repeated
// operation is then done twice, or a new one refused. No checksum tells, since the bytes are sound.

import type { LogicalTime, OpId, RunId, ShardId } from "@gossip/contracts";
import type { OpLogEntry, PayloadHash, ShardRecord } from "@gossip/coordination";
import { equalBytes, InvariantViolation } from "@gossip/stdx";
import { fixedExamples } from "@gossip/tools/fixed-examples";
import fc from "fast-check";
import { expect, test } from "vitest";
import { updateCrc } from "./crc32c.ts";
import { encodeShardRecordInto } from "./encode-shard-record.ts";
import { OP_SIZE, putOp } from "./put-op.ts";
import { RecordWriter } from "./record-writer.ts";
import { LogTable } from "./log-table.ts";
import { BUSY_SHARD } from "./samples.fixture.ts";

const FULL = 16;

let lastOp = 0n;
function newEntry(): OpLogEntry {
  const op = ++lastOp;
  return {
    opId: op as OpId,
    kind: "Checkpoint",
    result: "Completed",
    payloadHash: (op << 9n) as PayloadHash,
    executedAt: (op << 20n) as LogicalTime,
  };
}

const newLog = (): readonly OpLogEntry[] => Array.from({ length: FULL }, newEntry);

/** The same by definition: entry behind entry, nothing known. */
function encoded(log: readonly OpLogEntry[]): Uint8Array {
  const bytes = new Uint8Array(log.length * OP_SIZE);
  for (const [index, entry] of log.entries()) putOp(new DataView(bytes.buffer), index * OP_SIZE, entry);
  return bytes;
}

/** What may become of a shard's log before it is encoded again. `Broken` is encoded, refused, and not kept. */
const STEPS = {
  Next: (log) => [...log.slice(1), newEntry()],
  Same: (log) => log,
  Copied: (log) => [...log],
  ReadAgain: (log) => log.map((entry) => ({ ...entry })),
  Skipped: (log) => [...log.slice(2), newEntry(), newEntry()],
  Back: (log) => [newEntry(), ...log.slice(0, -1)],
  Middle: (log) => log.map((entry, index) => (index === 7 ? newEntry() : entry)),
  NextAndMiddle: (log) => [...log.slice(1), newEntry()].map((entry, index) => (index === 7 ? newEntry() : entry)),
  First: (log) => [newEntry(), ...log.slice(1)],
  Broken: (log) => [...log.slice(1), { ...newEntry(), opId: -1n as OpId }],
} satisfies Record<string, (log: readonly OpLogEntry[]) => readonly OpLogEntry[]>;

test("a log has its own bytes, whatever was encoded before it in its place", () => {
  const step = fc.record({
    shard: fc.nat({ max: 2 }),
    kind: fc.oneof(
      { weight: 4, arbitrary: fc.constant("Next" as const) },
      fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[])),
    ),
  });
  const seen = new Set<string>();
  const allSteps = fc.array(step, { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(allSteps, (steps) => {
      const table = new LogTable();
      const logs = [newLog(), newLog(), newLog()];
      for (const { shard, kind } of steps) {
        seen.add(kind);
        const log = STEPS[kind](logs[shard]!);
        // The first two share a place.
        const encode = () => table.encodedOf(log, 5n as RunId, [0n, 512n, 1n][shard]! as ShardId);
        if (kind === "Broken") {
          expect(encode).toThrow(InvariantViolation);
          continue;
        }
        const { bytes, register } = encode();
        const plain = encoded(log);
        expect(equalBytes(bytes, plain), kind).toBe(true);
        expect(register, kind).toBe(updateCrc(0, new DataView(plain.buffer), 0, plain.length));
        logs[shard] = log;
      }
    }),
    { numRuns: 300, examples: fixedExamples(100, allSteps) },
  );
  expect(seen.size).toBe(Object.keys(STEPS).length);
});

test("the records of a shard that goes on are those of one that was read each time", () => {
  const records: ShardRecord[] = [BUSY_SHARD];
  for (let count = 0; count < 40; count++) records.push({ ...BUSY_SHARD, opLog: STEPS.Next(records.at(-1)!.opLog) });
  const out = new RecordWriter();
  const encodeAll = (all: readonly ShardRecord[]): Uint8Array => {
    out.reset();
    for (const record of all) encodeShardRecordInto(record, out);
    return out.toOwned();
  };
  const going = encodeAll(records);
  const readEachTime = encodeAll(records.map((record) => ({ ...record, opLog: structuredClone(record.opLog) })));
  expect(equalBytes(going, readEachTime)).toBe(true);
});
