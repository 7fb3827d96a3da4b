import type { LogicalTime, RunId, ShardKey, TenantId } from "@gossip/contracts";
import {
  CapacityHint,
  RunProgress,
  type ClaimListing,
  type ClaimQuery,
  type CommitAnswer,
  type CoordinationStore,
  type CountNotesQuery,
  type ListNotesQuery,
  type ListRunsQuery,
  type ListShardsQuery,
  type ListTenantsQuery,
  type Note,
  type Page,
  type RunMoment,
  type RunRead,
  type RunRecord,
  type ShardPosition,
  type ShardRead,
  type ShardRecord,
  type StoreTraits,
  type WriteSet,
} from "@gossip/coordination";
import type { InfraError } from "@gossip/coordination-errors";
import type { FsckSource } from "@gossip/coordination-fsck";
import { assert, assertCount, err, InvariantViolation, ok, type Result } from "@gossip/stdx";
import { earliestDeadline, hintAt, listClaimable, readCapacity } from "./claims.ts";
import { Committer, type CommitterOptions } from "./committer.ts";
import { closedFailure, failureFrom, type LmdbOperation } from "./lmdb-failure.ts";
import { LmdbInspection } from "./lmdb-inspection.ts";
import { listRuns, listShards, listTenants } from "./listing.ts";
import { markStarved } from "./mark-starved.ts";
import { countNotes, listNotes } from "./note-rows.ts";
import { readProgress } from "./progress.ts";
import { RecordRows } from "./record-rows.ts";
import type { Rows } from "./rows.ts";
import { Sweeper } from "./sweep.ts";
import { UnderWay } from "./under-way.ts";

/** What a store is made of. */
export interface LmdbStoreParts extends CommitterOptions {
  readonly rows: Rows;
  /** Give the folder back. Called once, when nothing is under way. */
  readonly release: () => Promise<void>;
}

const SPREAD_MAX = 2 ** 32 - 1;

/**
 * Records in a folder, for the processes of one machine. Open one with `openLmdbStore`.
 *
 * Reads are answered at once. Writes of one call are one transaction, and are answered when
 * they are as durable as the store was told to make them.
 */
export class LmdbStore implements CoordinationStore, AsyncDisposable {
  /** A commit costs a flush however many sets it carries, so one is under way at a time and takes all that have come. */
  readonly traits: StoreTraits = Object.freeze({ maxSetsPerCommit: 1024, commitsInFlight: 1 });

