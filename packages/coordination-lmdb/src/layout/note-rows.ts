import { createHash } from "node:crypto";
import {
  NoteSpace,
  type CountNotesQuery,
  type GuardedNoteWrite,
  type ListNotesQuery,
  type Note,
  type Page,
} from "@gossip/coordination";
import { InfraError } from "@gossip/coordination-errors";
import { compareBytes, startsWith } from "@gossip/stdx";
import { CorruptStore, notePage, type RunAddress } from "@gossip/store-kit";
import { endOf, RowKind, RUN_KEY_SIZE, runKey } from "./keyspace.ts";
import { rangeOf, type KeyRange, type RowEntry, type Rows } from "../engine/rows.ts";

/**
 * How notes are stored. A key of the tree is shorter than an item key may be.
 *
 * ```text
 * key    Note · tenant · run · space · key                                    up to 1024 bytes of key
 *        Note · tenant · run · space · first 1024 bytes of key · digest       longer keys
 * value  size of tail u16 · tail · value                                      tail: the key from byte 1024 on
 * ```
 *
 * Rows are in the order of the keys, except that long keys with the same first 1024 bytes are in the order of their
 * digests. They are sorted when they are read.
 */
const HEAD_SIZE = 1024;
const DIGEST_SIZE = 32;
const TAIL_SIZE_SIZE = 2;
/** Where the key of a note begins in the key of its row. */
const KEY_START = RUN_KEY_SIZE + 1;

/** The row of a note: `value` is `undefined` if it is to be removed. */
export interface NoteRow {
  readonly key: Buffer;
  readonly value: Uint8Array | undefined;
}

/** The rows that change with some notes. */
export function noteRows(address: RunAddress, notes: readonly GuardedNoteWrite[]): NoteRow[] {
  return notes.map(({ space, key, value }) => ({
    key: rowKey(address, space, key),
    value: value && rowValue(key, value),
  }));
}

/** Hands the changes to the driver, within a transaction or a condition. */
export function putNoteRows(rows: Rows, changes: readonly NoteRow[]): void {
  for (const { key, value } of changes) {
    if (value === undefined) rows.remove(key);
    else rows.put(key, value);
  }
}

/** Whether the guards of notes hold. Only within a transaction. */
export function areGuardsHeld(rows: Rows, address: RunAddress, notes: readonly GuardedNoteWrite[]): boolean {
  return notes.every(({ space, key, guard }) => {
    if (guard === undefined) return true;
    const found = rows.get(rowKey(address, space, key));
    if (guard === "absent" || found === undefined) return guard === "absent" && found === undefined;
    return compareBytes(found, rowValue(key, guard)) === 0;
  });
}

export function listNotes(rows: Rows, query: ListNotesQuery): Page<Note, Uint8Array> {
  const items: Note[] = [];
  for (const note of walkNotes(rows, query)) {
    if (note === undefined) throw new CorruptStore(damaged());
    if (items.length === query.limit) return notePage(items, true);
    items.push(note);
  }
  return notePage(items, false);
}

function damaged(): InfraError {
  return InfraError.corruption({ operation: "lmdb.listNotes", message: "the row of a note does not hold one" });
}

export function countNotes(rows: Rows, query: CountNotesQuery): number {
  return rows.countUpTo(query.limit, rangeOf(spacePrefix(query, query.space)));
}

/** A stored note; `undefined` if the row is damaged. */
export function tryReadNote({ key, value }: RowEntry): Note | undefined {
  const space = NoteSpace.fromCode(key[RUN_KEY_SIZE]!);
  if (space === undefined || value.length < TAIL_SIZE_SIZE) return undefined;
  const tailSize = value[0]! * 256 + value[1]!;
  const end = TAIL_SIZE_SIZE + tailSize;
  const headEnd = isLong(key) ? KEY_START + HEAD_SIZE : key.length;
  if (end > value.length || isLong(key) !== tailSize > 0) return undefined;
  const whole = new Uint8Array(headEnd - KEY_START + tailSize);
  whole.set(key.subarray(KEY_START, headEnd));
  whole.set(value.subarray(TAIL_SIZE_SIZE, end), headEnd - KEY_START);
  if (isLong(key) && compareBytes(digestOf(whole), key.subarray(headEnd)) !== 0) return undefined;
  return { space, key: whole, value: Uint8Array.from(value.subarray(end)) };
}

/** Notes in the order of their keys; `undefined` for a row that is damaged. */
function* walkNotes(rows: Rows, query: ListNotesQuery): Generator<Note | undefined> {
  const { start, end } = query;
  const isWithin = ({ key }: Note) =>
    compareBytes(key, start) >= 0 && (end === undefined || compareBytes(key, end) < 0);
  let group: Note[] = [];
  let head: Buffer | undefined;
  for (const entry of rows.entries(rangeOfQuery(query))) {
    if (head !== undefined && !startsWith(entry.key, head)) {
      yield* sorted(group).filter(isWithin);
      group = [];
      head = undefined;
    }
    const note = tryReadNote(entry);
    if (note === undefined) yield note;
    else if (isLong(entry.key)) {
      head ??= Buffer.from(entry.key.subarray(0, KEY_START + HEAD_SIZE));
      group.push(note);
    } else if (isWithin(note)) yield note;
  }
  yield* sorted(group).filter(isWithin);
}

function sorted(notes: readonly Note[]): Note[] {
  return notes.toSorted((a, b) => compareBytes(a.key, b.key));
}

/** The rows that can hold the notes of a query. Bounds that are longer than a head include all keys with that head. */
function rangeOfQuery({ tenant, run, space, start, end }: ListNotesQuery): KeyRange {
  const address = { tenant, run };
  const prefix = spacePrefix(address, space);
  return {
    start: Buffer.concat([prefix, start.subarray(0, HEAD_SIZE)]),
    end: end === undefined ? endOf(prefix) : endOfRange(prefix, end),
  };
}

function endOfRange(prefix: Buffer, end: Uint8Array): Buffer {
  const head = Buffer.concat([prefix, end.subarray(0, HEAD_SIZE)]);
  return end.length > HEAD_SIZE ? endOf(head) : head;
}

function spacePrefix(address: RunAddress, space: NoteSpace): Buffer {
  const prefix = runKey(RowKind.Note, address, 1);
  prefix[RUN_KEY_SIZE] = NoteSpace.codes[space];
  return prefix;
}

function rowKey(address: RunAddress, space: NoteSpace, key: Uint8Array): Buffer {
  const isLongKey = key.length > HEAD_SIZE;
  const head = isLongKey ? key.subarray(0, HEAD_SIZE) : key;
  const row = runKey(RowKind.Note, address, 1 + head.length + (isLongKey ? DIGEST_SIZE : 0));
  row[RUN_KEY_SIZE] = NoteSpace.codes[space];
  row.set(head, KEY_START);
  if (isLongKey) row.set(digestOf(key), KEY_START + HEAD_SIZE);
  return row;
}

function rowValue(key: Uint8Array, value: Uint8Array): Uint8Array {
  const tail = key.subarray(HEAD_SIZE);
  const row = new Uint8Array(TAIL_SIZE_SIZE + tail.length + value.length);
  row[0] = tail.length >> 8;
  row[1] = tail.length & 0xff;
  row.set(tail, TAIL_SIZE_SIZE);
  row.set(value, TAIL_SIZE_SIZE + tail.length);
  return row;
}

function isLong(row: Uint8Array): boolean {
  return row.length > KEY_START + HEAD_SIZE;
}

function digestOf(key: Uint8Array): Buffer {
  return createHash("sha256").update(key).digest();
}
