// As for shards: a run's record that contradicts itself must never be stored.

import { InvariantViolation } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { makeRun, op, SHARD, time } from "../kernel/world.fixture.ts";
import type { PayloadHash } from "../hashing/payload-hash.ts";
import { RunConfig } from "./run-config.ts";
import { assertRunRecord, findRunFault } from "./run-fault.ts";
import type { RunOpLogEntry, RunRecord } from "./run-record.ts";

const ack = (id: number, executedAt = 1): RunOpLogEntry => ({
  opId: op(id),
  kind: "CancelRun",
  payloadHash: 9n as PayloadHash,
  executedAt: time(executedAt),
  result: { kind: "Ack" },
});
const base = () => makeRun({ lastTime: time(20) });

// In the order of the rules. Each names every field that its rule reads, so that pairs that go together can be found.
const FAULTS: readonly (readonly [rule: string, words: string, broken: Partial<RunRecord>])[] = [
  ["1: active without shards", "must have shards", { status: "Active", rootShards: [] }],
  ["2: an end before it is terminal", "exactly where it is terminal", { status: "Active", completedAt: time(9) }],
  ["2: terminal without an end", "exactly where it is terminal", { status: "Done", completedAt: undefined }],
  ["3: never created", "creation", { createdAt: time(0) }],
  ["4: initializing with shards", "no shards", { status: "Initializing", rootShards: [SHARD], completedAt: undefined }],
  ["5: over before it began", "end before", { status: "Failed", createdAt: time(8), completedAt: time(7) }],
  ["6: a log that is too long", "8 operations", { opLog: Array.from({ length: 9 }, (_, id) => ack(id)) }],
  ["7: an op id twice", "logged twice", { opLog: [ack(1), ack(1)] }],
  ["8: no lease duration", "configuration", { config: { ...base().config, leaseDuration: 0n } }],
  ["9: a root twice", "there twice", { rootShards: [SHARD, SHARD] }],
  ["10: a log out of order", "not go back", { opLog: [ack(1, 5), ack(2, 4)] }],
  ["11: a registration without shards", "registration", { opLog: [{ ...ack(1), kind: "RegisterShards" }] }],
  [
    "11: shards from a cancellation",
    "registration",
    { opLog: [{ ...ack(1), result: { kind: "RegisteredShards", shards: [] } }] },
  ],
  ["12: something after the last time", "after the last time", { opLog: [ack(1, 21)] }],
  ["12: created after the last time", "after the last time", { createdAt: time(21) }],
];

describe("findRunFault", () => {
  test("a record in order has none", () => {
    expect(findRunFault(base())).toBeUndefined();
    expect(findRunFault(makeRun({ status: "Initializing", rootShards: [] }))).toBeUndefined();
    expect(findRunFault(makeRun({ status: "Done", completedAt: time(1) }))).toBeUndefined();
  });

  test.each(FAULTS)("%s", (_rule, words, broken) => {
    const record = { ...base(), ...broken };
    expect(findRunFault(record)).toContain(words);
    expect(() => assertRunRecord(record)).toThrow(InvariantViolation);
  });

  test("of two broken rules the first is named", () => {
    for (const [index, [, words, broken]] of FAULTS.entries()) {
      for (const [, , later] of FAULTS.slice(index + 1)) {
        const overlap = Object.keys(later).some((field) => field in broken);
        if (!overlap) expect(findRunFault({ ...base(), ...later, ...broken }), words).toContain(words);
      }
    }
  });
});

describe("RunConfig", () => {
  test("a lease must last", () => {
    expect(RunConfig.tryNew({ leaseDuration: 0n })).toEqual({ ok: false, error: { kind: "ZeroLeaseDuration" } });
    expect(RunConfig.tryNew({ leaseDuration: 1n })).toEqual({
      ok: true,
      value: { leaseDuration: 1n, cursorSemantics: "Completed", maxShardRetries: undefined },
    });
  });

  test.each([
    ["a number", { leaseDuration: 5 }],
    ["a negative duration", { leaseDuration: -1n }],
    ["more than 64 bits", { leaseDuration: 1n << 64n }],
    ["unknown semantics", { leaseDuration: 1n, cursorSemantics: "Guessed" }],
    ["a fraction of a retry", { leaseDuration: 1n, maxShardRetries: 0.5 }],
    ["nothing", undefined],
  ])("refuses %s with a sentence", (_name, input) => {
    expect(() => RunConfig.tryNew(input as never)).toThrow(InvariantViolation);
  });

  test("two are equal exactly when all their fields are", () => {
    const a = { leaseDuration: 5n, cursorSemantics: "Completed", maxShardRetries: 1 } as const;
    expect(RunConfig.equals(a, { ...a })).toBe(true);
    expect(RunConfig.equals(a, { ...a, leaseDuration: 6n })).toBe(false);
    expect(RunConfig.equals(a, { ...a, cursorSemantics: "Dispatched" })).toBe(false);
    expect(RunConfig.equals(a, { ...a, maxShardRetries: undefined })).toBe(false);
  });
});
