import { StatusCounts } from "@gossip/coordination-fsck";
import type { RunAddress } from "@gossip/store-kit";
import { rangeOf, type Rows } from "../engine/rows.ts";
import { addressOf, RowKind, RUN_KEY_SIZE, runKey, storeKey } from "../layout/keyspace.ts";

// The status counts of a run are the sum of its slots. A write that a thread of the driver makes cannot read, so the new
// value of a slot is handed over with the version that the slot must still have. Each store has a slot of its own, so
// that processes do not overtake each other. The base is the slot of transactions, which can read: the creation of a
// run, splits and repairs. A run without a base has no status counts, and its shards are counted instead.

const BASE_SLOT = 0;
/** The slots of stores are from 1 to this. */
export const MAX_SLOT = 255;
/** The version of a slot when it is written for the first time. Each write adds one. */
const FIRST_VERSION = 1;

const COUNT_SIZE = 8;
const COUNTS_SIZE = 3 * COUNT_SIZE;
/** So that fsck finds a difference in a run whose counts cannot be read. */
const UNREADABLE: StatusCounts = Object.freeze({ Done: -1, Split: -1, Parked: -1 });

/** A slot as it was read. */
export interface StatusSlot {
  readonly key: Buffer;
  readonly counts: StatusCounts;
  /** `undefined` if the slot was never written. */
  readonly version: number | undefined;
}

/** Whether no older version writes to this store, so that new runs have status counts. */
export function isCounted(rows: Rows): boolean {
  return rows.has(storeKey(RowKind.Counted));
}

/** From now on new runs have status counts. Call it within a transaction, when no older version can write. */
export function markCounted(rows: Rows): void {
  rows.put(storeKey(RowKind.Counted));
}

export function readSlot(rows: Rows, address: RunAddress, slot: number): StatusSlot {
  const key = slotKey(address, slot);
  const value = rows.get(key);
  if (value === undefined) return { key, counts: StatusCounts.NONE, version: undefined };
  // The value is valid until the next read.
  return { key, counts: readCounts(value) ?? UNREADABLE, version: rows.lastVersion };
}

/** The slot after a change. */
export function nextSlot({ key, counts, version }: StatusSlot, change: StatusCounts): StatusSlot {
  return {
    key,
    counts: StatusCounts.plus(counts, change),
    version: version === undefined ? FIRST_VERSION : version + 1,
  };
}

/** The status counts of a run; `undefined` if it has none. */
export function readStatusCounts(rows: Rows, address: RunAddress): StatusCounts | undefined {
  return sumOf(rows.entries(rangeOf(runKey(RowKind.StatusCount, address))));
}

/** The sum of all slots; `undefined` if the base is missing. */
export function sumOf(
  slots: Iterable<{ readonly key: Uint8Array; readonly value: Uint8Array }>,
): StatusCounts | undefined {
  let hasBase = false;
  let sum = StatusCounts.NONE;
  for (const { key, value } of slots) {
    const counts = readCounts(value);
    if (counts === undefined) return UNREADABLE;
    hasBase ||= key[RUN_KEY_SIZE] === BASE_SLOT;
    sum = StatusCounts.plus(sum, counts);
  }
  return hasBase ? sum : undefined;
}

/** Begins the status counts of a new run, within the transaction that creates it. */
export function beginStatusCounts(rows: Rows, address: RunAddress): void {
  if (isCounted(rows)) rows.put(slotKey(address, BASE_SLOT), toBytes(StatusCounts.NONE));
}

/** Adds to the status counts of a run, within the transaction that changes them. */
export function addToStatusCounts(rows: Rows, address: RunAddress, change: StatusCounts | undefined): void {
  if (change === undefined || StatusCounts.isEqual(change, StatusCounts.NONE)) return;
  const base = readSlot(rows, address, BASE_SLOT);
  if (base.version !== undefined) rows.put(base.key, toBytes(StatusCounts.plus(base.counts, change)));
}

/**
 * Sets the status counts of a run, within a transaction. Slots keep their rows: the version of one that is written again
 * must not have occurred before.
 */
export function setStatusCounts(rows: Rows, address: RunAddress, counts: StatusCounts): void {
  const slots = [...rows.keys(rangeOf(runKey(RowKind.StatusCount, address)))].map((key) => key[RUN_KEY_SIZE]!);
  for (const slot of slots) {
    const { key, version } = readSlot(rows, address, slot);
    if (slot !== BASE_SLOT) rows.put(key, toBytes(StatusCounts.NONE), version! + 1);
  }
  rows.put(slotKey(address, BASE_SLOT), toBytes(counts));
}

/**
 * Gives every run status counts, if only this process has the store open. Its format keeps older versions from opening it
 * later, so from then on every change is counted.
 */
export async function beginCounting(rows: Rows, countShards: (address: RunAddress) => StatusCounts): Promise<void> {
  rows.refresh();
  if (isCounted(rows) || !rows.isOnlyProcess()) return;
  await rows.commit(() => {
    if (isCounted(rows)) return;
    const addresses = [...rows.keys(rangeOf(Buffer.of(RowKind.RunHead)))].map(addressOf);
    for (const address of addresses) {
      if (readStatusCounts(rows, address) === undefined) setStatusCounts(rows, address, countShards(address));
    }
    markCounted(rows);
  });
}

export function toBytes({ Done, Split, Parked }: StatusCounts): Buffer {
  const bytes = Buffer.allocUnsafe(COUNTS_SIZE);
  writeI64(bytes, Done, 0);
  writeI64(bytes, Split, COUNT_SIZE);
  writeI64(bytes, Parked, 2 * COUNT_SIZE);
  return bytes;
}

/** As `writeBigInt64BE`, in a tenth of its time. */
function writeI64(bytes: Buffer, value: number, offset: number): void {
  bytes.writeInt32BE(Math.floor(value / 2 ** 32), offset);
  bytes.writeUInt32BE(value >>> 0, offset + 4);
}

function readCounts(value: Uint8Array): StatusCounts | undefined {
  if (value.length !== COUNTS_SIZE) return undefined;
  const view = new DataView(value.buffer, value.byteOffset, COUNTS_SIZE);
  const at = (index: number): number => Number(view.getBigInt64(index * COUNT_SIZE));
  return { Done: at(0), Split: at(1), Parked: at(2) };
}

function slotKey(address: RunAddress, slot: number): Buffer {
  const key = runKey(RowKind.StatusCount, address, 1);
  key[RUN_KEY_SIZE] = slot;
  return key;
}
