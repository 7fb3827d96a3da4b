import { MAX_KEY_SIZE, type FenceEpoch, type LogicalTime, type ShardId, type WorkerId } from "@gossip/contracts";
import { JsonReader } from "@gossip/contracts/internal";
import type { InfraError } from "@gossip/coordination-errors";
import { assertBytes, assertCount, err, ok, type Result } from "@gossip/stdx";
import type { Lease } from "./lease.ts";
import { noteKeyOfId, tryIdOfNoteKey } from "./note-id.ts";
import { damagedNote, decodeNoteValue, encodeNoteValue } from "./note-value.ts";
import type { Note, NoteWrite } from "./note.ts";

/**
 * The item that a worker was about to process. If the worker crashes, the next holder finds out which item did it.
 * *Addition.*
 *
 * Advisory: writing one checks no lease. A reader compares `fence` with the previous holder's.
 */
export interface ShardMarker {
  readonly shard: ShardId;
  readonly item: Uint8Array;
  readonly worker: WorkerId;
  readonly fence: FenceEpoch;
  readonly at: LogicalTime;
}

type StoredMarker = Omit<ShardMarker, "shard">;

const readStored: JsonReader<StoredMarker> = /* @__PURE__ */ JsonReader.object<StoredMarker>({
  item: JsonReader.bytes,
  worker: JsonReader.u64,
  fence: JsonReader.u64,
  at: JsonReader.u64,
});

/** The note of a marker. `item` left out removes it. Throws on malformed input. */
export function noteOfMarker(lease: Lease, item: Uint8Array | undefined, at: LogicalTime): NoteWrite {
  const { shard, owner: worker, fence } = lease;
  if (item === undefined) return removalOfMarker(shard);
  assertBytes(item, "item of a marker");
  assertCount(item.length, "size of the item of a marker", { min: 0, max: MAX_KEY_SIZE });
  const document: StoredMarker = { item, worker, fence, at };
  return { space: "marker", key: noteKeyOfId(shard), value: encodeNoteValue(document) };
}

/** Removes the marker of a shard, if it has one. */
export function removalOfMarker(shard: ShardId): NoteWrite {
  return { space: "marker", key: noteKeyOfId(shard), value: undefined };
}

/** The marker in a note. */
export function markerOfNote({ key, value }: Note): Result<ShardMarker, InfraError> {
  const shard = tryIdOfNoteKey<ShardId>(key);
  if (shard === undefined) return err(damagedNote());
  const stored = decodeNoteValue(value, readStored);
  return stored.ok ? ok({ shard, ...stored.value }) : stored;
}
