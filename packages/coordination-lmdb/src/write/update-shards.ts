import { randomInt } from "node:crypto";
import type { CommitAnswer, UpdateShardSet } from "@gossip/coordination";
import { ShardEncoder } from "@gossip/coordination-codec/internal";
import { StatusCounts } from "@gossip/coordination-fsck";
import { CONFLICT, hasEntryMoved } from "@gossip/store-kit";
import type { FollowedCapacities } from "../claim/followed-capacities.ts";
import type { Rows } from "../engine/rows.ts";
import { RowKind, RUN_KEY_SIZE, runKey, shardRecordKey, writeU64 } from "../layout/keyspace.ts";
import { noteRows, putNoteRows, type NoteRow } from "../layout/note-rows.ts";
import { entryKey } from "../layout/entry-key.ts";
import { nextVersion } from "../layout/row-version.ts";
import { CountSteps } from "./count-steps.ts";
import { MAX_SLOT } from "./status-counts.ts";
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
  /** The sets to write: all, or those that were overtaken before. */
  readonly isWanted?: ((index: number) => boolean) | undefined;
}

/** The result of a transaction of updates. */
interface Written {
  /** Whether each set was committed. */
  readonly isMade: readonly boolean[];
  /** Sets that were not written only because their run's status counts had changed meanwhile. Empty for nearly every call. */
  readonly overtaken: readonly number[];
  /** The number of the write, counted by `OwnWrites`. */
  readonly turn: number;
}

/** How often sets are written again that were overtaken. Afterwards they are conflicts. */
const MAX_ROUNDS = 16;

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
  /** Where this store counts shards that change their status. Stores that share a slot get in each other's way. */
  readonly #slot = randomInt(1, MAX_SLOT + 1);

  constructor(rows: Rows, capacities: FollowedCapacities) {
    this.#rows = rows;
    this.#capacities = capacities;
  }

  async commit(sets: readonly UpdateShardSet[]): Promise<CommitAnswer[]> {
    const buffer = this.#idle.pop() ?? new ValueBuffer();
    const values = buffer.encode(sets, this.#encoder);
    const prepared = { sets, values, extras: sets.map(extrasOf) };
    let { isMade, overtaken, turn } = await this.#write(prepared);
    this.#capacities.follow({ sets, isMade, turn });
    for (let round = 1; overtaken.length > 0 && round < MAX_ROUNDS; round++) {
      const left = new Set(overtaken);
      const again = await this.#write({ ...prepared, isWanted: (index) => left.has(index) });
      this.#capacities.follow({ sets, ...again });
      isMade = isMade.map((before, index) => before || again.isMade[index] === true);
      overtaken = again.overtaken;
    }
    // Not if anything was thrown: the driver may still read the buffer.
    if (this.#idle.length < MAX_IDLE_BUFFERS) this.#idle.push(buffer);
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
    const groups = groupByRun(updates);
    const isMade = sets.map(() => false);
    if (groups.length === 0) return { isMade, overtaken: [], turn: rows.writes.last.turn };
    const heard: Promise<boolean>[] = [];
    const steps = new CountSteps(rows, this.#slot);
    const all = rows.together(() => {
      for (const { set, headVersion, indexes } of groups) {
        // The run's row also keeps a shard from being written whose run was removed and whose row is not swept yet.
        const hasRun = rows.ifVersion(runKey(RowKind.RunHead, set), headVersion, () => {
          // The driver copies a key as soon as it gets it, so one buffer serves all of them.
          const key = shardRecordKey(set, set.shard.after.shard);
          for (const index of indexes) heard.push(putUpdate(rows, key, { updates, index, steps }));
        });
        heard.push(hasRun);
      }
    });
    const { turn } = rows.writes.last;
    // Each condition has a promise of its own, and a failed transaction rejects them all, so all of them are awaited.
    heard.push(all, ...steps.heard);
    const outcomes = await Promise.all(heard);
    let next = 0;
    for (const { indexes } of groups) {
      for (const index of indexes) isMade[index] = outcomes[next++]!;
      // The updates of a run are followed by whether the run was there.
      next++;
    }
    const overtaken = steps.resolve(isMade, outcomes.slice(next + 1));
    return { isMade, overtaken, turn };
  }
}

function groupByRun({ sets, isWanted }: Prepared): RunGroup[] {
  const groups: RunGroup[] = [];
  for (let index = 0; index < sets.length; index++) {
    const set = sets[index]!;
    const { shard, runGuard } = set;
    if (isWanted !== undefined && !isWanted(index)) continue;
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

interface OneUpdate {
  readonly updates: Prepared;
  readonly index: number;
  readonly steps: CountSteps;
}

/** Hand one update to the driver. `key` is overwritten with the key of its shard. */
function putUpdate(rows: Rows, key: Buffer, { updates, index, steps }: OneUpdate): Promise<boolean> {
  const { sets, values, extras } = updates;
  const set = sets[index]!;
  const { guard, before, after } = set.shard;
  const version = guard as number;
  const value = values[index]!;
  const extra = extras[index];
  writeU64(key, after.shard, RUN_KEY_SIZE);
  // Most updates change the record alone: one conditional write instead of a condition with writes in it.
  if (extra === undefined) return rows.putNext(key, value, version);
  const { oldEntry, newEntry, notes } = extra;
  const write = (): void => {
    rows.put(key, value, nextVersion(version));
    if (oldEntry !== undefined) rows.remove(oldEntry);
    if (newEntry !== undefined) rows.put(newEntry);
    putNoteRows(rows, notes);
  };
  const change = StatusCounts.change(before, after);
  return rows.ifVersion(key, version, change === undefined ? write : () => steps.put(set, { index, change }, write));
}
