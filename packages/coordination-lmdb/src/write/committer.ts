import type { CommitAnswer, WriteSet } from "@gossip/coordination";
import type { InfraError } from "@gossip/coordination-errors";
import { assert, err, InvariantViolation, ok, type Result } from "@gossip/stdx";
import { dispatchCommit, type CommitHandlers } from "@gossip/store-kit";
import { AbandonedWrite, EngineWatch } from "../engine/engine-watch.ts";
import { growthOf } from "./growth.ts";
import { RowKind, storeKey } from "../layout/keyspace.ts";
import { FollowedCapacities } from "../claim/followed-capacities.ts";
import { failureFrom, reasonOf, withFullDiskNamed, type LmdbOperation } from "../engine/lmdb-failure.ts";
import type { RecordRows } from "../read/record-rows.ts";
import type { Rows } from "../engine/rows.ts";
import { putRun, removeRun, splitShard, type RunWrite } from "./run-writes.ts";
import { ShardUpdates } from "./update-shards.ts";
import { hasGuards, putGuardedNotes, putNotes } from "./write-notes.ts";

/** How long to assume that the engine works before checking again. A check is a read, which costs a tenth of a flush. */
const BELIEVED_MS = 50;

export interface CommitterOptions {
  /** The folder of the store, for checking whether its disk is full. */
  readonly folder: string;
  /** Maximum size of the rows in bytes. Sets that would exceed it are refused. */
  readonly maxSize: number | undefined;
}

/** Commits write sets, and decides whether the outcome of one that threw is `Failed` or `Unknown`. */
export class Committer {
  readonly #rows: Rows;
  readonly #records: RecordRows;
  readonly #options: CommitterOptions;
  readonly #handlers: CommitHandlers;
  readonly #watch = new EngineWatch(() => this.#ask());
  #askedMs = -Infinity;

  constructor(rows: Rows, records: RecordRows, options: CommitterOptions) {
    this.#rows = rows;
    const updates = new ShardUpdates(rows, new FollowedCapacities(rows));
    this.#handlers = {
      updateShards: (sets) => updates.commit(sets),
      splitShard: (set) => this.#transact(splitShard(set)),
      putRun: (set) => this.#transact(putRun(set)),
      removeRun: (set) => this.#transact(removeRun(set)),
      writeNotes: (set) => (hasGuards(set) ? this.#transact(putGuardedNotes(set)) : putNotes(rows, set)),
    };
    this.#records = records;
    this.#options = options;
  }

  async commit(sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
    assert(Array.isArray(sets), "write sets must come in an array");
    const refusal = this.#refuse(sets);
    if (refusal !== undefined) return sets.map(() => ({ kind: "Failed", error: refusal }));
    try {
      return await this.#pass(async () => dispatchCommit(sets, this.#handlers));
    } catch (thrown) {
      const error = await this.#failureOf("lmdb.commit", thrown);
      // An abandoned write is still pending. Otherwise, a write that failed early was rolled back, and the engine still
      // works. If the last step failed, which publishes the commit, the engine refuses everything from then on, and
      // whether other processes see the commit is unknown.
      const isUnknown = thrown instanceof AbandonedWrite || this.#findFault() !== undefined;
      return sets.map(() => ({ kind: isUnknown ? "Unknown" : "Failed", error }));
    }
  }

  /** Runs a write whose outcome need not be known, such as an advisory mark, and returns why it failed. */
  async attempt<T>(operation: LmdbOperation, write: () => Promise<T>): Promise<Result<T, InfraError>> {
    // The driver never settles a write that it is given after the engine failed.
    const fault = this.#mayBeFaulty() ? this.#findFault() : undefined;
    if (fault !== undefined) return err(fault);
    try {
      return ok(await this.#pass(write));
    } catch (thrown) {
      return err(await this.#failureOf(operation, thrown));
    }
  }

  /** Runs a write while no process opens the store. Gives up a write that the driver will never settle. */
  #pass<T>(write: () => Promise<T>): Promise<T> {
    return this.#rows.pass(() => this.#watch.unlessBroken(write()));
  }

  async #failureOf(operation: LmdbOperation, thrown: unknown): Promise<InfraError> {
    if (thrown instanceof InvariantViolation) throw thrown;
    const reason = thrown instanceof AbandonedWrite ? thrown.cause : await reasonOf(thrown);
    return failureFrom(operation, await withFullDiskNamed(reason, this.#options.folder));
  }

  async #transact(write: RunWrite): Promise<CommitAnswer> {
    let inner: unknown;
    try {
      return await this.#rows.transact(() => {
        try {
          return write(this.#rows, this.#records);
        } catch (thrown) {
          inner = thrown;
          throw thrown;
        }
      });
    } catch (thrown) {
      // The driver only reports that the transaction failed. Its reason must be awaited in any case.
      const reason = await reasonOf(thrown);
      throw inner ?? reason;
    }
  }

  #refuse(sets: readonly WriteSet[]): InfraError | undefined {
    // The driver never settles a write that it is given after the engine failed.
    const fault = this.#mayBeFaulty() ? this.#findFault() : undefined;
    if (fault !== undefined) return fault;
    const { maxSize } = this.#options;
    const growth = maxSize === undefined ? 0 : growthOf(sets);
    if (maxSize === undefined || growth === 0 || this.#rows.usedSize + growth <= maxSize) return undefined;
    return failureFrom("lmdb.commit", { code: "MDB_MAP_FULL" });
  }

  /** Whether our last write failed, or that of another thread may have: all threads of a process share one engine. */
  #mayBeFaulty(): boolean {
    return this.#rows.writes.last.commitNumber === undefined || performance.now() - this.#askedMs > BELIEVED_MS;
  }

  /** Why the engine does not work, or `undefined` if it does. */
  #findFault(): InfraError | undefined {
    try {
      this.#ask();
      return undefined;
    } catch (reason) {
      return failureFrom("lmdb.commit", reason);
    }
  }

  /** Throws if the engine does not work. */
  #ask(): void {
    this.#rows.refresh();
    this.#rows.has(storeKey(RowKind.Format));
    this.#askedMs = performance.now();
  }
}
