import type { InfraError } from "@gossip/coordination-errors";
import { ok, type Result } from "@gossip/stdx";
import { failureOfNote } from "./item-failure.ts";
import { decodeNoteValue } from "./note-value.ts";
import { MAX_NOTE_KEY_SIZE, MAX_NOTE_VALUE_SIZE, type Note, type NoteSpace } from "./note.ts";
import { parkedOfNote } from "./parked-detail.ts";
import { settingOfNote } from "./run-settings.ts";
import { markerOfNote } from "./shard-marker.ts";
import { workerOfNote } from "./worker-entry.ts";

const parseAny = ({ value }: Note): Result<unknown, InfraError> => decodeNoteValue(value, (json) => ok(json));

/** How the notes of each space are read. */
const PARSERS: Readonly<Record<NoteSpace, (note: Note) => Result<unknown, InfraError>>> = {
  failure: failureOfNote,
  worker: workerOfNote,
  parked: parkedOfNote,
  marker: markerOfNote,
  setting: settingOfNote,
  rollup: parseAny,
};

/** What is wrong with a stored note, in words that name no key and no text of it; `undefined` if nothing is. */
export function findNoteFault(note: Note): string | undefined {
  if (note.key.length > MAX_NOTE_KEY_SIZE) return "its key is longer than a key may be";
  if (note.value.length > MAX_NOTE_VALUE_SIZE) return "its value is larger than a value may be";
  return PARSERS[note.space](note).ok ? undefined : "its value is not a document of its space";
}
