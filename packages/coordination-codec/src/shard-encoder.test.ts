// An encoder that uses bytes of the record before can store progress that no worker made. So: whatever comes after
// whatever, its bytes are those of encoding the record alone.

import { Cursor, ShardSpec, type LogicalTime, type OpId, type WorkerId } from "@gossip/contracts";
import type { OpLogEntry, PayloadHash, ShardRecord } from "@gossip/coordination";
import { equalBytes, InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeShardRecordInto } from "./encode-shard-record.ts";
import { RecordWriter } from "./record-writer.ts";
import { shardRecord } from "./records.fixture.ts";
import { BUSY_SHARD, SPLIT_SHARD } from "./samples.fixture.ts";
import { ShardEncoder } from "./shard-encoder.ts";

const key = (text: string) => new TextEncoder().encode(text);
const entry = (number: number): OpLogEntry => ({
  opId: BigInt(number) as OpId,
  kind: "Checkpoint",
  result: "Completed",
  payloadHash: BigInt(number + 7) as PayloadHash,
  executedAt: BigInt(number) as LogicalTime,
});
const LOG = Array.from({ length: 16 }, (_, index) => entry(index + 1));
const LEASE = { owner: 3n as WorkerId, deadline: 900n as LogicalTime, opId: 5n as OpId };
/** A shard whose next checkpoint the encoder makes from its bytes. */
const HELD: ShardRecord = {
  ...BUSY_SHARD,
  status: "Active",
  parkReason: undefined,
  spec: ShardSpec.withRange({ start: key("a"), end: key("z") }),
  cursor: Cursor.withLastKey(key("b")),
  lease: LEASE,
  opLog: LOG,
  lastTime: 16n as LogicalTime,
};

/** Ways in which a record can differ from the one before it; all checkpoints change `log`. */
const CHANGES: Readonly<Record<string, (record: ShardRecord, step: number) => Partial<ShardRecord>>> = {
  log: ({ opLog }, step) => ({ opLog: [...opLog.slice(opLog.length < 16 ? 0 : 1), entry(100 + step)] }),
  time: (_, step) => ({ lastTime: BigInt(100 + step) as LogicalTime, attempts: step }),
  key: (_, step) => ({ cursor: Cursor.withLastKey(key(String.fromCharCode(97 + (step % 20)))) }),
  longerKey: (_, step) => ({ cursor: Cursor.withLastKey(key(`k${step}`)) }),
  noKey: () => ({ cursor: Cursor.initial() }),
  token: (_, step) => ({ cursor: Cursor.fromParts({ lastKey: key("c"), token: key(`t${step % 3}`) }) }),
  renewal: ({ lease }, step) => ({ lease: lease && { ...lease, deadline: BigInt(1000 + step) as LogicalTime } }),
  otherHolder: ({ lease }, step) => ({ lease: lease && { ...lease, owner: BigInt(step) as WorkerId } }),
  otherAcquire: ({ lease }, step) => ({ lease: lease && { ...lease, opId: BigInt(step) as OpId } }),
  noLease: () => ({ lease: undefined }),
  lease: () => ({ lease: LEASE }),
  fence: ({ fenceEpoch }) => ({ fenceEpoch: (fenceEpoch + 1n) as ShardRecord["fenceEpoch"] }),
  spec: () => ({ spec: ShardSpec.withRange({ start: key("a"), end: key("y") }) }),
  metadata: (_, step) => ({ spec: { ...HELD.spec, metadata: key(`m${step}`) } }),
  semantics: () => ({ cursorSemantics: HELD.cursorSemantics === "Completed" ? "Dispatched" : "Completed" }),
  spawned: ({ spawned }, step) => ({ spawned: [...spawned, ((1n << 63n) + BigInt(step)) as ShardRecord["shard"]] }),
  parent: (_, step) => ({ parent: BigInt(step) as ShardRecord["shard"] }),
  noParent: () => ({ parent: undefined }),
  // With its lease, which the kernel would take away: each check has to hold by itself.
  status: () => ({ status: "Done" }),
  parkReason: () => ({ parkReason: "Poisoned" }),
  active: () => ({ status: "Active", parkReason: undefined }),
  shortLog: ({ opLog }) => ({ opLog: opLog.slice(3) }),
  fullLog: () => ({ opLog: LOG }),
  replacedEntry: ({ opLog }, step) => ({ opLog: opLog.with(0, entry(500 + step)) }),
  twoEntries: ({ opLog }, step) => ({ opLog: [...opLog.slice(2), entry(700 + step), entry(800 + step)] }),
  // The lower halves stay, which choose the place of a record in the encoder.
  otherRun: ({ run }) => ({ run: (run ^ (1n << 40n)) as ShardRecord["run"] }),
  otherShard: ({ shard }) => ({ shard: (shard ^ (1n << 40n)) as ShardRecord["shard"] }),
  otherTenant: (_, step) => ({ tenant: `${step % 10}`.repeat(64) as ShardRecord["tenant"] }),
};
const NAMES = Object.keys(CHANGES);
const CHECKPOINT = ["log", "time", "key"];

