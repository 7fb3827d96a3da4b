import type { CommitAnswer, UpdateShardSet } from "@gossip/coordination";
import { ShardEncoder } from "@gossip/coordination-codec/internal";
import { CONFLICT, hasEntryMoved } from "@gossip/store-kit";
import type { FollowedCapacities } from "../claim/followed-capacities.ts";
import type { Rows } from "../engine/rows.ts";
import { RowKind, RUN_KEY_SIZE, runKey, shardRecordKey, writeU64 } from "../layout/keyspace.ts";
import { noteRows, putNoteRows, type NoteRow } from "../layout/note-rows.ts";
import { entryKey } from "../layout/entry-key.ts";
import { nextVersion } from "../layout/row-version.ts";
import { ValueBuffer } from "./value-buffer.ts";

/** Updates with the same condition on the same run. */
interface RunGroup {
  readonly set: UpdateShardSet;
  readonly headVersion: number | undefined;
  /** The indexes of its sets. */
  readonly indexes: number[];
}

/** What changes with an update beside the record: its index entry and notes. */
interface Extras {
  readonly oldEntry: Buffer | undefined;
  readonly newEntry: Buffer | undefined;
  readonly notes: readonly NoteRow[];
}

/** Updates with everything that they write, so that handing them to the driver cannot fail halfway. */
interface Prepared {
  readonly sets: readonly UpdateShardSet[];
  /** The encoded record of each set. */
  readonly values: readonly Uint8Array[];
  readonly extras: readonly (Extras | undefined)[];
}

/** The result of a transaction of updates. */
interface Written {
  /** Whether each set was committed. */
  readonly isMade: readonly boolean[];
  /** The number of the write, counted by `OwnWrites`. */
  readonly turn: number;
}

/** Maximum number of kept buffers. Only one commit is in flight, unless several coordinators share the store. */
const MAX_IDLE_BUFFERS = 4;

/**
 * Commits updates of shards: the hot path.
 *
 * They are handed to the driver's thread as conditions and writes. Nothing is read here: what changes in the indexes
 * follows from the record that the guard vouches for. So any number of updates costs one flush, and the write lock is held
 * no longer than that takes.
 */
export class ShardUpdates {
  readonly #rows: Rows;
  readonly #capacities: FollowedCapacities;
  readonly #encoder = new ShardEncoder();
  readonly #idle: ValueBuffer[] = [];

  constructor(rows: Rows, capacities: FollowedCapacities) {
    this.#rows = rows;
    this.#capacities = capacities;
  }

  async commit(sets: readonly UpdateShardSet[]): Promise<CommitAnswer[]> {
    const buffer = this.#idle.pop() ?? new ValueBuffer();
    const values = buffer.encode(sets, this.#encoder);
    const { isMade, turn } = await this.#write({ sets, values, extras: sets.map(extrasOf) });
    // Not if anything was thrown: the driver may still read the buffer.
    if (this.#idle.length < MAX_IDLE_BUFFERS) this.#idle.push(buffer);
    this.#capacities.follow({ sets, isMade, turn });
    return sets.map((set, index) => {
      if (isMade[index] !== true) return CONFLICT;
      const hint = this.#capacities.hintOf(set);
      return { kind: "Committed", version: nextVersion(set.shard.guard as number), hint };
    });
  }

  /** Settles when the transaction has ended. */
  async #write(updates: Prepared): Promise<Written> {
    const { sets } = updates;
    const rows = this.#rows;
    const groups = groupByRun(sets);
    const isMade = sets.map(() => false);
    if (groups.length === 0) return { isMade, turn: rows.writes.last.turn };
    const heard: Promise<boolean>[] = [];
    const all = rows.together(() => {
      for (const { set, headVersion, indexes } of groups) {
        // The run's row also keeps a shard from being written whose run was removed and whose row is not swept yet.
        const hasRun = rows.ifVersion(runKey(RowKind.RunHead, set), headVersion, () => {
          // The driver copies a key as soon as it gets it, so one buffer serves all of them.
          const key = shardRecordKey(set, set.shard.after.shard);
          for (const index of indexes) heard.push(putUpdate(rows, key, updates, index));
        });
        heard.push(hasRun);
      }
    });
    const { turn } = rows.writes.last;
    // Each condition has a promise of its own, and a failed transaction rejects them all, so all of them are awaited.
    heard.push(all);
    const outcomes = await Promise.all(heard);
    let next = 0;
    for (const { indexes } of groups) {
      for (const index of indexes) isMade[index] = outcomes[next++]!;
      // The updates of a run are followed by whether the run was there.
      next++;
    }
    return { isMade, turn };
  }
}

function groupByRun(sets: readonly UpdateShardSet[]): RunGroup[] {
  const groups: RunGroup[] = [];
  for (let index = 0; index < sets.length; index++) {
    const set = sets[index]!;
    const { shard, runGuard } = set;
    // This store gives out numbers only, so any other version is not the stored one.
    if (typeof shard.guard !== "number" || (runGuard !== undefined && typeof runGuard !== "number")) continue;
    const last = groups.at(-1);
    const isSame = last?.set.run === set.run && last.set.tenant === set.tenant && last.headVersion === runGuard;
    if (isSame) last!.indexes.push(index);
    else groups.push({ set, headVersion: runGuard, indexes: [index] });
  }
  return groups;
}

/** Computes what changes with an update beside its record; `undefined` for most updates. */
function extrasOf(set: UpdateShardSet): Extras | undefined {
  const { before, after } = set.shard;
  const isMoved = hasEntryMoved(before, after);
  if (!isMoved && set.notes === undefined) return undefined;
  return {
    oldEntry: isMoved ? entryKey(set, before) : undefined,
    newEntry: isMoved ? entryKey(set, after) : undefined,
    notes: set.notes === undefined ? [] : noteRows(set, set.notes),
  };
}

/** Hand one update to the driver. `key` is overwritten with the key of its shard. */
function putUpdate(rows: Rows, key: Buffer, { sets, values, extras }: Prepared, index: number): Promise<boolean> {
  const { guard, after } = sets[index]!.shard;
  const version = guard as number;
  const value = values[index]!;
  const extra = extras[index];
  writeU64(key, after.shard, RUN_KEY_SIZE);
  // Most updates change the record alone: one conditional write instead of a condition with writes in it.
  if (extra === undefined) return rows.putNext(key, value, version);
  const { oldEntry, newEntry, notes } = extra;
  return rows.ifVersion(key, version, () => {
    rows.put(key, value, nextVersion(version));
    if (oldEntry !== undefined) rows.remove(oldEntry);
    if (newEntry !== undefined) rows.put(newEntry);
    putNoteRows(rows, notes);
  });
}
