import type { LogicalTime, RunId, ShardId, TenantId } from "@gossip/contracts";
import type { NoteSpace } from "../records/note.ts";
import type { RunHead, RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { ShardFilter } from "../views/shard-filter.ts";

/**
 * Which state of a record was read.
 *
 * Whatever the store has: a counter, a revision, a token. Only the store that gave it
 * out compares it. It must change with every write of the record, and never come back.
 */
export type StoreVersion = bigint | number | string;

/** A record as it was read, with what a later write of it must be guarded by. */
export interface Versioned<Record> {
  readonly record: Record;
  readonly version: StoreVersion;
}

/** A shard and its run, as they were at one moment. Either may be missing. */
export interface ShardRead {
  /** A store may give the whole `RunRecord` here; nothing but the head is looked at. */
  readonly run: Versioned<RunHead> | undefined;
  readonly shard: Versioned<ShardRecord> | undefined;
}

/** What is under a run's id. `Deleted` is the mark that a removed run leaves for ever. */
export type RunRead =
  | { readonly kind: "Missing" }
  | ({ readonly kind: "Found" } & Versioned<RunRecord>)
  | { readonly kind: "Deleted" };

/** Some of a longer list, and where to go on; without `next` it was the last of it. */
export interface Page<Item, Position> {
  readonly items: readonly Item[];
  readonly next: Position | undefined;
}

/** A place in the list of a run's shards, which goes by range start and then by id. Neither ever changes. */
export interface ShardPosition {
  readonly keyRangeStart: Uint8Array;
  readonly shard: ShardId;
}

export interface ListShardsQuery {
  readonly tenant: TenantId;
  readonly run: RunId;
  /** List what comes after it; from the start where there is none. */
  readonly after: ShardPosition | undefined;
  /** Most items to give, at least 1. Fewer may be given before the end of the list. */
  readonly limit: number;
  /** What will be kept of the page. A store may use it to skip the rest early; it need not. */
  readonly filter: ShardFilter;
  readonly now: LogicalTime;
}

export interface ListRunsQuery {
  readonly tenant: TenantId;
  readonly after: RunId | undefined;
  readonly limit: number;
}

export interface ListTenantsQuery {
  readonly after: TenantId | undefined;
  readonly limit: number;
}

/** Which notes of a run to list, by key. */
export interface ListNotesQuery {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly space: NoteSpace;
  /** The least key to list: empty for all, or `next` of the previous page. It may be one byte longer than a key. */
  readonly start: Uint8Array;
  /** The least key not to list; `undefined` to list to the end. */
  readonly end: Uint8Array | undefined;
  /** Most notes to return, at least 1. A page may have fewer although others follow. */
  readonly limit: number;
}

/** Which notes of a run to count. */
export interface CountNotesQuery {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly space: NoteSpace;
  /** Where to stop counting, at least 1. */
  readonly limit: number;
}

/** Which run, and when: what counting its shards takes. */
export interface RunMoment {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly now: LogicalTime;
}

export interface ClaimQuery extends RunMoment {
  /** Most candidates to give, at least 1. */
  readonly limit: number;
  /**
   * A number of 32 bits that differs between workers. Where there are more candidates than
   * the limit, start looking at the place that it points to, so that workers look at different ones.
   */
  readonly spread: number;
}

/** A shard that can be claimed. */
export interface ClaimCandidate {
  readonly shard: ShardId;
  /** The shard itself, where reading it later would cost another trip. */
  readonly read?: Versioned<ShardRecord> | undefined;
}

/** Where a worker may look for work. */
export interface ClaimListing {
  readonly run: Versioned<RunHead> | undefined;
  /**
   * Active shards that nobody holds at that time. Up to the limit of them, whichever;
   * all of them where they are no more than that.
   */
  readonly candidates: readonly ClaimCandidate[];
  /** When the first of the leases that are held at that time runs out. */
  readonly earliestDeadline: LogicalTime | undefined;
}
