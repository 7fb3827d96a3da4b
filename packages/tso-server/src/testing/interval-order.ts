import { assert } from "@gossip/stdx";
import { LOGICAL_BITS, type Timestamp } from "@gossip/tso";
import { assertObject } from "@gossip/stdx/internal";
import { assertArray } from "../assert-input.ts";

/** What one caller saw: when it asked, when it had its answer, and what the answer was. Times from one clock for all callers. */
export interface IssueRecord {
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly first: Timestamp;
  readonly last: Timestamp;
}

/** Two answers that cannot both be right. Positions in the list that was checked. */
export type OrderViolation =
  /** `earlier` was received before `later` was even asked for, and is not smaller. */
  | { readonly kind: "OutOfOrder"; readonly earlier: number; readonly later: number }
  /** Both contain a same timestamp. */
  | { readonly kind: "IssuedTwice"; readonly one: number; readonly other: number };

/**
 * Whether answers to any number of callers are in real-time order: what was received before another was asked for is
 * smaller, and nothing was issued twice. Answers to callers whose waits overlap may be in any order.
 *
 * O(n log n) over all callers together. Reports at most `limit` violations.
 */
export function findOrderViolations(records: readonly IssueRecord[], limit = 100): OrderViolation[] {
  assertArray(records, "what is checked");
  for (const record of records) assertRecord(record);
  const violations: OrderViolation[] = [];
  const { firsts, lasts } = rebased(records);
  const indexes = records.map((_, index) => index);
  const bySent = indexes.toSorted((a, b) => records[a]!.sentAt - records[b]!.sentAt);
  const byReceived = indexes.toSorted((a, b) => records[a]!.receivedAt - records[b]!.receivedAt);

  // Walk through time: the greatest timestamp received before a request was sent must be below what the request got.
  let received = 0;
  let greatest = -1;
  for (const later of bySent) {
    for (; received < byReceived.length; received++) {
      const candidate = byReceived[received]!;
      if (records[candidate]!.receivedAt >= records[later]!.sentAt) break;
      if (greatest === -1 || lasts[candidate]! > lasts[greatest]!) greatest = candidate;
    }
    if (greatest !== -1 && lasts[greatest]! >= firsts[later]! && violations.length < limit) {
      violations.push({ kind: "OutOfOrder", earlier: greatest, later });
    }
  }

  const byFirst = indexes.toSorted((a, b) => firsts[a]! - firsts[b]!);
  let widest = byFirst[0];
  for (const other of byFirst.slice(1)) {
    if (firsts[other]! <= lasts[widest!]! && violations.length < limit)
      violations.push({ kind: "IssuedTwice", one: widest!, other });
    if (lasts[other]! > lasts[widest!]!) widest = other;
  }
  return violations;
}

function assertRecord(record: IssueRecord): void {
  assertObject(record, "a record of an answer");
  assert(
    typeof record.first === "bigint" && typeof record.last === "bigint",
    "a record holds its first and last timestamp",
  );
  assert(
    Number.isFinite(record.sentAt) && Number.isFinite(record.receivedAt),
    "a record holds when it was sent and received",
  );
}

/** Timestamps as plain numbers above the smallest: exact as long as all lie within some centuries. */
function rebased(records: readonly IssueRecord[]): { readonly firsts: Float64Array; readonly lasts: Float64Array } {
  const base =
    records.reduce((least, { first }) => (first < least ? first : least), records[0]?.first ?? 0n) >>
    BigInt(LOGICAL_BITS);
  const offset = base << BigInt(LOGICAL_BITS);
  const rebase = (timestamp: bigint): number => {
    const value = Number(timestamp - offset);
    assert(Number.isSafeInteger(value), "the timestamps of one check lie within a thousand years");
    return value;
  };
  return {
    firsts: Float64Array.from(records, ({ first }) => rebase(first)),
    lasts: Float64Array.from(records, ({ last }) => rebase(last)),
  };
}
