import type { ShardRecord, WriteSet } from "@gossip/coordination";

/** Size of a record without its keys and lists, with its index entries and the overhead of the tree. */
const BASE_SIZE = 512;
/** Of a note without its key and value. */
const NOTE_SIZE = 64;
const LOGGED_OP_SIZE = 26;
const ID_SIZE = 8;

/** Estimates by how many bytes the rows grow with the sets. */
export function growthOf(sets: readonly WriteSet[]): number {
  let growth = 0;
  for (const set of sets) {
    if (set.kind === "UpdateShard" || set.kind === "SplitShard") {
      growth += Math.max(0, sizeOf(set.shard.after) - sizeOf(set.shard.before));
    }
    if (set.kind === "UpdateShard" || set.kind === "WriteNotes") {
      for (const { key, value } of set.notes ?? [])
        if (value !== undefined) growth += NOTE_SIZE + 2 * key.length + value.length;
    }
    if (set.kind === "SplitShard" || set.kind === "PutRun") {
      for (const shard of set.created) growth += BASE_SIZE + sizeOf(shard);
    }
    // The record of a run has the ids of its first shards twice: in the list, and in the logged answer of the
    // registration.
    if (set.kind === "PutRun") growth += set.guard === undefined ? BASE_SIZE : 2 * ID_SIZE * set.created.length;
  }
  return growth;
}

function sizeOf({ spec, cursor, opLog, spawned }: ShardRecord): number {
  const keys = spec.keyRangeStart.length + spec.keyRangeEnd.length + spec.metadata.length;
  const position = (cursor.lastKey?.length ?? 0) + (cursor.token?.length ?? 0);
  return keys + position + LOGGED_OP_SIZE * opLog.length + ID_SIZE * spawned.length;
}
