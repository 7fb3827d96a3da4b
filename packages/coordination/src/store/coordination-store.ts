import type { LogicalTime, RunId, ShardKey, TenantId } from "@gossip/contracts";
import type { InfraError } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import type { CapacityHint } from "../records/capacity-hint.ts";
import type { Note } from "../records/note.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { AcquireScratch } from "../views/acquire-scratch.ts";
import type { RunProgress } from "../views/run-progress.ts";
import type { CommitAnswer } from "./commit-answer.ts";
import type {
  ClaimListing,
  ClaimQuery,
  CountNotesQuery,
  ListNotesQuery,
  ListPositionsQuery,
  ListRunsQuery,
  ListShardsQuery,
  ListTenantsQuery,
  Page,
  RunMoment,
  RunRead,
  ShardPosition,
  ShardRead,
} from "./store-reads.ts";
import type { WriteSet } from "./write-set.ts";

/** A value or a promise of it: a store that need not wait may answer at once. */
export type Eventually<T> = T | Promise<T>;

/** The result of a read, or why the store failed. */
export type StoreAnswer<T> = Eventually<Result<T, InfraError>>;

/** What differs between stores. */
export interface StoreTraits {
  /**
   * `commit` returns its answers and not a promise. Writes are then not batched, which would gain nothing.
   */
  readonly answersAtOnce?: boolean;
  /** Most children that one split can create; by default as many as a plan holds. */
  readonly maxSplitChildren?: number;
  /** Most write sets that `commit` takes in one call; 256 by default. */
  readonly maxSetsPerCommit?: number;
  /**
   * How many calls of `commit` may be in flight at once; 1 by default. Later sets wait and travel together, so more
   * calls in flight mean smaller batches.
   */
  readonly commitsInFlight?: number;
  /** Most notes in one write set; `MAX_NOTES_PER_SET` by default. */
  readonly maxNotesPerSet?: number;
}

/** A reading of a server's clock: when it answered, its clock was at least `atMs` and below `atMs + precisionMs`. */
export interface ServerTime {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly precisionMs: number;
}

/**
 * Where records are kept.
 *
 * A store does not know the protocol: it reads records, finds them by its indexes, and writes them if what was read is
 * still true. The coordinator above it does everything else, from leases to retries, once for every store.
 *
 * Its contract:
 *
 * - **Reads are current.** A read sees every write that was answered before it began.
 * - **A set is atomic**: its guards and its writes are one step, and no other write comes between.
 * - **A tenant sees its own.** Records are found under the tenant that is asked for, and no other.
 * - **A terminal run or shard slows no claim**: it leaves every index that claiming reads.
 * - **Expected failures are values.** `InfraError` names what the store was doing, in fixed words; what the driver threw
 *   goes into its `cause`. A rejected promise is a defect of the store.
 *
 * The conformance kit in `@gossip/coordination/testing` checks all of it.
 */
export interface CoordinationStore {
  readonly traits?: StoreTraits;

  /**
   * The clock of the store's server, for `measureClockSkew`. Missing, or `undefined`, if there is no server whose
   * clock can be read. No protocol rule depends on it.
   */
  readServerTime?(): StoreAnswer<ServerTime | undefined>;

  readRun(tenant: TenantId, run: RunId): StoreAnswer<RunRead>;
  /** A shard with its run, in one trip. */
  readShard(tenant: TenantId, key: ShardKey): StoreAnswer<ShardRead>;
  /**
   * `readShard` that writes the shard's bytes into `scratch`, for stores that can avoid the copies. The spec and the
   * cursor of the record then belong to the scratch, and are valid until it is written again.
   */
  readShardInto?(tenant: TenantId, key: ShardKey, scratch: AcquireScratch): StoreAnswer<ShardRead>;

  /**
   * How much of a run can be claimed. `availableCount` is the number of claimable shards or `MAX_CLAIM_COUNT`,
   * whichever is smaller, so a store stops counting there.
   */
  readHint(query: RunMoment): StoreAnswer<CapacityHint>;
  /** The states of a run's shards, counted. */
  readProgress(query: RunMoment): StoreAnswer<RunProgress>;
  /** Record until when a worker found nothing to claim. Advisory, and kept apart from the run's record and version. */
  markStarved(tenant: TenantId, run: RunId, until: LogicalTime): StoreAnswer<void>;

  /** From the index that claiming reads: it must not cost more the more shards there are. */
  listClaimCandidates(query: ClaimQuery): StoreAnswer<ClaimListing>;
  listShards(query: ListShardsQuery): StoreAnswer<Page<ShardRecord, ShardPosition>>;
  /**
   * Where the shards of a run begin, in the order of `listShards`, for stores that can list it without reading the
   * records. A display of very many shards asks for it.
   */
  listShardPositions?(query: ListPositionsQuery): StoreAnswer<Page<ShardPosition, ShardPosition>>;
  /** By id. */
  listRuns(query: ListRunsQuery): StoreAnswer<Page<RunRecord, RunId>>;
  /** Tenants that have a run, by id. */
  listTenants(query: ListTenantsQuery): StoreAnswer<Page<TenantId, TenantId>>;

  /** Notes of one space of a run, by key. Empty if there is no such run. */
  listNotes(query: ListNotesQuery): StoreAnswer<Page<Note, Uint8Array>>;
  /** How many notes a space of a run has, or `limit` if there are more. */
  countNotes(query: CountNotesQuery): StoreAnswer<number>;

  /**
   * Commit write sets, each on its own, and return the outcome of each in the same order.
   *
   * A call carries either a single set of any kind, or several `UpdateShard` sets of different shards. A set that fails
   * does not affect the others.
   */
  commit(sets: readonly WriteSet[]): Eventually<readonly CommitAnswer[]>;
}
