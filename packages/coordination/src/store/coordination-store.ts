import type { LogicalTime, RunId, ShardKey, TenantId } from "@gossip/contracts";
import type { InfraError } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import type { CapacityHint } from "../records/capacity-hint.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { AcquireScratch } from "../views/acquire-scratch.ts";
import type { RunProgress } from "../views/run-progress.ts";
import type { CommitAnswer } from "./commit-answer.ts";
import type {
  ClaimListing,
  ClaimQuery,
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

/** Now, or later: a store that need not wait may answer at once. */
export type Eventually<T> = T | Promise<T>;

/** What a store was asked for, or that it failed. */
export type StoreAnswer<T> = Eventually<Result<T, InfraError>>;

/** What is particular to a store. */
export interface StoreTraits {
  /**
   * `commit` gives its answers and not a promise of them. Writes then do not wait for each other's
   * company, which would gain nothing.
   */
  readonly answersAtOnce?: boolean;
  /** Most children that one split can create; as many as a plan holds where it is left out. */
  readonly maxSplitChildren?: number;
  /** Most write sets that `commit` takes in one call; 256 where it is left out. */
  readonly maxSetsPerCommit?: number;
  /**
   * How many calls of `commit` may be under way at once; 1 where it is left out. What comes meanwhile
   * waits and travels together, so more calls at once mean smaller ones.
   */
  readonly commitsInFlight?: number;
}

/**
 * Where records are kept.
 *
 * A store knows nothing of the protocol: it reads records, finds them by its indexes, and
 * writes them if what was read is still true. Everything else, from leases to retries,
 * is done by the coordinator above it, once, for every store.
 *
 * What it must hold to:
 *
 * - **Reads are current.** A read sees every write that was answered before it began.
 * - **A set is atomic**: its guards and its writes are one step, and no other write comes between.
 * - **A tenant sees its own.** Records are found under the tenant that is asked for, and no other.
 * - **A terminal run or shard slows no claim**: it leaves every index that claiming reads.
 * - **Expected failures are values.** `InfraError` says what the store was doing, in fixed words; what
 *   the driver threw goes into its `cause`. A rejected promise is a defect of the store.
 *
 * The conformance kit in `@gossip/coordination/testing` checks all of it.
 */
export interface CoordinationStore {
  readonly traits?: StoreTraits;

  readRun(tenant: TenantId, run: RunId): StoreAnswer<RunRead>;
  /** A shard with its run, in one trip. */
  readShard(tenant: TenantId, key: ShardKey): StoreAnswer<ShardRead>;
  /**
   * `readShard` that writes the shard's bytes into `scratch` where it can spare the copies. The spec and
   * the cursor of the record are then the scratch's own, and good until it is written again.
   */
  readShardInto?(tenant: TenantId, key: ShardKey, scratch: AcquireScratch): StoreAnswer<ShardRead>;

  /**
   * How much of a run can be claimed. `availableCount` is the number of claimable shards or `MAX_CLAIM_COUNT`,
   * whichever is smaller, so a store stops counting there.
   */
  readHint(query: RunMoment): StoreAnswer<CapacityHint>;
  /** The states of a run's shards, counted. */
  readProgress(query: RunMoment): StoreAnswer<RunProgress>;
  /** Note that somebody found nothing to claim, until that time. Advice, kept apart from the run's record and version. */
  markStarved(tenant: TenantId, run: RunId, until: LogicalTime): StoreAnswer<void>;

  /** From the index that claiming reads: it must not cost more the more shards there are. */
  listClaimCandidates(query: ClaimQuery): StoreAnswer<ClaimListing>;
  listShards(query: ListShardsQuery): StoreAnswer<Page<ShardRecord, ShardPosition>>;
  /** By id. */
  listRuns(query: ListRunsQuery): StoreAnswer<Page<RunRecord, RunId>>;
  /** Tenants that have a run, by id. */
  listTenants(query: ListTenantsQuery): StoreAnswer<Page<TenantId, TenantId>>;

  /**
   * Make write sets, each for itself, and answer each, in their order.
   *
   * A call carries either a single set of any kind, or several `UpdateShard` sets of
   * different shards: one that fails does not keep the others from being made.
   */
  commit(sets: readonly WriteSet[]): Eventually<readonly CommitAnswer[]>;
}
