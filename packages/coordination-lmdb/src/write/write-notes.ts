import type { CommitAnswer, WriteNotesSet } from "@gossip/coordination";
import { CONFLICT } from "@gossip/store-kit";
import { RowKind, runKey } from "../layout/keyspace.ts";
import { areGuardsHeld, noteRows, putNoteRows } from "../layout/note-rows.ts";
import type { Rows } from "../engine/rows.ts";
import type { RunWrite } from "./run-writes.ts";

/** Notes have no versions. */
const COMMITTED: CommitAnswer = Object.freeze({ kind: "Committed", version: 0 });

/** Writes notes without guards, if the run exists. The condition is checked in the driver's thread. */
export async function putNotes(rows: Rows, set: WriteNotesSet): Promise<CommitAnswer> {
  const changes = noteRows(set, set.notes);
  const heard: Promise<boolean>[] = [];
  const all = rows.together(() => {
    heard.push(rows.ifVersion(runKey(RowKind.RunHead, set), undefined, () => putNoteRows(rows, changes)));
  });
  // A failed transaction rejects both promises, so both are awaited.
  const [, hasRun] = await Promise.all([all, ...heard]);
  return hasRun === true ? COMMITTED : CONFLICT;
}

/** Writes notes whose guards must hold. They have to be read within the transaction. */
export function putGuardedNotes(set: WriteNotesSet): RunWrite {
  const changes = noteRows(set, set.notes);
  return (rows, records) => {
    if (!records.hasRun(set) || !areGuardsHeld(rows, set, set.notes)) return CONFLICT;
    putNoteRows(rows, changes);
    return COMMITTED;
  };
}

export function hasGuards({ notes }: WriteNotesSet): boolean {
  return notes.some((note) => note.guard !== undefined);
}
