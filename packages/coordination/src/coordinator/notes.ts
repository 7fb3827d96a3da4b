import { coordError, InfraError, type BackendError, type GetRunError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import type { Note, NoteSpace, NoteWrite } from "../records/note.ts";
import type { ListNotesQuery, Page } from "../store/store-reads.ts";
import type { Attempts, Engine } from "./engine.ts";
import { getRun, type RunRequest } from "./queries.ts";

/** Which notes to list, and how to read them. */
export interface NoteListing<T> extends RunRequest {
  readonly space: NoteSpace;
  readonly start?: Uint8Array | undefined;
  readonly end?: Uint8Array | undefined;
  readonly limit?: number | undefined;
  readonly parse: (note: Note) => Result<T, InfraError>;
}

const NO_KEY = /* @__PURE__ */ new Uint8Array();
const DEFAULT_PAGE_SIZE = 100;

/**
 * Change notes of a run. Every change is unconditional and can be repeated, so an unknown outcome is settled by writing
 * again.
 */
export async function writeNotes(
  engine: Engine,
  { tenant, run }: RunRequest,
  notes: readonly NoteWrite[],
): Promise<Result<void, GetRunError>> {
  const attempts = attempting();
  for (;;) {
    const answer = await engine.commit({ kind: "WriteNotes", tenant, run, notes });
    if (answer.kind === "Committed") return ok();
    // Without guards, the only condition is that the run exists.
    if (answer.kind === "Conflict") return err(coordError("RunNotFound"));
    const again = await engine.retryAfter(attempts, "error" in answer ? answer.error : NO_ROOM);
    if (!again.ok) return again;
  }
}

/** A page of notes. A note that cannot be read is `Corruption`. */
export async function listNotes<T>(
  engine: Engine,
  listing: NoteListing<T>,
): Promise<Result<Page<T, Uint8Array>, GetRunError>> {
  const { tenant, run, space, start = NO_KEY, end, limit = DEFAULT_PAGE_SIZE, parse } = listing;
  const found = await getRun(engine, { tenant, run });
  if (!found.ok) return found;
  const items: T[] = [];
  let position: Uint8Array | undefined = start;
  // A store may return less than a full page. The caller of this gets full ones.
  do {
    const query: ListNotesQuery = {
      tenant,
      run,
      space,
      start: position,
      end,
      limit: limit - items.length,
    };
    const page: Result<Page<Note, Uint8Array>, BackendError> = await engine.read(attempting(), () =>
      engine.store.listNotes(query),
    );
    if (!page.ok) return page;
    for (const note of page.value.items) {
      const item = parse(note);
      if (!item.ok) return err(coordError("BackendError", { reason: item.error }));
      items.push(item.value);
    }
    position = page.value.next;
  } while (position !== undefined && items.length < limit);
  return ok({ items, next: position });
}

/** How many notes a space has, or `limit` if there are more. */
export async function countNotes(
  engine: Engine,
  { tenant, run, space, limit }: RunRequest & { readonly space: NoteSpace; readonly limit: number },
): Promise<Result<number, GetRunError>> {
  const found = await getRun(engine, { tenant, run });
  if (!found.ok) return found;
  return engine.read(attempting(), () => engine.store.countNotes({ tenant, run, space, limit }));
}

const NO_ROOM = /* @__PURE__ */ InfraError.transient({
  operation: "notes.commit",
  message: "the store has no room for the write",
});

function attempting(): Attempts {
  return { operation: "notes", count: 0 };
}
