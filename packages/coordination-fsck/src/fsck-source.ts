import type { RunId, ShardId, TenantId } from "@gossip/contracts";
import type { Note, RunRecord, ShardRecord } from "@gossip/coordination";
import type { InfraError } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import type { RunCensus } from "./run-census.ts";
import type { CountedStatus, StatusCounts } from "./status-counts.ts";

/**
 * A store that can be checked, and whose indexes can be rebuilt.
 *
 * This is all that `fsck` knows of a store. It shows what is stored, as it is stored, whether or not it makes
 * sense: a record that cannot be read is shown as such. Where reading itself fails, that is thrown.
 */
export interface FsckSource {
  /** Look at the store as it is now: a consistent snapshot, if the store can hold one. */
  look(): Promise<StoreView>;
  /** Make the indexes and counts what the records say, and write a census and status counts for runs that have none. Records are not touched. */
  rebuildIndexes(): Promise<RebuiltIndexes>;
  /** What was thrown while reading, in our words. */
  explain(thrown: unknown): InfraError;
}

export interface StoreView {
  /** Every run of which there is anything, one after the other. What it shows is good until the next. */
  runs(): AsyncIterable<RunView>;
  /** What the store keeps counts of. */
  readonly countScopes: ReadonlySet<CountScope>;
  /** How many shards it believes there to be. A count that is missing counts as none. */
  counts(): AsyncIterable<StoredCount>;
  /** Let the moment go. */
  close(): Promise<void>;
}

export interface RunView {
  readonly tenant: TenantId;
  readonly run: RunId;
  /** What is under the run's id. `Removed`: only what is still to be swept away, which need not make sense. */
  readonly record: StoredRunRecord;
  shards(): AsyncIterable<StoredShard>;
  /** Every entry of the run in every index. */
  entries(): AsyncIterable<IndexEntry>;
  /** The entries that a shard must have. */
  entriesOf(record: ShardRecord): readonly IndexEntry[];
  /** Every note of the run, or why one cannot be read. Left out by a store without notes. */
  notes?(): AsyncIterable<Result<Note, string>>;
  /** The census of the run, as stored; `undefined` for a run that is older than the census. Left out by a store that keeps none. */
  readonly census?: RunCensus | undefined;
  /** The status counts of the run, as stored; `undefined` for a run without them. Left out by a store that keeps none. */
  readonly statusCounts?: StatusCounts | undefined;
  /**
   * Whether the engine finds a shard's record by its key, as it does for every operation, and finds the record that `shards` showed. Left
   * out by a store in which listing and looking up cannot disagree.
   */
  findShard?(shard: ShardId): Promise<boolean>;
  /** Whether the engine finds an index entry by its key. */
  findEntry?(entry: IndexEntry): Promise<boolean>;
}

export type StoredRunRecord =
  | { readonly kind: "Found"; readonly record: RunRecord }
  | { readonly kind: "Unreadable"; readonly detail: string }
  | { readonly kind: "Missing" }
  | { readonly kind: "Deleted" }
  | { readonly kind: "Removed" };

export interface StoredShard {
  /** From the key under which it was found. */
  readonly shard: ShardId;
  /** The record, or why it cannot be read. */
  readonly record: Result<ShardRecord, string>;
}

export interface IndexEntry {
  readonly index: string;
  /** The shard that it names, where it names one. */
  readonly shard: ShardId | undefined;
  /** Tells it from every other entry of the run. For comparing, not for showing: it may hold keys. */
  readonly key: string;
}

export interface StoredCount {
  readonly scope: CountScope;
  readonly tenant: TenantId | undefined;
  readonly run: RunId | undefined;
  readonly count: number;
}

/** What a count covers: the shards of a run, of a tenant, of the store, or those of a run in one status. */
export type CountScope = "Run" | "Tenant" | "Total" | CountedStatus;

export interface RebuiltIndexes {
  readonly removedEntries: number;
  readonly addedEntries: number;
  readonly correctedCounts: number;
  /** Censuses written for runs that had none. */
  readonly addedCensuses?: number;
}
