import type { LogicalTime, RunId, ShardStatus, TenantId } from "@gossip/contracts";
import type { GuardedNoteWrite, NoteWrite } from "../records/note.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { StoreVersion } from "./store-reads.ts";

/**
 * Writes that are made together or not at all, and the conditions under which they are made. All of them concern one
 * run.
 *
 * | kind          | conditions                                              | writes                                  |
 * | ------------- | ------------------------------------------------------- | --------------------------------------- |
 * | `UpdateShard` | the shard's version, and the run's if it is given       | the shard, and notes of the run         |
 * | `SplitShard`  | both versions; the quotas; the new ids are free         | the shard, and new ones                 |
 * | `PutRun`      | the run's version, or that its id was never used; its   | the run, and its first shards           |
 * |               | shards' states; the quotas; the new ids are free        |                                         |
 * | `RemoveRun`   | the run's version                                       | removes the run with all its shards and |
 * |               |                                                         | notes, leaves a mark                    |
 * | `WriteNotes`  | the run exists; the notes' guards                       | notes of the run                        |
 */
export type WriteSet = UpdateShardSet | SplitShardSet | PutRunSet | RemoveRunSet | WriteNotesSet;

interface SetOfRun {
  readonly tenant: TenantId;
  readonly run: RunId;
}

/** A shard's next state, and the one that it replaces. */
export interface ShardWrite {
  /** The version of `before`. */
  readonly guard: StoreVersion;
  /** As it was read: if the guard holds, this is what is stored. What did not change is the same object in `after`. */
  readonly before: ShardRecord;
  readonly after: ShardRecord;
}

/** Most shards that may exist, the new ones included. */
export interface ShardLimits {
  readonly maxShardsPerTenant: number;
  readonly maxShardsTotal: number;
}

/** The small, frequent one: several of them, each of another shard, may come in one call. */
export interface UpdateShardSet extends SetOfRun {
  readonly kind: "UpdateShard";
  readonly shard: ShardWrite;
  /** The run must still be at this version; `undefined` if it does not matter. */
  readonly runGuard: StoreVersion | undefined;
  /**
   * Answer with the run's capacity at this time, as it is after the write; `undefined` if the caller does not need it.
   * If the write does not change the capacity, a store may return what it looked up at most 5 ms before, as far as
   * others have written since. If `MAX_CLAIM_COUNT` shards are free, it may leave out the deadline, which `readHint`
   * always returns.
   */
  readonly hintAt: LogicalTime | undefined;
  /**
   * Notes to write with the shard, if the guards hold. `undefined` for nearly every checkpoint, which must then cost
   * nothing more. No key occurs twice.
   */
  readonly notes?: readonly NoteWrite[] | undefined;
}

export interface SplitShardSet extends SetOfRun {
  readonly kind: "SplitShard";
  readonly shard: ShardWrite;
  readonly runGuard: StoreVersion;
  readonly created: readonly ShardRecord[];
  readonly limits: ShardLimits;
}

export interface PutRunSet extends SetOfRun {
  readonly kind: "PutRun";
  /** The run's version, or `undefined` if the id must never have been used: the mark of a removed run counts as used. */
  readonly guard: StoreVersion | undefined;
  readonly after: RunRecord;
  /**
   * The run's first shards, or a page of them, up to `MAX_INITIAL_SHARDS`. A run has shards before the write only if it
   * is initializing and these are a further page.
   *
   * They need not be written in the same transaction as the run. A store that cannot write so many at once may write
   * them in pieces before it: until the run's own write makes it active, no reader looks at them. What an attempt that
   * broke off left behind must then not count as taken.
   */
  readonly created: readonly ShardRecord[];
  readonly limits: ShardLimits;
  /** The run must have no shard in one of these states. */
  readonly noShardsIn: readonly ShardStatus[];
}

export interface RemoveRunSet extends SetOfRun {
  readonly kind: "RemoveRun";
  readonly guard: StoreVersion;
}

/** Changes notes of a run that exists, whatever its state. Does not change the run's version. */
export interface WriteNotesSet extends SetOfRun {
  readonly kind: "WriteNotes";
  /** No key occurs twice. */
  readonly notes: readonly GuardedNoteWrite[];
}
