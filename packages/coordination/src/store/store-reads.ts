import type { LogicalTime, RunId, ShardId, TenantId } from "@gossip/contracts";
import type { NoteSpace } from "../records/note.ts";
import type { RunHead, RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { ShardFilter } from "../views/shard-filter.ts";

/**
 * Which state of a record was read.
 *
 * A counter, a revision or a token: only the store that issued it compares it. It must change with every write of the
 * record, and never occur again.
 */
export type StoreVersion = bigint | number | string;

/** A record as it was read, and the version that guards a later write. */
export interface Versioned<Record> {
  readonly record: Record;
  readonly version: StoreVersion;
}

/** A shard and its run, as they were at one moment. Either may be missing. */
export interface ShardRead {
  /** A store may return the whole `RunRecord` here; only the head is used. */
  readonly run: Versioned<RunHead> | undefined;
  readonly shard: Versioned<ShardRecord> | undefined;
}

/** What is stored under a run's id. `Deleted` is the mark that a removed run leaves forever. */
export type RunRead =
  | { readonly kind: "Missing" }
  | ({ readonly kind: "Found" } & Versioned<RunRecord>)
  | { readonly kind: "Deleted" };

/** Part of a list, and where the next part begins; without `next` it is the last part. */
export interface Page<Item, Position> {
  readonly items: readonly Item[];
  readonly next: Position | undefined;
}

/** A position in the list of a run's shards, which is sorted by range start and then by id. Neither ever changes. */
export interface ShardPosition {
  readonly keyRangeStart: Uint8Array;
  readonly shard: ShardId;
}

export interface ListPositionsQuery {
  readonly tenant: TenantId;
  readonly run: RunId;
  /** List what comes after it; `undefined` to list from the start. */
  readonly after: ShardPosition | undefined;
  /** Most items to return, at least 1. A page may have fewer although others follow. */
  readonly limit: number;
}

export interface ListShardsQuery extends ListPositionsQuery {
  /** The caller applies this filter to the page. A store may use it to skip other shards early. */
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

/** Which run, and at which time. */
export interface RunMoment {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly now: LogicalTime;
}

export interface ClaimQuery extends RunMoment {
  /** Most candidates to return, at least 1. */
  readonly limit: number;
  /**
   * A 32-bit number that differs between workers. If there are more candidates than the limit, it selects where to start,
   * so that workers get different ones.
   */
  readonly spread: number;
}

/** A shard that can be claimed. */
export interface ClaimCandidate {
  readonly shard: ShardId;
  /** The shard itself, if reading it later would cost another round trip. */
  readonly read?: Versioned<ShardRecord> | undefined;
}

/** The shards that a worker may claim. */
export interface ClaimListing {
  readonly run: Versioned<RunHead> | undefined;
  /**
   * Active shards without a lease at that time: all of them, or any up to the limit if there are more.
   */
  readonly candidates: readonly ClaimCandidate[];
  /**
   * The earliest deadline of the leases that are held at that time. A listing that reaches its limit may leave it out: no
   * caller waits for a lease then.
   */
  readonly earliestDeadline: LogicalTime | undefined;
}