  readonly #rows: Rows;
  readonly #records: RecordRows;
  readonly #committer: Committer;
  readonly #sweeper: Sweeper;
  readonly #underWay = new UnderWay();
  readonly #release: () => Promise<void>;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(parts: LmdbStoreParts) {
    this.#rows = parts.rows;
    this.#release = parts.release;
    this.#records = new RecordRows(parts.rows);
    this.#committer = new Committer(parts.rows, this.#records, parts);
    this.#sweeper = new Sweeper(parts.rows);
    this.#sweeper.start();
  }

  readRun(tenant: TenantId, run: RunId): Result<RunRead, InfraError> {
    return this.#read<RunRead>("lmdb.readRun", () => {
      const address = { tenant, run };
      const read = this.#records.readRun(address);
      if (!read.ok) return read;
      if (read.value !== undefined) return ok({ kind: "Found", ...read.value });
      return ok({ kind: this.#records.isDeleted(address) ? "Deleted" : "Missing" });
    });
  }

  readShard(tenant: TenantId, { run, shard }: ShardKey): Result<ShardRead, InfraError> {
    return this.#read<ShardRead>("lmdb.readShard", () => {
      const address = { tenant, run };
      const head = this.#records.readHead(address);
      if (!head.ok) return head;
      if (head.value === undefined) return ok({ run: undefined, shard: undefined });
      const read = this.#records.readShard(address, shard);
      return read.ok ? ok({ run: head.value, shard: read.value }) : read;
    });
  }

  readHint(moment: RunMoment): Result<CapacityHint, InfraError> {
    return this.#read("lmdb.readHint", () =>
      ok(
        this.#records.hasRun(moment) ? hintAt(this.#rows, moment, readCapacity(this.#rows, moment)) : CapacityHint.ZERO,
      ),
    );
  }

  /** Costs more the more shards the run has: about a seventh of a second for a million. */
  readProgress(moment: RunMoment): Result<RunProgress, InfraError> {
    return this.#read("lmdb.readProgress", () =>
      this.#records.hasRun(moment) ? readProgress(this.#rows, this.#records, moment) : ok(RunProgress.NONE),
    );
  }

  markStarved(tenant: TenantId, run: RunId, until: LogicalTime): Promise<Result<void, InfraError>> {
    return this.#write("lmdb.markStarved", () => markStarved(this.#rows, this.#records, { tenant, run, until }));
  }

  listClaimCandidates(query: ClaimQuery): Result<ClaimListing, InfraError> {
    assertCount(query.limit, "limit of candidates", { min: 1, max: Number.MAX_SAFE_INTEGER });
    assertCount(query.spread, "spread", { min: 0, max: SPREAD_MAX });
    return this.#read<ClaimListing>("lmdb.listClaimCandidates", () => {
      const head = this.#records.readHead(query);
      if (!head.ok) return head;
      if (head.value === undefined) return ok({ run: undefined, candidates: [], earliestDeadline: undefined });
      return ok({
        run: head.value,
        candidates: listClaimable(this.#rows, query).map((shard) => ({ shard })),
        earliestDeadline: earliestDeadline(this.#rows, query),
      });
    });
  }

  listShards(query: ListShardsQuery): Result<Page<ShardRecord, ShardPosition>, InfraError> {
    assertCount(query.limit, "limit of a page", { min: 1, max: Number.MAX_SAFE_INTEGER });
    return this.#read("lmdb.listShards", () => listShards(this.#rows, this.#records, query));
  }

  listRuns(query: ListRunsQuery): Result<Page<RunRecord, RunId>, InfraError> {
    assertCount(query.limit, "limit of a page", { min: 1, max: Number.MAX_SAFE_INTEGER });
    return this.#read("lmdb.listRuns", () => listRuns(this.#rows, this.#records, query));
  }

  listTenants(query: ListTenantsQuery): Result<Page<TenantId, TenantId>, InfraError> {
    assertCount(query.limit, "limit of a page", { min: 1, max: Number.MAX_SAFE_INTEGER });
    return this.#read("lmdb.listTenants", () => ok(listTenants(this.#rows, query)));
  }

  listNotes(query: ListNotesQuery): Result<Page<Note, Uint8Array>, InfraError> {
    assertCount(query.limit, "limit of a page", { min: 1, max: Number.MAX_SAFE_INTEGER });
    return this.#read("lmdb.listNotes", () =>
      this.#records.hasRun(query) ? listNotes(this.#rows, query) : ok({ items: [], next: undefined }),
    );
  }

  countNotes(query: CountNotesQuery): Result<number, InfraError> {
    assertCount(query.limit, "limit of a count", { min: 1, max: Number.MAX_SAFE_INTEGER });
    return this.#read("lmdb.countNotes", () => ok(this.#records.hasRun(query) ? countNotes(this.#rows, query) : 0));
  }

  async commit(sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
    assert(Array.isArray(sets), "write sets must come in an array");
    if (this.#closing !== undefined) return sets.map(() => ({ kind: "Failed", error: closedFailure("lmdb.commit") }));
    const answers = await this.#underWay.track(this.#committer.commit(sets));
    if (sets.some(({ kind }) => kind === "RemoveRun")) this.#sweeper.start();
    return answers;
  }

  /** For `fsck` and `repair`. Everything is read at the moment at which reading begins. */
  inspect(): FsckSource {
    return new LmdbInspection(this.#rows, this.#underWay);
  }

  /** Settles when the shards of removed runs are gone from the folder. */
  async swept(): Promise<void> {
    await this.#sweeper.idle;
  }

  /**
   * Wait for what is under way and give the folder back. Whatever is asked afterwards is answered with a failure. A
   * check that is under way is broken off.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await Promise.all([this.#sweeper.stop(), this.#underWay.end()]);
    await this.#release();
  }

  #read<T>(operation: LmdbOperation, look: () => Result<T, InfraError>): Result<T, InfraError> {
    if (this.#closing !== undefined) return err(closedFailure(operation));
    try {
      this.#rows.refresh();
      return look();
    } catch (reason) {
      if (reason instanceof InvariantViolation) throw reason;
      return err(failureFrom(operation, reason));
    }
  }

  async #write<T>(operation: LmdbOperation, write: () => Promise<T>): Promise<Result<T, InfraError>> {
    if (this.#closing !== undefined) return err(closedFailure(operation));
    return this.#underWay.track(this.#committer.attempt(operation, write));
  }
}
