import { NoteSpace, type Note } from "@gossip/coordination";
import { noteKeyAfter } from "@gossip/coordination/internal";
import { err, ok, type Result } from "@gossip/stdx";
import type { Connection } from "../database/database.ts";
import { INSPECT_NOTE_SPACES, INSPECT_NOTES, LIST_LOST_NOTES } from "../sql/notes.ts";

const PAGE = 256;

/** The notes of a run, space by space, as they are stored. */
export async function* listNoteRows(connection: Connection, runId: string): AsyncGenerator<Result<Note, string>> {
  if (!(await connection.hasTable("notes"))) return;
  for (const { code } of await connection.run<{ code: number }>(INSPECT_NOTE_SPACES, [runId])) {
    const space = NoteSpace.fromCode(code);
    if (space === undefined) {
      yield err("its space is unknown");
      continue;
    }
    let start: Uint8Array = new Uint8Array();
    for (;;) {
      const rows = await connection.run<{ key: Buffer; value: Buffer }>(INSPECT_NOTES, [runId, code, start, PAGE]);
      for (const { key, value } of rows) yield ok({ space, key, value });
      if (rows.length < PAGE) break;
      start = noteKeyAfter(rows.at(-1)!.key);
    }
  }
}

/** Numbers of runs that have notes but no row. */
export async function listLostNotes(connection: Connection): Promise<readonly string[]> {
  if (!(await connection.hasTable("notes"))) return [];
  return (await connection.run<{ id: string }>(LIST_LOST_NOTES, [])).map(({ id }) => id);
}
