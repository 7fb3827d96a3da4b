import { MAX_KEY_SIZE, type PersistedEnum } from "@gossip/contracts";
import { persistedEnum } from "@gossip/contracts/internal";
import { assert, assertBytes, assertCount } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";

/**
 * What a note is about. A run has one ordered list of notes for each space.
 *
 * | space     | key             | value                                       |
 * | --------- | --------------- | ------------------------------------------- |
 * | `failure` | key of an item  | why the item was skipped: `ItemFailure`     |
 * | `worker`  | id of a worker  | what the worker is doing: `WorkerEntry`     |
 * | `parked`  | id of a shard   | why the shard was parked: `ParkedDetail`    |
 * | `marker`  | id of a shard   | the item that is being tried: `ShardMarker` |
 * | `setting` | name            | what an operator has set: `RunSettings`     |
 * | `rollup`  | name            | reserved                                    |
 */
export type NoteSpace = "failure" | "worker" | "parked" | "marker" | "setting" | "rollup";

/** The codes are stored. Add to them, and never change one. */
export const NoteSpace: PersistedEnum<NoteSpace> = /* @__PURE__ */ persistedEnum({
  failure: 1,
  worker: 2,
  parked: 3,
  marker: 4,
  setting: 5,
  rollup: 6,
});

/** A small document that a run keeps next to its shards. */
export interface Note {
  readonly space: NoteSpace;
  readonly key: Uint8Array;
  /** A JSON document in UTF-8. Stores do not look into it. */
  readonly value: Uint8Array;
}

/** The change of one note. */
export interface NoteWrite {
  readonly space: NoteSpace;
  readonly key: Uint8Array;
  /** The new value. `undefined` removes the note, if it exists. */
  readonly value: Uint8Array | undefined;
}

/** A change that is made only if the note still is what was read. */
export interface GuardedNoteWrite extends NoteWrite {
  /** The value that the note must still have, or `"absent"`. Without a guard the change is unconditional. */
  readonly guard?: Uint8Array | "absent" | undefined;
}

/** Size limit of a note's key: any item key fits. */
export const MAX_NOTE_KEY_SIZE = MAX_KEY_SIZE;

export const MAX_NOTE_VALUE_SIZE = 16_384;

/** Most notes in one write set. A store may allow fewer: see `StoreTraits.maxNotesPerSet`. */
export const MAX_NOTES_PER_SET = 64;

/** Size limit of all keys, values and guards in one write set. */
export const MAX_NOTES_SIZE = 512 * 1024;

/** Throws unless the notes of one write set are well-formed and within the limits. */
export function assertNoteWrites(notes: readonly GuardedNoteWrite[]): void {
  assert(Array.isArray(notes), "notes must come in an array");
  assertCount(notes.length, "number of notes in a write set", { min: 0, max: MAX_NOTES_PER_SET });
  let size = 0;
  for (const note of notes) {
    assertNoteWrite(note);
    size += sizeOf(note);
  }
  assertCount(size, "size of the notes in a write set", { min: 0, max: MAX_NOTES_SIZE });
}

/** A guard is sent with the key that it guards. */
function sizeOf({ key, value, guard }: GuardedNoteWrite): number {
  const guardSize = guard === undefined || guard === "absent" ? 0 : guard.length;
  return (guard === undefined ? key.length : 2 * key.length) + guardSize + (value?.length ?? 0);
}

function assertNoteWrite(note: GuardedNoteWrite): void {
  assertObject(note, "note");
  const { space, key, value, guard } = note;
  assertNoteSpace(space);
  assertBytes(key, "key of a note");
  assertCount(key.length, "size of a note's key", { min: 0, max: MAX_NOTE_KEY_SIZE });
  if (guard !== undefined && guard !== "absent") assertBytes(guard, "guard of a note");
  if (value === undefined) return;
  assertBytes(value, "value of a note");
  assertCount(value.length, "size of a note's value", { min: 1, max: MAX_NOTE_VALUE_SIZE });
}

export function assertNoteSpace(space: unknown): asserts space is NoteSpace {
  assert(NoteSpace.is(space), "space of a note must be one of NoteSpace.values");
}

/** The least key above `key`. */
export function noteKeyAfter(key: Uint8Array): Uint8Array {
  assertBytes(key, "key of a note");
  const after = new Uint8Array(key.length + 1);
  after.set(key);
  return after;
}
