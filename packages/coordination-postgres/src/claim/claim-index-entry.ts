import type { LogicalTime, ShardId } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import { claimSpread } from "./claim-spread.ts";
import { fixedArray, type ServerArray } from "../layout/server-array.ts";

/**
 * The claim index entry of a shard that is not finished: the column `place` of the table `places`. Its bytes sort in the order in which claims
 * search:
 *
 * | bytes |                                                                      |
 * | ----- | -------------------------------------------------------------------- |
 * | 1     | the first letter of its status                                       |
 * | 8     | when it can be claimed: its lease's deadline, or 0 if it has none    |
 * | 4     | its spread                                                           |
 * | 8     | its id                                                               |
 *
 * One column: the server finds and moves it in two thirds of the time that five columns take (decision 0013).
 */
export const ENTRY_SIZE = 21;

const TIME_AT = 1;
const SPREAD_AT = 9;
const SHARD_AT = 13;

/** A finished shard has no entry. */
const LETTERS: Readonly<Record<ShardRecord["status"], number>> = {
  Active: code("A"),
  Parked: code("P"),
  Split: code("S"),
  Done: 0,
};

/** The entries of shards; null for a finished one. */
export function claimIndexEntryArray(records: readonly ShardRecord[]): ServerArray {
  return fixedArray(records.length, ENTRY_SIZE, (view, at, index) => writeEntry(view, at, records[index]!));
}

/** `undefined` for a finished shard. */
export function claimIndexEntryOf(record: ShardRecord): Buffer | undefined {
  const bytes = Buffer.alloc(ENTRY_SIZE);
  return writeEntry(viewOf(bytes), 0, record) ? bytes : undefined;
}

/** The shard of an entry. */
export function shardIn(entry: Buffer): ShardId {
  return entry.readBigUInt64BE(SHARD_AT) as ShardId;
}

/** Where the entries of a status begin. */
export function letterOf(status: ShardRecord["status"]): Buffer {
  return Buffer.of(LETTERS[status]);
}

/** The lowest entry of an active shard without a lease, from a spread on. */
export function freeFrom(spread: number): Buffer {
  const bytes = Buffer.alloc(SHARD_AT);
  bytes[0] = LETTERS.Active;
  bytes.writeUInt32BE(spread, SPREAD_AT);
  return bytes;
}

/** The highest entry that an active shard can have if it can be claimed at `now`. */
export function lastAt(now: LogicalTime): Buffer {
  const bytes = Buffer.alloc(ENTRY_SIZE, 0xff);
  bytes[0] = LETTERS.Active;
  bytes.writeBigUInt64BE(now, TIME_AT);
  return bytes;
}

/** Returns whether the shard has an entry. */
function writeEntry(view: DataView, at: number, { status, lease, shard }: ShardRecord): boolean {
  const letter = LETTERS[status];
  if (letter === 0) return false;
  view.setUint8(at, letter);
  view.setBigUint64(at + TIME_AT, status === "Active" && lease !== undefined ? lease.deadline : 0n);
  view.setUint32(at + SPREAD_AT, claimSpread(shard));
  view.setBigUint64(at + SHARD_AT, shard);
  return true;
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function code(letter: string): number {
  return letter.charCodeAt(0);
}
