// An id that is not found where it is makes a repeated operation a new one, done twice; one that is found where it is not answers a
// new operation as if it had been done. Whatever the table has seen before, it must answer as the log itself would.

import { SHARD_OP_LOG_CAP, type LogicalTime, type OpId, type ShardId } from "@gossip/contracts";
import { fixedExamples } from "@gossip/tools/fixed-examples";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PayloadHash } from "../hashing/payload-hash.ts";
import { IdTable } from "./id-table.ts";
import { appendOp, type LoggedOp, type OpLog } from "./op-log.ts";

const entry = (id: bigint): LoggedOp => ({
  opId: id as OpId,
  payloadHash: 7n as PayloadHash,
  executedAt: 1n as LogicalTime,
});

// Few, and such that several have the same bits in the table: the halves of an id are folded into one.
const IDS = [
  0n,
  1n,
  2n,
  1n << 32n,
  2n << 32n,
  (1n << 32n) | 3n,
  (3n << 32n) | 1n,
  (1n << 64n) - 1n,
  0xffff_ffffn,
  0xffff_ffffn << 32n,
] as const;
// The first two share a place, and so do the last two.
const SHARDS = [0n, 512n, 1n, 1n << 32n] as const;

const step = fc.record({
  shard: fc.nat({ max: SHARDS.length - 1 }),
  id: fc.constantFrom(...IDS),
  fate: fc.constantFrom("Followed", "Followed", "NotStored", "ReadAgain", "Cut"),
});

test("an id is found exactly where it is, whatever was looked for and followed before", () => {
  const seen = new Set<string>();
  const [capacities, allSteps] = [
    fc.integer({ min: 1, max: SHARD_OP_LOG_CAP }),
    fc.array(step, { minLength: 1, maxLength: 200, size: "max" }),
  ];
  fc.assert(
    fc.property(capacities, allSteps, (capacity, steps) => {
      const table = new IdTable();
      const logs: OpLog<LoggedOp>[] = SHARDS.map(() => []);
      for (const { shard: index, id, fate } of steps) {
        const shard = SHARDS[index]! as ShardId;
        const log = logs[index]!;
        const at = log.findIndex(({ opId }) => opId === id);
        expect(table.indexOf(log, id as OpId, shard)).toBe(at);
        seen.add(`${fate} ${at >= 0}`);
        if (at >= 0) continue;
        const next = appendOp(log, entry(id), capacity);
        table.follow(next, log, shard);
        if (fate === "Followed") logs[index] = next;
        if (fate === "ReadAgain") logs[index] = next.map((each) => ({ ...each }));
        // As of another store, or a shard's log that somebody repaired.
        if (fate === "Cut") logs[index] = next.slice(1);
      }
    }),
    { numRuns: 200, examples: fixedExamples(50, capacities, allSteps) },
  );
  expect(seen.size).toBe(8);
});

test("of a log that it does not know before, it follows nothing", () => {
  const table = new IdTable();
  const shard = 5n as ShardId;
  const known = [entry(1n), entry(2n)];
  const next = [...known, entry(3n)];
  table.follow(next, known, shard);
  expect(table.indexOf(next, 1n as OpId, shard)).toBe(0);
  expect(table.indexOf(known, 3n as OpId, shard)).toBe(-1);
  const other = [entry(8n), entry(9n)];
  table.follow([...other, entry(3n)], other, shard);
  expect(table.indexOf(known, 2n as OpId, shard)).toBe(1);
});

test("a place goes to another only when it has been left alone, and either way each finds its own", () => {
  const table = new IdTable();
  const [first, second] = [
    [entry(1n), entry(2n)],
    [entry(3n), entry(1n)],
  ] as const;
  const ask = (log: OpLog<LoggedOp>, shard: bigint) =>
    [1n, 2n, 3n].map((id) => table.indexOf(log, id as OpId, shard as ShardId));
  for (let round = 0; round < 50; round++) {
    // By turns, then one alone for so long that the place is surely its own, then the other.
    if (round < 10 || round >= 30) expect(ask(first, 0n)).toEqual([0, 1, -1]);
    if (round < 30) expect(ask(second, 512n)).toEqual([1, -1, 0]);
  }
});

test("what has no place is looked for all the same: a log that is too long, an id or a shard that is none", () => {
  const table = new IdTable();
  const long = Array.from({ length: SHARD_OP_LOG_CAP + 3 }, (_, index) => entry(BigInt(index)));
  expect(table.indexOf(long, 18n as OpId, 1n as ShardId)).toBe(18);
  table.follow([...long, entry(99n)], long, 1n as ShardId);
  expect(table.indexOf(long, 99n as OpId, 1n as ShardId)).toBe(-1);
  expect(table.indexOf([entry(1n)], 1 as unknown as OpId, 1n as ShardId)).toBe(-1);
  expect(table.indexOf([entry(1n)], 1n as OpId, "1" as unknown as ShardId)).toBe(0);
});

test("an id that is none leaves nothing behind that another log is taken for", () => {
  const table = new IdTable();
  const shard = 5n as ShardId;
  const broken = [entry(1n), { ...entry(2n), opId: 2 as unknown as OpId }, entry(4n)];
  for (const id of [1n, 2n, 4n] as OpId[])
    expect(table.indexOf(broken, id, shard)).toBe(broken.findIndex(({ opId }) => opId === id));
  expect(table.indexOf([entry(3n)], 1n as OpId, shard)).toBe(-1);
  expect(table.indexOf([entry(3n)], 3n as OpId, shard)).toBe(0);
});
