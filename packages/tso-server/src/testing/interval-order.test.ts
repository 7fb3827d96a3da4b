// The checker decides whether chaos found anything. One that misses a violation makes every
// run of it worthless; so it is held against the definition, written out.
import { Timestamp } from "@gossip/tso";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findOrderViolations, type IssueRecord } from "./interval-order.ts";

const record = fc
  .record({
    sentAt: fc.integer({ min: 0, max: 12 }),
    waited: fc.integer({ min: 0, max: 4 }),
    first: fc.integer({ min: 0, max: 20 }),
    extra: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ sentAt, waited, first, extra }): IssueRecord => ({
    sentAt,
    receivedAt: sentAt + waited,
    first: Timestamp.fromRaw(BigInt(1e15) + BigInt(first)),
    last: Timestamp.fromRaw(BigInt(1e15) + BigInt(first + extra)),
  }));

describe("findOrderViolations", () => {
  test("finds something exactly where the definition is broken", () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 6 }), (records) => {
        const isBroken = records.some((a, i) =>
          records.some((b, j) => {
            if (i === j) return false;
            const isOutOfOrder = a.receivedAt < b.sentAt && a.last >= b.first;
            return isOutOfOrder || (a.first <= b.last && b.first <= a.last);
          }),
        );
        expect(findOrderViolations(records).length > 0).toBe(isBroken);
      }),
      { numRuns: 3000 },
    );
  });

  test("what it names does break the rule", () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 8 }), (records) => {
        for (const violation of findOrderViolations(records)) {
          if (violation.kind === "OutOfOrder") {
            const [earlier, later] = [records[violation.earlier]!, records[violation.later]!];
            expect(earlier.receivedAt < later.sentAt && earlier.last >= later.first).toBe(true);
          } else {
            const [one, other] = [records[violation.one]!, records[violation.other]!];
            expect(one.first <= other.last && other.first <= one.last).toBe(true);
          }
        }
      }),
    );
  });

  test("has nothing to say about nothing, and stops at its limit", () => {
    expect(findOrderViolations([])).toEqual([]);
    const same = { sentAt: 0, receivedAt: 1, first: Timestamp.fromRaw(5n), last: Timestamp.fromRaw(5n) };
    expect(
      findOrderViolations(
        Array.from({ length: 50 }, () => same),
        7,
      ).length,
    ).toBe(7);
  });
});
