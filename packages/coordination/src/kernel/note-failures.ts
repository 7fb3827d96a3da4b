import { assert, assertCount, compareBytes } from "@gossip/stdx";
import { encodeBase64Url } from "@gossip/stdx/internal";
import { noteOfFailure, type FailureContext, type FailureInput } from "../records/item-failure.ts";
import { MAX_NOTES_PER_SET, type NoteWrite } from "../records/note.ts";

/**
 * The notes of the items that a checkpoint moves past although they failed. `undefined` if there are none, which is
 * nearly always. Of failures with the same key, the last one counts.
 *
 * Throws on malformed input, and if an item lies above `upTo`: the checkpoint does not move past that one.
 */
export function noteFailures(
  failures: readonly FailureInput[] | undefined,
  context: FailureContext,
  upTo?: Uint8Array,
): readonly NoteWrite[] | undefined {
  if (failures === undefined) return undefined;
  assert(Array.isArray(failures), () => `failures must come in an array, got ${typeof failures}`);
  if (failures.length === 0) return undefined;
  assertCount(failures.length, "number of failures", { min: 0, max: MAX_NOTES_PER_SET });
  const notes = new Map<string, NoteWrite>();
  for (const failure of failures) {
    const note = noteOfFailure(failure, context);
    assert(
      upTo === undefined || compareBytes(note.key, upTo) <= 0,
      "a failed item must not lie above the cursor of its checkpoint",
    );
    notes.set(encodeBase64Url(note.key), note);
  }
  return [...notes.values()];
}
