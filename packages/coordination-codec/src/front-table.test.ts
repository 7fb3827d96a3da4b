// A front that is taken for another's stores a shard's progress under another shard, in another state or with another range, and its checksum says
// that all is well.

import { ShardSpec, type RunId, type ShardId, type TenantId } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import { equalBytes, InvariantViolation } from "@gossip/stdx";
import { heapBytesPerCall } from "@gossip/tools/heap";
import { fixedExamples } from "@gossip/tools/fixed-examples";
import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeShardRecordInto } from "./encode-shard-record.ts";
import { FrontTable, MAX_FRONT_SIZE } from "./front-table.ts";
import { RecordWriter } from "./record-writer.ts";
import { BUSY_SHARD, FRESH_SHARD, goingOn } from "./samples.fixture.ts";

const key = (byte: number, size = 3): Uint8Array => new Uint8Array(size).fill(byte);
const range = (start: number, end: number) => ShardSpec.withRange({ start: key(start), end: key(end) });

/** What may become of a record. Some of it changes the front, some does not, and some is refused. */
const CHANGES = {
  Nothing: () => ({}),
  Attempts: ({ attempts }) => ({ attempts: attempts + 1 }),
  NoLease: () => ({ lease: undefined }),
  Parked: () => ({ status: "Parked", parkReason: "Other" }),
  ParkedOtherwise: () => ({ status: "Parked", parkReason: "TooManyErrors" }),
  Active: () => ({ status: "Active", parkReason: undefined }),
  Done: () => ({ status: "Done", lease: undefined }),
  Narrowed: () => ({ spec: range(1, 7) }),
  LikeRange: ({ spec }) => ({ spec: { ...spec } }),
  Metadata: ({ spec }) => ({
    spec: ShardSpec.withRangeAndMetadata({
      start: spec.keyRangeStart,
      end: spec.keyRangeEnd,
      metadata: key(1, MAX_FRONT_SIZE),
    }),
  }),
  Refused: () => ({ attempts: -1 }),
  RefusedRange: () => ({ spec: { ...range(1, 2), metadata: "no" as never } }),
} satisfies Record<string, (record: ShardRecord) => Partial<ShardRecord>>;

// The first four share a place.
const RUN = BUSY_SHARD.run;
const NAMES: readonly Partial<ShardRecord>[] = [
  { shard: 1n as ShardId },
  { shard: 513n as ShardId },
  { shard: 1n as ShardId, tenant: "ab".repeat(32) as TenantId },
  { shard: 1n as ShardId, run: (RUN + 512n) as RunId },
  { shard: 2n as ShardId },
];

const step = fc.record({
  shard: fc.nat({ max: NAMES.length - 1 }),
  change: fc.constantFrom(...(Object.keys(CHANGES) as (keyof typeof CHANGES)[])),
  /** Which record it is said to follow on: how many steps back, over all shards. None where it is 0. */
  back: fc.oneof({ weight: 3, arbitrary: fc.constant("own" as const) }, fc.nat({ max: 4 })),
});

test("a record has its own bytes, whatever it is said to follow on", () => {
  const out = new RecordWriter();
  const plain = new RecordWriter();
  const seen = new Set<string>();
  const allSteps = fc.array(step, { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(allSteps, (steps) => {
      const current = NAMES.map((name) => ({ ...FRESH_SHARD, ...name }));
      const all: ShardRecord[] = [...current];
      for (const { shard, change, back } of steps) {
        seen.add(change);
        const own = current[shard]!;
        const record = { ...own, ...CHANGES[change](own) };
        const before = back === "own" ? own : all.at(-back);
        out.reset();
        plain.reset();
        if (change.startsWith("Refused")) {
          expect(() => encodeShardRecordInto(record, out, before)).toThrow(InvariantViolation);
          expect(out.length).toBe(0);
          // Whoever follows on it all the same is not taken in.
          all.push(record);
          continue;
        }
        encodeShardRecordInto(record, out, before);
        encodeShardRecordInto(record, plain);
        expect(equalBytes(out.view(), plain.view()), change).toBe(true);
        current[shard] = record;
        all.push(record);
      }
    }),
    { numRuns: 500, examples: fixedExamples(100, allSteps) },
  );
  expect(seen.size).toBe(Object.keys(CHANGES).length);
});

test("a place that many want is of use to one of them, until that one is gone", () => {
  const table = new FrontTable();
  const front = { bytes: key(1), register: 5 };
  const shards = NAMES.slice(0, 4).map((name) => ({ ...FRESH_SHARD, ...name }));
  const [first, ...others] = shards.map((record) => [record, { ...record, attempts: 1 }] as const);
  expect(table.wants(first![0])).toBe(true);
  table.keep(first![0], front);
  for (let round = 0; round < 20; round++) {
    expect(others.some(([record]) => table.wants(record))).toBe(false);
    const [before, after] = round % 2 === 0 ? first! : first!.toReversed();
    expect(table.frontOf(after!, before!)).toMatchObject(front);
    // Its own front, where another is to take its place, is kept at once.
    expect(table.wants(before!)).toBe(true);
  }
  let asked = 1;
  while (!table.wants(others[0]![0])) asked++;
  expect(asked).toBeLessThan(20);
  table.keep(others[0]![0], front);
  expect(table.frontOf(first![1], first![0])).toBeUndefined();
  expect(table.frontOf(others[0]![1], others[0]![0])).toMatchObject(front);
});

test("a range on loan has the bytes that it has when its record is read anew", () => {
  const out = new RecordWriter();
  const plain = new RecordWriter();
  const loan = { keyRangeStart: key(1), keyRangeEnd: key(9), metadata: key(0, 0) } as ShardSpec;
  for (const byte of [1, 2, 3]) {
    loan.keyRangeStart.fill(byte);
    const before = { ...FRESH_SHARD, spec: loan };
    const record = { ...before, attempts: 1 };
    out.reset();
    plain.reset();
    encodeShardRecordInto(record, out, before);
    encodeShardRecordInto(record, plain);
    expect(equalBytes(out.view(), plain.view())).toBe(true);
  }
});

test("a shard that goes on is encoded without allocating", () => {
  const out = new RecordWriter();
  const records = goingOn(BUSY_SHARD, 512);
  const bytes = heapBytesPerCall((calls) => {
    for (let call = 1; call < calls; call++) {
      const at = call % records.length;
      if (at === 0) continue;
      out.reset();
      encodeShardRecordInto(records[at]!, out, records[at - 1]!);
    }
  }, 5000);
  expect(bytes).toBeLessThan(4);
});

test.each([null, 5, {}, { run: 1, shard: 2n }])("what cannot be a record before is refused: %o", (before) => {
  expect(() => encodeShardRecordInto(FRESH_SHARD, new RecordWriter(), before as never)).toThrow(InvariantViolation);
});
