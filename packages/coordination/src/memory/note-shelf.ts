import { compareBytes, equalBytes } from "@gossip/stdx";
import { noteKeyAfter, type GuardedNoteWrite, type Note, type NoteSpace } from "../records/note.ts";
import type { ListNotesQuery, Page } from "../store/store-reads.ts";

/** The notes of one run. They live on the heap, outside of the slab. */
export class NoteShelf {
  /** By key. */
  readonly #spaces = new Map<NoteSpace, Note[]>();

  areGuardsHeld(notes: readonly GuardedNoteWrite[]): boolean {
    return notes.every(({ space, key, guard }) => {
      if (guard === undefined) return true;
      const found = this.#find(space, key);
      return guard === "absent" ? found === undefined : found !== undefined && equalBytes(found.value, guard);
    });
  }

  write(notes: readonly GuardedNoteWrite[]): void {
    for (const { space, key, value } of notes) {
      const list = this.#listOf(space);
      const index = indexOf(list, key);
      const hasNote = index < list.length && equalBytes(list[index]!.key, key);
      if (value === undefined) list.splice(index, hasNote ? 1 : 0);
      else list.splice(index, hasNote ? 1 : 0, { space, key: key.slice(), value: value.slice() });
    }
  }

  list({ space, start, end, limit }: ListNotesQuery): Page<Note, Uint8Array> {
    const list = this.#listOf(space);
    const from = indexOf(list, start);
    const to = end === undefined ? list.length : indexOf(list, end);
    const items: Note[] = [];
    for (let index = from; index < to; index++) {
      if (items.length === limit) return { items, next: noteKeyAfter(items.at(-1)!.key) };
      const { key, value } = list[index]!;
      items.push({ space, key: key.slice(), value: value.slice() });
    }
    return { items, next: undefined };
  }

  count(space: NoteSpace, limit: number): number {
    return Math.min(this.#spaces.get(space)?.length ?? 0, limit);
  }

  #find(space: NoteSpace, key: Uint8Array): Note | undefined {
    const list = this.#listOf(space);
    const note = list[indexOf(list, key)];
    return note !== undefined && equalBytes(note.key, key) ? note : undefined;
  }

  #listOf(space: NoteSpace): Note[] {
    let list = this.#spaces.get(space);
    if (list === undefined) this.#spaces.set(space, (list = []));
    return list;
  }
}

/** The position of the first note whose key is not below `key`. */
function indexOf(list: readonly Note[], key: Uint8Array): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(list[middle]!.key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
