import { assert, assertCount } from "@gossip/stdx";
import type { CommitAnswer } from "../store/commit-answer.ts";
import type { CoordinationStore } from "../store/coordination-store.ts";
import type { UpdateShardSet, WriteSet } from "../store/write-set.ts";

interface Waiting {
  readonly set: WriteSet;
  readonly resolve: (answer: CommitAnswer) => void;
  readonly reject: (reason: unknown) => void;
}

const DEFAULT_MAX_SETS = 256;

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
    return new Promise((resolve, reject) => {
      this.#waiting.push({ set, resolve, reject });
      if (this.#isFlushPlanned) return;
      this.#isFlushPlanned = true;
      // Behind everything that is ready to run now: callers that were woken by one answer submit in one batch.
      queueMicrotask(() => {
        this.#isFlushPlanned = false;
        this.#flush();
      });
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
    const shards = new Set<bigint>();
    for (const waiting of this.#waiting) {
      const isTaken = batch.length < this.#maxSets && waiting.set.kind === "UpdateShard" && addNew(shards, waiting.set);
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
      batch.forEach((waiting) => waiting.reject(reason));
    }
  }

  #await(batch: readonly Waiting[], answers: Promise<readonly CommitAnswer[]>): void {
    this.#inFlight++;
    answers
      .then((given) => deliver(batch, given))
      .catch((reason: unknown) => batch.forEach((waiting) => waiting.reject(reason)))
      .finally(() => {
        this.#inFlight--;
        this.#flush();
      });
  }
}

/** Note a set's shard, and say whether it was not there. Tenants are not told apart, which only makes a batch smaller. */
function addNew(shards: Set<bigint>, { run, shard }: UpdateShardSet): boolean {
  const name = (run << 64n) | shard.after.shard;
  if (shards.has(name)) return false;
  shards.add(name);
  return true;
}

function deliver(batch: readonly Waiting[], answers: readonly CommitAnswer[]): void {
  assert(answers.length === batch.length, () => `a store must answer each of ${batch.length} write sets, got ${answers.length} answers`);
  batch.forEach((waiting, index) => waiting.resolve(answers[index]!));
}
