// The log is what makes a retry safe. An entry lost too early turns a retry into a second execution; one
// found under the wrong id answers a request with another caller's result.

import { OpId, type LogicalTime } from "@gossip/contracts";
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PayloadHash } from "../hashing/payload-hash.ts";
import { OpKind } from "./op-kind.ts";
import { appendOp, findOp, firstUnknown, hasDuplicateOp, isLogInOrder, type LoggedOp, type OpLog } from "./op-log.ts";
import { OpResult } from "./op-result.ts";
import { RunOpKind } from "./run-op-kind.ts";

const entry = (id: number, at = 1): LoggedOp => ({
  opId: OpId.fromRaw(BigInt(id)),
  payloadHash: 7n as PayloadHash,
  executedAt: BigInt(at) as LogicalTime,
});

test("the persisted numbers never change", () => {
  expect(OpKind.codes).toEqual({
    Checkpoint: 0,
    Complete: 1,
    Park: 2,
    SplitReplace: 3,
    SplitResidual: 4,
    Unpark: 5,
    Release: 6,
  });
  expect(OpResult.codes).toEqual({ Completed: 0, Error: 1, Superseded: 2 });
  expect(RunOpKind.codes).toEqual({ RegisterShards: 0, CompleteRun: 1, FailRun: 2, CancelRun: 3 });
});

describe("appendOp", () => {
  test("keeps exactly the newest entries, in their order, and leaves the old log alone", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16 }), fc.integer({ min: 0, max: 40 }), (capacity, count) => {
        let log: OpLog<LoggedOp> = [];
        const all: LoggedOp[] = [];
        for (let id = 0; id < count; id++) {
          const before = [...log];
          const next = appendOp(log, entry(id, id + 1), capacity);
          all.push(next.at(-1)!);
          expect(log).toEqual(before);
          log = next;
        }
        expect(log).toEqual(all.slice(-capacity));
        for (const kept of all) expect(findOp(log, kept.opId)).toBe(log.includes(kept) ? kept : undefined);
      }),
    );
  });

  test.each([
    ["a zero hash", { ...entry(2), payloadHash: 0n as PayloadHash }],
    ["a zero time", { ...entry(2), executedAt: 0n as LogicalTime }],
  ])("refuses %s", (_name, refused) => {
    expect(() => appendOp([entry(1)], refused, 16)).toThrow(InvariantViolation);
  });
});

describe("checks of a log", () => {
  const ids = fc.array(fc.record({ id: fc.integer({ min: 0, max: 5 }), at: fc.integer({ min: 1, max: 4 }) }), {
    maxLength: 6,
  });

  test("knowing an earlier log changes no answer", () => {
    fc.assert(
      fc.property(ids, fc.integer({ min: 0, max: 3 }), (fields, dropped) => {
        const log = fields.map(({ id, at }) => entry(id, at));
        // What came before: without the newest, and perhaps with some that were forgotten since.
        const known = [...Array.from({ length: dropped }, (_, index) => entry(100 + index)), ...log.slice(0, -1)];
        fc.pre(!hasDuplicateOp(known) && isLogInOrder(known));
        for (const first of [firstUnknown(log, known), firstUnknown(log, undefined)]) {
          expect(hasDuplicateOp(log, first)).toBe(hasDuplicateOp(log));
          expect(isLogInOrder(log, first)).toBe(isLogInOrder(log));
        }
        if (log.length > 0) expect(firstUnknown(log, known)).toBe(log.length - 1);
        expect(firstUnknown(known, known)).toBe(known.length);
      }),
      { numRuns: 500 },
    );
  });

  test("an id is twice in a log exactly where there are fewer ids than entries", () => {
    fc.assert(
      fc.property(ids, (fields) => {
        const log = fields.map(({ id, at }) => entry(id, at));
        expect(hasDuplicateOp(log)).toBe(new Set(log.map(({ opId }) => opId)).size < log.length);
      }),
    );
  });

  test("a log that does not continue the known one is looked at as a whole, though it was just made from another", () => {
    const known = [entry(1), entry(2)];
    const appended = appendOp(known, entry(3), 2);
    expect(firstUnknown(appended, known)).toBe(1);
    for (const other of [[], [entry(1)], [entry(1), entry(2)], [entry(5), entry(1), entry(2)]])
      expect(firstUnknown(appended, other)).toBe(0);
    for (const log of [
      [entry(3), entry(3), entry(4)],
      known.map((each) => ({ ...each })),
      [...known, entry(3), entry(4)],
      [...known.toReversed(), entry(3)],
    ]) {
      expect(firstUnknown(log, known)).toBe(0);
    }
  });
});
