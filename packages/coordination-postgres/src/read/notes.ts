import { NoteSpace, type CountNotesQuery, type ListNotesQuery, type Note, type Page } from "@gossip/coordination";
import { notePage } from "@gossip/store-kit";
import type { Database } from "../database/database.ts";
import { tenantBytes } from "../layout/rows.ts";
import { u64Bytes } from "../layout/u64-bytes.ts";
import { COUNT_NOTES, LIST_NOTES, LIST_NOTES_UP_TO } from "../sql/notes.ts";

/** Most notes of a page, which is held in memory. */
const MAX_PAGE = 512;

// Tables of an earlier version have no notes. They may be migrated while this process runs, so each call checks until the table exists.

export function listNotes(database: Database, query: ListNotesQuery): Promise<Page<Note, Uint8Array>> {
  const { tenant, run, space, start, end } = query;
  const limit = Math.min(query.limit, MAX_PAGE);
  const from = [tenantBytes(tenant), u64Bytes(run), NoteSpace.codes[space], start];
  return database.use(async (connection) => {
    if (!(await connection.hasTable("notes"))) return { items: [], next: undefined };
    const rows = await connection.run<{ key: Buffer; value: Buffer }>(
      end === undefined ? LIST_NOTES : LIST_NOTES_UP_TO,
      end === undefined ? [...from, limit + 1] : [...from, end, limit + 1],
    );
    const items = rows
      .slice(0, limit)
      .map(({ key, value }) => ({ space, key: Uint8Array.from(key), value: Uint8Array.from(value) }));
    return notePage(items, rows.length > limit);
  });
}

export function countNotes(database: Database, { tenant, run, space, limit }: CountNotesQuery): Promise<number> {
  return database.use(async (connection) => {
    if (!(await connection.hasTable("notes"))) return 0;
    const values = [tenantBytes(tenant), u64Bytes(run), NoteSpace.codes[space], limit];
    const [row] = await connection.run<{ count: string }>(COUNT_NOTES, values);
    return Number(row?.count ?? 0);
  });
}
