import type { CommitAnswer, UpdateShardSet, WriteNotesSet, WriteSet } from "@gossip/coordination";
import type { InfraError } from "@gossip/coordination-errors";
import { assert, err, InvariantViolation, ok, type Result } from "@gossip/stdx";
import { AbandonedWrite, EngineWatch } from "./engine-watch.ts";
import { growthOf } from "./growth.ts";
import { RowKind, storeKey } from "./keyspace.ts";
import { KnownCapacities } from "./known-capacities.ts";
import { failureFrom, reasonOf, withFullDiskNamed, type LmdbOperation } from "./lmdb-failure.ts";
import type { RecordRows } from "./record-rows.ts";
import type { Rows } from "./rows.ts";
import { putRun, removeRun, splitShard, type RunWrite } from "./run-writes.ts";
import { updateShards } from "./update-shards.ts";
import { hasGuards, putGuardedNotes, putNotes } from "./write-notes.ts";

/** How long to trust that the engine works before asking again. Asking is a read, and a read before every write costs a tenth of the flush. */
const BELIEVED_MS = 50;

export interface CommitterOptions {
  /** Where the store is, to be asked whether its disk is full. */
  readonly folder: string;
  /** Bytes that the rows may take. Sets that make them grow beyond it are refused. */
  readonly maxSize: number | undefined;
}

/** Commits write sets, and decides whether the outcome of one that threw is `Failed` or `Unknown`. */
export class Committer {
  readonly #rows: Rows;
  readonly #records: RecordRows;
  readonly #options: CommitterOptions;
  readonly #capacities: KnownCapacities;
  readonly #watch = new EngineWatch(() => this.#ask());
  #askedMs = -Infinity;

  constructor(rows: Rows, records: RecordRows, options: CommitterOptions) {
    this.#rows = rows;
    this.#capacities = new KnownCapacities(rows);
    this.#records = records;
    this.#options = options;
  }

  async commit(sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
    const refusal = this.#refuse(sets);
    if (refusal !== undefined) return sets.map(() => ({ kind: "Failed", error: refusal }));
    try {
      return await this.#watch.unlessBroken(this.#make(sets));
    } catch (thrown) {
      const error = await this.#failureOf("lmdb.commit", thrown);
      // An abandoned write is still pending. Otherwise a write that failed early was rolled back, and the engine works on. If the last
      // step failed, the one that publishes the commit, the engine refuses everything from then on, and what others read is unknown.
      const isUnknown = thrown instanceof AbandonedWrite || this.#findFault() !== undefined;
      return sets.map(() => ({ kind: isUnknown ? "Unknown" : "Failed", error }));
    }
  }

  /** Run a write whose outcome need not be known, such as an advisory mark, and return why it failed. */
  async attempt<T>(operation: LmdbOperation, write: () => Promise<T>): Promise<Result<T, InfraError>> {
    // The driver never settles a write that is given to an engine that refuses everything.
    const fault = this.#mayBeFaulty() ? this.#findFault() : undefined;
    if (fault !== undefined) return err(fault);
    try {
      return ok(await this.#watch.unlessBroken(write()));
    } catch (thrown) {
      return err(await this.#failureOf(operation, thrown));
    }
  }

  async #failureOf(operation: LmdbOperation, thrown: unknown): Promise<InfraError> {
    if (thrown instanceof InvariantViolation) throw thrown;
    const reason = thrown instanceof AbandonedWrite ? thrown.cause : await reasonOf(thrown);
    return failureFrom(operation, await withFullDiskNamed(reason, this.#options.folder));
  }

  #make(sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
    const [first] = sets;
    if (first === undefined) return Promise.resolve([]);
    if (first.kind === "UpdateShard") {
      assert(sets.every(isUpdate), "several write sets must all be updates of shards");
      return updateShards(this.#rows, this.#capacities, sets);
    }
    assert(sets.length === 1, "a write set that is no update of a shard must come alone");
    switch (first.kind) {
      case "SplitShard":
        return this.#transact(splitShard(first));
      case "PutRun":
        return this.#transact(putRun(first));
      case "RemoveRun":
        return this.#transact(removeRun(first));
      case "WriteNotes":
        return hasGuards(first) ? this.#transact(putGuardedNotes(first)) : this.#putNotes(first);
    }
  }

  async #putNotes(set: WriteNotesSet): Promise<readonly CommitAnswer[]> {
    return [await putNotes(this.#rows, set)];
  }

  async #transact(write: RunWrite): Promise<readonly CommitAnswer[]> {
    let inner: unknown;
    try {
      const answer = await this.#rows.transact(() => {
        try {
          return write(this.#rows, this.#records);
        } catch (thrown) {
          inner = thrown;
          throw thrown;
        }
      });
      return [answer];
    } catch (thrown) {
      // The transaction's own failure only says that something went wrong in it.
      const told = await reasonOf(thrown);
      throw inner ?? told;
    }
  }

  #refuse(sets: readonly WriteSet[]): InfraError | undefined {
    // The driver never settles a write that is given to an engine that refuses everything.
    const fault = this.#mayBeFaulty() ? this.#findFault() : undefined;
    if (fault !== undefined) return fault;
    const { maxSize } = this.#options;
    const growth = maxSize === undefined ? 0 : growthOf(sets);
    if (maxSize === undefined || growth === 0 || this.#rows.usedSize + growth <= maxSize) return undefined;
    return failureFrom("lmdb.commit", { code: "MDB_MAP_FULL" });
  }

  /** Whether our last write failed, or another thread's may have: all threads of a process share one engine. */
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

function isUpdate(set: WriteSet): set is UpdateShardSet {
  return set.kind === "UpdateShard";
}
