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
  type ListPositionsQuery,
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
import type { Result } from "@gossip/stdx";
import { assertClaimQuery, assertPageQuery, StoreLifecycle, Sweeper } from "@gossip/store-kit";
import { earliestDeadline, hintAt, listClaimable, readCapacity } from "./claim/claims.ts";
import { markStarved } from "./claim/mark-starved.ts";
import { failureFrom, type LmdbOperation } from "./engine/lmdb-failure.ts";
import type { Rows } from "./engine/rows.ts";
import { LmdbInspection } from "./inspect/lmdb-inspection.ts";
import { countNotes, listNotes } from "./layout/note-rows.ts";
import { listRuns, listShardPositions, listShards, listTenants } from "./read/listing.ts";
import { readProgress } from "./read/progress.ts";
import { RecordRows } from "./read/record-rows.ts";
import { RunTransfer } from "./transfer/run-transfer.ts";
import { Committer, type CommitterOptions } from "./write/committer.ts";
import { sweepRuns } from "./write/sweep.ts";

/** The parts of a store. */
export interface LmdbStoreParts extends CommitterOptions {
  readonly rows: Rows;
  /** Closes the folder. Called once, when nothing is pending. */
  readonly release: () => Promise<void>;
}

/**
 * Records in a folder, for the processes of one machine. Open one with `openLmdbStore`.
 *
 * Reads return at once. The write sets of one call are one transaction, whose promise resolves when the writes are as
 * durable as the store was opened for.
 */
export class LmdbStore implements CoordinationStore, AsyncDisposable {
  /** A commit costs one flush however many sets it carries, so only one is in flight and takes all sets that wait. */
  readonly traits: StoreTraits = Object.freeze({ maxSetsPerCommit: 1024, commitsInFlight: 1 });

  readonly #rows: Rows;
  readonly #records: RecordRows;
  readonly #committer: Committer;
  readonly #sweeper: Sweeper;
  readonly #lifecycle: StoreLifecycle<"lmdb">;

  /** @internal */
  constructor(parts: LmdbStoreParts) {
    const { rows, release } = parts;
    this.#rows = rows;
    this.#records = new RecordRows(rows);
    this.#committer = new Committer(rows, this.#records, parts);
    this.#sweeper = new Sweeper((isStopped) => sweepRuns(rows, isStopped));
    this.#lifecycle = new StoreLifecycle({ name: "lmdb", failureFrom, release, sweeper: this.#sweeper });
    this.#sweeper.start();
  }

  readRun(tenant: TenantId, run: RunId): Result<RunRead, InfraError> {
    return this.#read("lmdb.readRun", (): RunRead => {
      const address = { tenant, run };
      const read = this.#records.readRun(address);
      if (read !== undefined) return { kind: "Found", ...read };
      return { kind: this.#records.isDeleted(address) ? "Deleted" : "Missing" };
    });
  }

  readShard(tenant: TenantId, { run, shard }: ShardKey): Result<ShardRead, InfraError> {
    return this.#read("lmdb.readShard", (): ShardRead => {
      const address = { tenant, run };
      const head = this.#records.readHead(address);
      return { run: head, shard: head && this.#records.readShard(address, shard) };
    });
  }

  readHint(moment: RunMoment): Result<CapacityHint, InfraError> {
    return this.#read("lmdb.readHint", () =>
      this.#records.hasRun(moment) ? hintAt(this.#rows, moment, readCapacity(this.#rows, moment)) : CapacityHint.ZERO,
    );
  }

  /** Cost grows with the number of shards that are held or were released with progress. */
  readProgress(moment: RunMoment): Result<RunProgress, InfraError> {
    return this.#read("lmdb.readProgress", () =>
      this.#records.hasRun(moment) ? readProgress(this.#rows, this.#records, moment) : RunProgress.NONE,
    );
  }

  async markStarved(tenant: TenantId, run: RunId, until: LogicalTime): Promise<Result<void, InfraError>> {
    const marked = await this.#lifecycle.call("lmdb.markStarved", () =>
      this.#committer.attempt("lmdb.markStarved", () => markStarved(this.#rows, this.#records, { tenant, run, until })),
    );
    return marked.ok ? marked.value : marked;
  }

  listClaimCandidates(query: ClaimQuery): Result<ClaimListing, InfraError> {
    assertClaimQuery(query);
    return this.#read("lmdb.listClaimCandidates", (): ClaimListing => {
      const run = this.#records.readHead(query);
      if (run === undefined) return { run, candidates: [], earliestDeadline: undefined };
      const candidates = listClaimable(this.#rows, query).map((shard) => ({ shard }));
      return { run, candidates, earliestDeadline: earliestDeadline(this.#rows, query) };
    });
  }

  listShards(query: ListShardsQuery): Result<Page<ShardRecord, ShardPosition>, InfraError> {
    assertPageQuery(query);
    return this.#read("lmdb.listShards", () => listShards(this.#rows, this.#records, query));
  }

  listShardPositions(query: ListPositionsQuery): Result<Page<ShardPosition, ShardPosition>, InfraError> {
    assertPageQuery(query);
    return this.#read("lmdb.listShardPositions", () => listShardPositions(this.#rows, this.#records, query));
  }

  listRuns(query: ListRunsQuery): Result<Page<RunRecord, RunId>, InfraError> {
    assertPageQuery(query);
    return this.#read("lmdb.listRuns", () => listRuns(this.#rows, this.#records, query));
  }

  listTenants(query: ListTenantsQuery): Result<Page<TenantId, TenantId>, InfraError> {
    assertPageQuery(query);
    return this.#read("lmdb.listTenants", () => listTenants(this.#rows, query));
  }

  listNotes(query: ListNotesQuery): Result<Page<Note, Uint8Array>, InfraError> {
    assertPageQuery(query);
    return this.#read("lmdb.listNotes", () =>
      this.#records.hasRun(query) ? listNotes(this.#rows, query) : { items: [], next: undefined },
    );
  }

  countNotes(query: CountNotesQuery): Result<number, InfraError> {
    assertPageQuery(query);
    return this.#read("lmdb.countNotes", () => (this.#records.hasRun(query) ? countNotes(this.#rows, query) : 0));
  }

  async commit(sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
    const answers = await this.#lifecycle.commit(sets, () => this.#committer.commit(sets));
    if (sets.some(({ kind }) => kind === "RemoveRun")) this.#sweeper.start();
    return answers;
  }

  /** For `fsck` and `repair`. Reads everything as of one moment. */
  inspect(): FsckSource {
    return new LmdbInspection(this.#rows, this.#lifecycle.pending);
  }

  /** For moving runs to the store of another node. */
  transfer(): RunTransfer {
    return new RunTransfer({
      rows: this.#rows,
      pending: this.#lifecycle.pending,
      source: this.inspect(),
      write: async (work) => {
        const written = await this.#lifecycle.call("lmdb.transfer", () =>
          this.#committer.attempt("lmdb.transfer", () => this.#rows.transact(work)),
        );
        return written.ok ? written.value : written;
      },
    });
  }

  /** Resolves when the rows of removed runs are gone, or the engine fails. */
  async swept(): Promise<void> {
    await this.#sweeper.idle;
  }

  /** Waits for pending writes and closes the folder. Later calls fail. Stops a running check. */
  close(): Promise<void> {
    return this.#lifecycle.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Reads the rows as they are now. */
  #read<T>(operation: LmdbOperation, look: () => T): Result<T, InfraError> {
    return this.#lifecycle.read(operation, () => {
      this.#rows.refresh();
      return look();
    });
  }
}
