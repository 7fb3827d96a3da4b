import { assert, assertCount } from "@gossip/stdx";
import { foldId } from "../records/fold-id.ts";
import type { CommitAnswer } from "../store/commit-answer.ts";
import type { CoordinationStore } from "../store/coordination-store.ts";
import type { UpdateShardSet, WriteSet } from "../store/write-set.ts";
import { NameTable } from "./name-table.ts";

/** A write set, and whoever waits for what becomes of it. Exactly one of the two is called, once, and must not throw. */
export interface Waiting {
  readonly set: WriteSet;
  answered(answer: CommitAnswer): void;
  failed(reason: unknown): void;
}

const DEFAULT_MAX_SETS = 256;

/**
 * How many turns an answer takes to a caller and its next write back to here: a session's, its caller's, and some that callers
 * put between. Who takes longer goes with the batch after.
 */
const TURNS_TO_RETURN = 4;

const READY = /* @__PURE__ */ Promise.resolve();

/** Odd and large, so that shards of two runs, which are mostly numbered alike, are told apart. */
const RUN_STEP = 0x9e37_79b1;

/**
 * Sends write sets to a store, those of many callers together.
 *
 * What is submitted in one turn of the event loop, or while the store is busy, travels in
 * one call. A durable store pays for its flush or its round trip once a call, so
 * this is what makes a write cheap when many are under way.
 *
 * It keeps to what a store may expect of a call: several updates of different shards, or
 * one set of another kind alone. Updates of one shard keep their order.
 */
export class CommitQueue {
  readonly #store: CoordinationStore;
  readonly #maxSets: number;
  readonly #maxInFlight: number;
  /** Those of the batch that is being put together. */
  readonly #shards = new NameTable();
  #waiting: Waiting[] = [];
  #inFlight = 0;
  #isFlushPlanned = false;

  constructor(store: CoordinationStore) {
    this.#store = store;
    this.#maxSets = store.traits?.maxSetsPerCommit ?? DEFAULT_MAX_SETS;
    this.#maxInFlight = store.traits?.commitsInFlight ?? 1;
    assertCount(this.#maxSets, "the store's maxSetsPerCommit", { min: 1, max: Number.MAX_SAFE_INTEGER });
    assertCount(this.#maxInFlight, "the store's commitsInFlight", { min: 1, max: Number.MAX_SAFE_INTEGER });
  }

  submit(set: WriteSet): Promise<CommitAnswer> {
    return new Promise((resolve, reject) => this.add({ set, answered: resolve, failed: reject }));
  }

  /** `submit` without a promise, for whoever has one of its own to settle. */
  add(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#planFlush(1);
  }

  /** Flush behind what is ready to run now, and what that makes ready, so many times over. */
  #planFlush(turns: number): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    this.#flushAfter(turns);
  }

  #flushAfter(turns: number): void {
    // Not `queueMicrotask`, which in Node makes a resource of its own for each call and takes as long as the rest of a batch of one.
    void READY.then(() => {
      if (turns > 1) return this.#flushAfter(turns - 1);
      this.#isFlushPlanned = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#inFlight < this.#maxInFlight && this.#waiting.length > 0) this.#send(this.#takeBatch());
  }

  #takeBatch(): readonly Waiting[] {
    const first = this.#waiting[0]!;
    if (this.#waiting.length === 1 || first.set.kind !== "UpdateShard") return this.#waiting.splice(0, 1);

    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    this.#shards.clear(Math.min(this.#waiting.length, this.#maxSets));
    for (const waiting of this.#waiting) {
      const isTaken =
        batch.length < this.#maxSets && waiting.set.kind === "UpdateShard" && this.#shards.add(nameOf(waiting.set));
      (isTaken ? batch : left).push(waiting);
    }
    this.#waiting = left;
    return batch;
  }

  #send(batch: readonly Waiting[]): void {
    try {
      const answers = this.#store.commit(batch.map((waiting) => waiting.set));
      // A store that answers at once is spared the promise.
      if ("then" in answers) this.#await(batch, answers);
      else deliver(batch, answers);
    } catch (reason) {
      fail(batch, reason);
    }
  }

  #await(batch: readonly Waiting[], answers: Promise<readonly CommitAnswer[]>): void {
    this.#inFlight++;
    // Both in one `then`: each further link of a chain is a promise and a turn, and a lone caller waits for all of them.
    answers.then(
      (given) => {
        this.#inFlight--;
        try {
          deliver(batch, given);
        } catch (reason) {
          fail(batch, reason);
        }
        this.#goOn();
      },
      (reason: unknown) => {
        this.#inFlight--;
        fail(batch, reason);
        this.#goOn();
      },
    );
  }

  /** What came while the store was busy goes next, and those who have just been answered with it, where they are quick. */
  #goOn(): void {
    if (this.#waiting.length > 0) this.#planFlush(TURNS_TO_RETURN);
  }
}

/**
 * A set's shard, in 32 bits: a number is found several times as fast as a bigint. Tenants are not told apart, and now and then
 * one shard is taken for another: that only makes a batch smaller.
 */
function nameOf({ run, shard }: UpdateShardSet): number {
  return Math.imul(foldId(run), RUN_STEP) ^ foldId(shard.after.shard);
}

/** Throws before anybody is answered, or not at all. */
function deliver(batch: readonly Waiting[], answers: readonly CommitAnswer[]): void {
  assert(
    answers.length === batch.length,
    () => `a store must answer each of ${batch.length} write sets, got ${answers.length} answers`,
  );
  batch.forEach((waiting, index) => waiting.answered(answers[index]!));
}

function fail(batch: readonly Waiting[], reason: unknown): void {
  for (const waiting of batch) waiting.failed(reason);
}
