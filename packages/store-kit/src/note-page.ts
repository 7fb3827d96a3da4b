import type { Note, Page } from "@gossip/coordination";
import { noteKeyAfter } from "@gossip/coordination/internal";

/** A page of a listing of notes. The next page starts right after its last note, if the space holds more of them. */
export function notePage(items: readonly Note[], hasMore: boolean): Page<Note, Uint8Array> {
  const last = hasMore ? items.at(-1) : undefined;
  return { items, next: last && noteKeyAfter(last.key) };
}
