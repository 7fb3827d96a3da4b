import type { CommitAnswer, UpdateShardSet, WriteSet } from "@gossip/coordination";
import type { InfraError } from "@gossip/coordination-errors";
import { assert, err, InvariantViolation, ok, type Result } from "@gossip/stdx";
import { EngineWatch } from "./engine-watch.ts";
import { growthOf } from "./growth.ts";
import { RowKind, storeKey } from "./keyspace.ts";
import { KnownCapacities } from "./known-capacities.ts";
import { failureFrom, reasonOf, withFullDiskNamed, type LmdbOperation } from "./lmdb-failure.ts";
import type { RecordRows } from "./record-rows.ts";
import type { Rows } from "./rows.ts";
import { putRun, removeRun, splitShard, type RunWrite } from "./run-writes.ts";
import { updateShards } from "./update-shards.ts";

/**
 * How long it may be believed that the engine takes writes, without asking it. Asking is a read, and a read in front of every
 * write costs a tenth of the flush.
 */
const BELIEVED_MS = 50;

export interface CommitterOptions {
  /** Where the store is, to be asked whether its disk is full. */
  readonly folder: string;
  /** Bytes that the rows may take. Sets that make them grow beyond it are refused. */
  readonly maxSize: number | undefined;
}

/** Makes write sets, and finds out what became of those that failed. */
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
      // A write that failed on its way was taken back, and the store goes on. Where the last step failed, that which
      // makes it count, the engine refuses everything from then on, and what others will read is not known.
      const kind = this.#findFault() === undefined ? "Failed" : "Unknown";
      return sets.map(() => ({ kind, error }));
    }
  }

  /** Do something that writes, and say in our words why it could not be done. */
  async attempt<T>(operation: LmdbOperation, write: () => Promise<T>): Promise<Result<T, InfraError>> {
    try {
      return ok(await write());
    } catch (thrown) {
      return err(await this.#failureOf(operation, thrown));
    }
  }

  async #failureOf(operation: LmdbOperation, thrown: unknown): Promise<InfraError> {
    if (thrown instanceof InvariantViolation) throw thrown;
    return failureFrom(operation, await withFullDiskNamed(await reasonOf(thrown), this.#options.folder));
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
    }
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
    // To an engine that refuses everything no write may be given: the driver would never answer.
    const fault = this.#mayBeFaulty() ? this.#findFault() : undefined;
    if (fault !== undefined) return fault;
    const { maxSize } = this.#options;
    const growth = maxSize === undefined ? 0 : growthOf(sets);
    if (maxSize === undefined || growth === 0 || this.#rows.usedSize + growth <= maxSize) return undefined;
    return failureFrom("lmdb.commit", { code: "MDB_MAP_FULL" });
  }

  /** Whether our last write failed, or another thread's may have: all threads of a process have one engine. */
  #mayBeFaulty(): boolean {
    return this.#rows.writes.last.commitNumber === undefined || performance.now() - this.#askedMs > BELIEVED_MS;
  }

  /** Why nothing can be read, or `undefined` where something can. */
  #findFault(): InfraError | undefined {
    try {
      this.#ask();
      return undefined;
    } catch (reason) {
      return failureFrom("lmdb.commit", reason);
    }
  }

  /** Throws where nothing can be read. */
  #ask(): void {
    this.#rows.refresh();
    this.#rows.has(storeKey(RowKind.Format));
    this.#askedMs = performance.now();
  }
}

function isUpdate(set: WriteSet): set is UpdateShardSet {
  return set.kind === "UpdateShard";
}
