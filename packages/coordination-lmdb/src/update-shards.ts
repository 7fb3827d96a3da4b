import { U64_MAX, type ShardId } from "@gossip/contracts";
import type { CommitAnswer, UpdateShardSet } from "@gossip/coordination";
import { RecordWriter } from "@gossip/coordination-codec";
import { assert } from "@gossip/stdx";
import { RowKind, RUN_KEY_SIZE, runKey, shardRecordKey, writeU64 } from "./keyspace.ts";
import type { KnownCapacities } from "./known-capacities.ts";
import { isMoved, placeKey } from "./place-key.ts";
import { nextVersion } from "./row-version.ts";
import type { Rows } from "./rows.ts";
import { assertOwn, encodeShardsInto } from "./shard-rows.ts";

export const CONFLICT: CommitAnswer = Object.freeze({ kind: "Conflict" });

/** An update with everything that it takes, so that putting it down cannot fail half-way. */
interface PreparedUpdate {
  readonly shard: ShardId;
  readonly version: number;
  readonly value: Uint8Array;
  /** The places that it leaves and takes in the indexes, where it moves. */
  readonly places: { readonly left: Buffer | undefined; readonly taken: Buffer | undefined } | undefined;
}

/** Updates that need the same of the same run. */
interface RunGroup {
  readonly set: UpdateShardSet;
  readonly headVersion: number | undefined;
  readonly updates: PreparedUpdate[];
  /** Which of the sets they are. */
  readonly indexes: number[];
}

/** Where records were encoded to that the driver is done with: kept, so that no commit copies its values into memory that is new. */
const idleWriters: RecordWriter[] = [];
const MAX_IDLE_WRITERS = 4;

/**
 * Make updates of shards: the hot path.
 *
 * They are put down as conditions and writes for the driver's thread. Nothing is read here: what changes in the
 * indexes follows from the record that the guard vouches for. So many updates cost one flush, and
 * no process holds the lock longer than the flush takes.
 */
export async function updateShards(rows: Rows, capacities: KnownCapacities, sets: readonly UpdateShardSet[]): Promise<CommitAnswer[]> {
  const writer = idleWriters.pop() ?? new RecordWriter();
  const { isMade, turn } = await putDown(rows, prepare(sets, writer), sets.length);
  // Not where anything was thrown: then nobody knows what the driver still looks at.
  if (idleWriters.length < MAX_IDLE_WRITERS) idleWriters.push(writer);
  capacities.follow({ sets, isMade, turn });
  return sets.map((set, index) => {
    if (isMade[index] !== true) return CONFLICT;
    return { kind: "Committed", version: nextVersion(set.shard.guard as number), hint: capacities.hintOf(set) };
  });
}

/** Encode and sort what can be made at all. What is wrong throws here, before anything is put down. */
function prepare(sets: readonly UpdateShardSet[], writer: RecordWriter): RunGroup[] {
  for (const set of sets) {
    assertOwn(set, set.shard.after);
    assert(set.hintAt === undefined || (set.hintAt > 0n && set.hintAt < U64_MAX), "time of a hint must be a reading of the clock");
  }
  const values = encodeShardsInto(
    sets.map((set) => set.shard.after),
    writer,
  );
  const groups: RunGroup[] = [];
  for (let index = 0; index < sets.length; index++) {
    const set = sets[index]!;
    const { shard, runGuard } = set;
    // A version that we never gave out is not the one that is stored.
    if (typeof shard.guard !== "number" || (runGuard !== undefined && typeof runGuard !== "number")) continue;
    let group = groups.at(-1);
    if (group === undefined || group.set.run !== set.run || group.set.tenant !== set.tenant || group.headVersion !== runGuard) {
      group = { set, headVersion: runGuard, updates: [], indexes: [] };
      groups.push(group);
    }
    const { before, after } = shard;
    const places = isMoved(before, after) ? { left: placeKey(set, before), taken: placeKey(set, after) } : undefined;
    group.updates.push({ shard: after.shard, version: shard.guard, value: values[index]!, places });
    group.indexes.push(index);
  }
  return groups;
}

/** Whether each set was made, and in which turn. Settles when the transaction is over, for better or worse. */
async function putDown(rows: Rows, groups: readonly RunGroup[], setCount: number): Promise<{ readonly isMade: readonly boolean[]; readonly turn: number }> {
  const isMade = Array.from<boolean>({ length: setCount }).fill(false);
  if (groups.length === 0) return { isMade, turn: rows.writes.last.turn };
  const heard: Promise<boolean>[] = [];
  const all = rows.together(() => {
    for (const { set, headVersion, updates } of groups) {
      // The run's row also keeps a shard from being written whose run was removed and whose row is not yet swept away.
      const hasRun = rows.ifVersion(runKey(RowKind.RunHead, set), headVersion, () => {
        // The driver copies a key while it is put down, so that one serves for all of them.
        const key = shardRecordKey(set, set.shard.after.shard);
        for (const update of updates) heard.push(putUpdate(rows, key, update));
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

/** Put an update down under `key`, which is made that of its shard. */
function putUpdate(rows: Rows, key: Buffer, { shard, version, value, places }: PreparedUpdate): Promise<boolean> {
  writeU64(key, shard, RUN_KEY_SIZE);
  // Most change the record alone, which is one step and not a condition with steps behind it.
  if (places === undefined) return rows.putIfVersion(key, { value, version: nextVersion(version) }, version);
  return rows.ifVersion(key, version, () => {
    rows.put(key, value, nextVersion(version));
    if (places.left !== undefined) rows.remove(places.left);
    if (places.taken !== undefined) rows.put(places.taken);
  });
}