const step = fc.record({
  // Mostly checkpoints: after anything else the bytes are made anew.
  names: fc.oneof(
    { weight: 3, arbitrary: fc.constant(CHECKPOINT) },
    { weight: 1, arbitrary: fc.constant([...CHECKPOINT, "renewal"]) },
    { weight: 3, arbitrary: fc.subarray(NAMES, { maxLength: 3 }) },
    { weight: 2, arbitrary: fc.subarray(NAMES, { maxLength: 2 }).map((names) => [...CHECKPOINT, ...names]) },
  ),
  /** Whether the record before is said to be an older one than it was. */
  isStale: fc.nat({ max: 9 }).map((number) => number === 0),
});

/** Found by exploring: the reason of a record that was kept stayed in the bytes of the next one. */
const FOUND = [["parkReason"], [...CHECKPOINT, "active"], []].map((names) => ({ names, isStale: false }));

function changed(record: ShardRecord, names: readonly string[], number: number): ShardRecord {
  return names.reduce((last, name) => ({ ...last, ...CHANGES[name]!(last, number) }), record);
}

function alone(record: ShardRecord): Uint8Array {
  const out = new RecordWriter();
  encodeShardRecordInto(record, out);
  return out.toOwned();
}

describe("ShardEncoder", () => {
  test("encodes what comes after a record as it encodes it alone, whatever changed", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 30 }), (steps) => {
        const encoder = new ShardEncoder();
        const out = new RecordWriter();
        let before = HELD;
        let older = HELD;
        for (const [number, { names, isStale }] of steps.entries()) {
          const after = changed(before, names, number);
          const start = out.length;
          encoder.encodeInto(isStale ? older : before, after, out);
          expect(equalBytes(out.view(start), alone(after))).toBe(true);
          older = before;
          before = after;
        }
      }),
      { numRuns: 400, examples: [[FOUND]] },
    );
  });

  test("encodes any records, in any order", () => {
    const encoder = new ShardEncoder();
    const out = new RecordWriter();
    fc.assert(
      fc.property(shardRecord, shardRecord, (before, after) => {
        out.reset();
        encoder.encodeInto(before, after, out);
        expect(equalBytes(out.view(), alone(after))).toBe(true);
        const next = changed(after, CHECKPOINT, 3);
        if (next.opLog.length > 16) return;
        encoder.encodeInto(after, next, out);
        expect(equalBytes(out.view(alone(after).length), alone(next))).toBe(true);
      }),
    );
  });

  test("does not take one shard for another that shares its place", () => {
    const encoder = new ShardEncoder();
    const out = new RecordWriter();
    const other = { ...HELD, shard: (HELD.shard + 1024n) as ShardRecord["shard"], attempts: 9 };
    encoder.encodeInto(HELD, HELD, out);
    encoder.encodeInto(other, other, out);
    const start = out.length;
    encoder.encodeInto(HELD, changed(HELD, CHECKPOINT, 1), out);
    expect(out.toOwned(start)).toEqual(alone(changed(HELD, CHECKPOINT, 1)));
  });

  test("a checkpoint that is refused halfway leaves the writer as it was, and the next record whole", () => {
    const encoder = new ShardEncoder();
    const out = new RecordWriter();
    encoder.encodeInto(HELD, HELD, out);
    const kept = out.toOwned();
    for (const bad of [{ attempts: -1 }, { lastTime: -1n as never }, { lastTime: 1 as never }]) {
      const refused = { ...changed(HELD, CHECKPOINT, 1), ...bad };
      expect(() => encoder.encodeInto(HELD, refused, out)).toThrow(InvariantViolation);
      expect(out.toOwned()).toEqual(kept);
      const next = changed(HELD, ["log", "renewal"], 2);
      encoder.encodeInto(HELD, next, out);
      expect(out.toOwned(kept.length)).toEqual(alone(next));
      out.reset();
      encoder.encodeInto(HELD, HELD, out);
    }
  });

  test("refuses what is no record", () => {
    const encoder = new ShardEncoder();
    for (const bad of [undefined, null, 1, {}, { ...SPLIT_SHARD, run: 1 }])
      expect(() => encoder.encodeInto(HELD, bad as never, new RecordWriter())).toThrow(InvariantViolation);
    expect(() => encoder.encodeInto(HELD, HELD, {} as never)).toThrow(InvariantViolation);
  });

  // A start that is changed in place, which no caller may do, shows whose bytes were used.
  test("a checkpoint is made from the bytes of the record before", () => {
    const encoder = new ShardEncoder();
    const out = new RecordWriter();
    const start = key("a");
    const record = { ...HELD, spec: { ...HELD.spec, keyRangeStart: start } };
    const next = changed(record, CHECKPOINT, 1);
    encoder.encodeInto(record, record, out);
    start[0] = 0x60;
    out.reset();
    encoder.encodeInto(record, next, out);
    expect(equalBytes(out.view(), alone(next))).toBe(false);
    start[0] = 0x61;
    expect(equalBytes(out.view(), alone(next))).toBe(true);
  });
});
