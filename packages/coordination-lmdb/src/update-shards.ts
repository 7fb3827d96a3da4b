import { U64_MAX } from "@gossip/contracts";
import { assertNoteWrites, type CommitAnswer, type UpdateShardSet } from "@gossip/coordination";
import { assert } from "@gossip/stdx";
import { RowKind, RUN_KEY_SIZE, runKey, shardRecordKey, writeU64 } from "./keyspace.ts";
import type { KnownCapacities } from "./known-capacities.ts";
import { noteRows, putNoteRows } from "./note-rows.ts";
import { isMoved, placeKey } from "./place-key.ts";
import { nextVersion } from "./row-version.ts";
import type { Rows } from "./rows.ts";
import { assertOwn, encodeShards } from "./shard-rows.ts";

export const CONFLICT: CommitAnswer = Object.freeze({ kind: "Conflict" });

/** The places that an update leaves and takes in the indexes. */
interface Move {
  readonly left: Buffer | undefined;
  readonly taken: Buffer | undefined;
}

/** Updates that need the same of the same run. */
interface RunGroup {
  readonly set: UpdateShardSet;
  readonly headVersion: number | undefined;
  /** Which of the sets they are. */
  readonly indexes: number[];
}

/** Updates with everything that they take, so that putting them down cannot fail half-way. */
interface PreparedUpdates {
  readonly sets: readonly UpdateShardSet[];
  /** The record of each. */
  readonly values: readonly Uint8Array[];
  /** Of those that move, where. */
  readonly moves: readonly (Move | undefined)[];
  readonly groups: readonly RunGroup[];
}

/**
 * Commit updates of shards: the hot path.
 *
 * They are handed to the driver's thread as conditions and writes. Nothing is read here: what changes in the indexes follows from the record
 * that the guard stands for. So any number of updates costs one flush, and no process holds the write lock for longer than that takes.
 */
export async function updateShards(
  rows: Rows,
  capacities: KnownCapacities,
  sets: readonly UpdateShardSet[],
): Promise<CommitAnswer[]> {
  const { isMade, turn } = await putDown(rows, prepare(sets));
  capacities.follow({ sets, isMade, turn });
  return sets.map((set, index) => {
    if (isMade[index] !== true) return CONFLICT;
    return { kind: "Committed", version: nextVersion(set.shard.guard as number), hint: capacities.hintOf(set) };
  });
}

/** Encode the records and group the updates by run. Throws if a set is malformed, before anything is handed to the driver. */
function prepare(sets: readonly UpdateShardSet[]): PreparedUpdates {
  for (const set of sets) {
    assertOwn(set, set.shard.after);
    if (set.notes !== undefined) assertNoteWrites(set.notes);
    assert(
      set.hintAt === undefined || (set.hintAt > 0n && set.hintAt < U64_MAX),
      "time of a hint must be a reading of the clock",
    );
  }
  const values = encodeShards(sets.map(({ shard }) => shard.after));
  const moves = sets.map((set) => {
    const { before, after } = set.shard;
    return isMoved(before, after) ? { left: placeKey(set, before), taken: placeKey(set, after) } : undefined;
  });
  const groups: RunGroup[] = [];
  for (let index = 0; index < sets.length; index++) {
    const set = sets[index]!;
    const { shard, runGuard } = set;
    // A version that we never gave out is not the one that is stored.
    if (typeof shard.guard !== "number" || (runGuard !== undefined && typeof runGuard !== "number")) continue;
    let group = groups.at(-1);
    if (
      group === undefined ||
      group.set.run !== set.run ||
      group.set.tenant !== set.tenant ||
      group.headVersion !== runGuard
    ) {
      group = { set, headVersion: runGuard, indexes: [] };
      groups.push(group);
    }
    group.indexes.push(index);
  }
  return { sets, values, moves, groups };
}

/** Whether each set was made, and in which turn. Settles when the transaction is over, for better or worse. */
async function putDown(
  rows: Rows,
  updates: PreparedUpdates,
): Promise<{ readonly isMade: readonly boolean[]; readonly turn: number }> {
  const { sets, groups } = updates;
  const isMade = sets.map(() => false);
  if (groups.length === 0) return { isMade, turn: rows.writes.last.turn };
  const heard: Promise<boolean>[] = [];
  const all = rows.together(() => {
    for (const { set, headVersion, indexes } of groups) {
      // The run's row also keeps a shard from being written whose run was removed and whose row is not yet swept away.
      const hasRun = rows.ifVersion(runKey(RowKind.RunHead, set), headVersion, () => {
        // The driver copies a key as soon as it gets it, so one buffer serves all of them.
        const key = shardRecordKey(set, set.shard.after.shard);
        for (const index of indexes) heard.push(putUpdate(rows, key, updates, index));
      });
      heard.push(hasRun);
    }
  });
  const { turn } = rows.writes.last;
  // Each condition has a promise of its own, and a failed transaction rejects them all: none may go unheard.
  heard.push(all);
  const outcomes = await Promise.all(heard);
  let next = 0;
  for (const { indexes } of groups) {
    for (const index of indexes) isMade[index] = outcomes[next++]!;
    // Behind a run's updates is whether it was there.
    next++;
  }
  return { isMade, turn };
}

/** Hand one update to the driver. `key` is overwritten with the key of its shard. */
function putUpdate(rows: Rows, key: Buffer, { sets, values, moves }: PreparedUpdates, index: number): Promise<boolean> {
  const set = sets[index]!;
  const { guard, after } = set.shard;
  const version = guard as number;
  writeU64(key, after.shard, RUN_KEY_SIZE);
  const move = moves[index];
  // Most updates change the record alone: one conditional write instead of a condition with writes in it.
  if (move === undefined && set.notes === undefined) return rows.putNext(key, values[index]!, version);
  return rows.ifVersion(key, version, () => {
    rows.put(key, values[index]!, nextVersion(version));
    if (move?.left !== undefined) rows.remove(move.left);
    if (move?.taken !== undefined) rows.put(move.taken);
    if (set.notes !== undefined) putNoteRows(rows, noteRows(set, set.notes));
  });
}
