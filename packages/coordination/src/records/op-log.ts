import type { LogicalTime, OpId } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import type { PayloadHash } from "../hashing/payload-hash.ts";

/** What every entry of a log says: who asked, for what, and when it was done. */
export interface LoggedOp {
  readonly opId: OpId;
  /** Never zero. */
  readonly payloadHash: PayloadHash;
  readonly executedAt: LogicalTime;
}

/**
 * The operations that a record remembers, oldest first.
 *
 * A plain array that nobody writes to: a record with one operation more has another
 * array. An id is in it at most once.
 */
export type OpLog<Entry extends LoggedOp> = readonly Entry[];

/** The entry of an operation, or `undefined` where it is new or was forgotten. */
export function findOp<Entry extends LoggedOp>(log: OpLog<Entry>, opId: OpId): Entry | undefined {
  const index = indexOfOp(log, opId);
  return index < 0 ? undefined : log[index];
}

/** Where it is, or -1. */
export function indexOfOp(log: OpLog<LoggedOp>, opId: OpId): number {
  // The newest first: a retry nearly always follows what it repeats.
  for (let index = log.length - 1; index >= 0; index--) {
    if (log[index]!.opId === opId) return index;
  }
  return -1;
}

/**
 * The log with one more entry; a full one forgets its oldest.
 *
 * That the id is new has been looked up before, and is looked at again with the rest of the
 * record before it is stored: not a third time here.
 */
export function appendOp<Entry extends LoggedOp>(log: OpLog<Entry>, entry: Entry, capacity: number): OpLog<Entry> {
  assertLoggedOp(entry);
  const appended = log.length < capacity ? continued(log, entry) : shifted(log, entry, capacity);
  lastAppended = appended;
  lastAppendedTo = log;
  return appended;
}

// What was appended last, and to what: a log that is looked at is mostly the one that was just made, and need not be compared.
let lastAppended: OpLog<LoggedOp> | undefined;
let lastAppendedTo: OpLog<LoggedOp> | undefined;

function continued<Entry>(log: readonly Entry[], entry: Entry): readonly Entry[] {
  // The log of a shard that is only claimed and completed: a spread would make room for sixteen more, and take ten times as long.
  return log.length === 0 ? [entry] : [...log, entry];
}

function shifted<Entry>(log: readonly Entry[], entry: Entry, capacity: number): readonly Entry[] {
  // A copy of the right size whose entries then move up: `slice(1)` and `push` would make room for twice as many.
  const kept = log.slice(log.length - capacity);
  for (let index = 1; index < capacity; index++) kept[index - 1] = kept[index]!;
  kept[capacity - 1] = entry;
  return kept;
}

/**
 * The first entry of which it is not known that it goes with those before it: `length` where `log` is `known`, a log that was found
 * in order before, and the last where it continues that by one entry, as nearly always.
 */
export function firstUnknown(log: OpLog<LoggedOp>, known: OpLog<LoggedOp> | undefined): number {
  if (known === undefined) return 0;
  if (log === known) return log.length;
  if (log === lastAppended && known === lastAppendedTo) return log.length - 1;
  return continuesLog(log, known) ? log.length - 1 : 0;
}

/** Whether an id is in the log twice. Of the entries before `first` it is known that none is. */
export function hasDuplicateOp(log: OpLog<LoggedOp>, first = 0): boolean {
  // Pairs, and no set: every decoded record comes through here, and a log has 16 entries at most.
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

/** Whether the entries are in the order of their times. Of those before `first` it is known that they are. */
export function isLogInOrder(log: OpLog<LoggedOp>, first = 0): boolean {
  for (let index = Math.max(first, 1); index < log.length; index++) {
    if (log[index]!.executedAt < log[index - 1]!.executedAt) return false;
  }
  return true;
}

/** Whether `log` is the end of `known`, entry for entry, and one more. */
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
