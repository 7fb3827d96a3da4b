import type { LogicalTime, OpId } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import type { PayloadHash } from "../hashing/payload-hash.ts";

/** The fields that every log entry has. */
export interface LoggedOp {
  readonly opId: OpId;
  /** Never zero. */
  readonly payloadHash: PayloadHash;
  readonly executedAt: LogicalTime;
}

/**
 * The operations that a record remembers, oldest first.
 *
 * An immutable array: a record with one more operation has a new array. An op id is in it at most once.
 */
export type OpLog<Entry extends LoggedOp> = readonly Entry[];

/** The entry of an operation, or `undefined` if it is new or forgotten. */
export function findOp<Entry extends LoggedOp>(log: OpLog<Entry>, opId: OpId): Entry | undefined {
  // The newest first: a retry nearly always follows what it repeats.
  for (let index = log.length - 1; index >= 0; index--) {
    if (log[index]!.opId === opId) return log[index];
  }
  return undefined;
}

/**
 * The log with one more entry; a full one forgets its oldest.
 *
 * Does not check that the op id is new: the kernel looks it up before, and the record's invariants check it after.
 */
export function appendOp<Entry extends LoggedOp>(log: OpLog<Entry>, entry: Entry, capacity: number): OpLog<Entry> {
  assertLoggedOp(entry);
  if (log.length < capacity) return [...log, entry];
  // A copy of the right size whose entries then move up: `slice(1)` and `push` would make room for twice as many.
  const kept = log.slice(log.length - capacity);
  for (let index = 1; index < capacity; index++) kept[index - 1] = kept[index]!;
  kept[capacity - 1] = entry;
  return kept;
}

/**
 * Returns the index of the first entry that `known`, a valid log, does not cover: `length` if `log` is `known` itself,
 * the last index if it continues `known` by one entry, 0 otherwise.
 */
export function firstUnknown(log: OpLog<LoggedOp>, known: OpLog<LoggedOp> | undefined): number {
  if (known === undefined) return 0;
  if (log === known) return log.length;
  return continuesLog(log, known) ? log.length - 1 : 0;
}

/** Whether an op id is in the log twice. The entries before `first` are known to be distinct. */
export function hasDuplicateOp(log: OpLog<LoggedOp>, first = 0): boolean {
  // Compares pairs instead of building a set: every decoded record comes through here, and a log has at most 16
  // entries.
  for (let index = first; index < log.length; index++) {
    if (hasOpBefore(log, index)) return true;
  }
  return false;
}

function hasOpBefore(log: OpLog<LoggedOp>, end: number): boolean {
  const { opId } = log[end]!;
  for (let index = 0; index < end; index++) {
    if (log[index]!.opId === opId) return true;
  }
  return false;
}

/** Whether the entries are in the order of their times. Those before `first` are known to be. */
export function isLogInOrder(log: OpLog<LoggedOp>, first = 0): boolean {
  for (let index = Math.max(first, 1); index < log.length; index++) {
    if (log[index]!.executedAt < log[index - 1]!.executedAt) return false;
  }
  return true;
}

/** Whether `log` is the end of `known`, entry for entry, plus one more entry. */
function continuesLog(log: OpLog<LoggedOp>, known: OpLog<LoggedOp>): boolean {
  const shift = known.length - (log.length - 1);
  if (log.length === 0 || shift < 0) return false;
  for (let index = 0; index < log.length - 1; index++) {
    if (log[index] !== known[index + shift]) return false;
  }
  return true;
}

export function assertLoggedOp(entry: LoggedOp): void {
  assert(typeof entry.opId === "bigint", "op id of a logged operation must be a bigint");
  assert(entry.payloadHash !== 0n, "payload hash of a logged operation must not be zero");
  assert(entry.executedAt > 0n, "time of a logged operation must not be zero");
}
