import {
  NoteSpace,
  type CommitAnswer,
  type CountNotesQuery,
  type GuardedNoteWrite,
  type ListNotesQuery,
  type Note,
  type Page,
  type WriteNotesSet,
} from "@gossip/coordination";
import { equalBytes } from "@gossip/stdx";
import { CONFLICT, notePage, type RunAddress } from "@gossip/store-kit";
import { keyOf, readHead } from "./records.ts";
import type { SqliteFile } from "./sqlite-file.ts";

/** Most notes of one page, whatever the caller's limit. */
const MAX_ROWS = 1024;

const VALUE = "SELECT value FROM notes WHERE tenant = ? AND run = ? AND space = ? AND key = ?";
const PUT = "INSERT OR REPLACE INTO notes (tenant, run, space, key, value) VALUES (?, ?, ?, ?, ?)";
const REMOVE = "DELETE FROM notes WHERE tenant = ? AND run = ? AND space = ? AND key = ?";
const REMOVE_ALL = "DELETE FROM notes WHERE tenant = ? AND run = ?";
const LIST = `
  SELECT key, value FROM notes
  WHERE tenant = ?1 AND run = ?2 AND space = ?3 AND key >= ?4 AND (?5 IS NULL OR key < ?5) ORDER BY key LIMIT ?6`;
const COUNT = `
  SELECT count(*) AS count FROM (SELECT 1 FROM notes WHERE tenant = ? AND run = ? AND space = ? LIMIT ?)`;

/** Notes have no versions. */
const COMMITTED: CommitAnswer = Object.freeze({ kind: "Committed", version: 0 });

export function writeNotes(file: SqliteFile, set: WriteNotesSet): CommitAnswer {
  if (readHead(file, set) === undefined || !set.notes.every((note) => isGuardHeld(file, set, note))) return CONFLICT;
  putNotes(file, set, set.notes);
  return COMMITTED;
}

/** Writes notes within a transaction whose conditions hold. */
export function putNotes(file: SqliteFile, address: RunAddress, notes: readonly GuardedNoteWrite[]): void {
  for (const { space, key, value } of notes) {
    const columns = [...keyOf(address), NoteSpace.codes[space], key] as const;
    if (value === undefined) file.run(REMOVE, ...columns);
    else file.run(PUT, ...columns, value);
  }
}

export function removeNotes(file: SqliteFile, address: RunAddress): void {
  file.run(REMOVE_ALL, ...keyOf(address));
}

export function listNotes(file: SqliteFile, query: ListNotesQuery): Page<Note, Uint8Array> {
  const { space, start, end } = query;
  const limit = Math.min(query.limit, MAX_ROWS);
  const rows = file.all(LIST, ...keyOf(query), NoteSpace.codes[space], start, end ?? null, limit + 1);
  const items = rows
    .slice(0, limit)
    .map((row) => ({ space, key: row["key"] as Uint8Array, value: row["value"] as Uint8Array }));
  return notePage(items, rows.length > limit);
}

export function countNotes(file: SqliteFile, query: CountNotesQuery): number {
  return Number(file.first(COUNT, ...keyOf(query), NoteSpace.codes[query.space], query.limit)!["count"]);
}

function isGuardHeld(file: SqliteFile, address: RunAddress, { space, key, guard }: GuardedNoteWrite): boolean {
  if (guard === undefined) return true;
  const stored = file.first(VALUE, ...keyOf(address), NoteSpace.codes[space], key)?.["value"];
  if (guard === "absent") return stored === undefined;
  return stored !== undefined && equalBytes(stored as Uint8Array, guard);
}
