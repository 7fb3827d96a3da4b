import type { RunId, ShardId } from "@gossip/contracts";
import { assert, assertCount } from "@gossip/stdx";
import type { CommitAnswer } from "../store/commit-answer.ts";
import type { CoordinationStore } from "../store/coordination-store.ts";
import type { UpdateShardSet, WriteSet } from "../store/write-set.ts";

/** Who gets the answer to a write set. Exactly one of the two is called, once. Neither may throw. */
export interface CommitTold {
  readonly answered: (answer: CommitAnswer) => void;
  /** The store broke its contract or an invariant. */
  readonly failed: (reason: unknown) => void;
}

interface Waiting {
  readonly set: WriteSet;
  readonly told: CommitTold;
}

const DEFAULT_MAX_SETS = 256;

/**
 * Microtask turns from an answer to the caller's next write: those of `execute`, and a few of the caller's own. A caller
 * that takes longer joins the batch after.
 */
const TURNS_TO_RETURN = 8;

const READY = /* @__PURE__ */ Promise.resolve();

/**
 * Sends the write sets of many callers to a store together.
 *
 * Sets submitted in one turn of the event loop, or while the store is busy, travel in one call. A durable store pays
 * for its flush or its round trip once per call, so batching makes concurrent writes cheap.
 *
 * A call holds several updates of different shards, or a single set of another kind. Updates of one shard keep their
 * order. Notes are advisory, so at most one call with notes precedes another set that waits: the renewal of a lease must
 * not come too late because of them.
 */
export class CommitQueue {
  readonly #store: CoordinationStore;
  readonly #maxSets: number;
  readonly #maxInFlight: number;
  #waiting: Waiting[] = [];
  #inFlight = 0;
  #isFlushPlanned = false;
  /** Whether the last call held notes. */
  #wasNotes = false;

  constructor(store: CoordinationStore) {
    this.#store = store;
    this.#maxSets = store.traits?.maxSetsPerCommit ?? DEFAULT_MAX_SETS;
    this.#maxInFlight = store.traits?.commitsInFlight ?? 1;
    assertCount(this.#maxSets, "the store's maxSetsPerCommit", { min: 1, max: Number.MAX_SAFE_INTEGER });
    assertCount(this.#maxInFlight, "the store's commitsInFlight", { min: 1, max: Number.MAX_SAFE_INTEGER });
  }

  submit(set: WriteSet): Promise<CommitAnswer> {
    return new Promise((answered, failed) => this.add(set, { answered, failed }));
  }

  /** As `submit`, without a promise. */
  add(set: WriteSet, told: CommitTold): void {
    this.#waiting.push({ set, told });
    this.#planFlush(1);
  }

  /** Flush after so many turns of the microtask queue. */
  #planFlush(turns: number): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    this.#flushAfter(turns);
  }

  #flushAfter(turns: number): void {
    // Not `queueMicrotask`: in Node each call of it creates an async resource, which costs as much as a batch of one.
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
    const at = this.#wasNotes
      ? Math.max(
          0,
          this.#waiting.findIndex(({ set }) => set.kind !== "WriteNotes"),
        )
      : 0;
    const { kind } = this.#waiting[at]!.set;
    this.#wasNotes = kind === "WriteNotes";
    if (this.#waiting.length === 1 || kind !== "UpdateShard") return this.#waiting.splice(at, 1);

    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const shards = new ShardSet();
    for (const waiting of this.#waiting) {
      const isTaken = batch.length < this.#maxSets && waiting.set.kind === "UpdateShard" && shards.add(waiting.set);
      (isTaken ? batch : left).push(waiting);
    }
    this.#waiting = left;
    return batch;
  }

  #send(batch: readonly Waiting[]): void {
    try {
      const answers = this.#store.commit(batch.map((waiting) => waiting.set));
      if ("then" in answers) this.#await(batch, answers);
      else deliver(batch, answers);
    } catch (reason) {
      fail(batch, reason);
    }
  }

  #await(batch: readonly Waiting[], answers: Promise<readonly CommitAnswer[]>): void {
    this.#inFlight++;
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

  /** Flush writes queued during the last commit, together with any that its callers issue right away. */
  #goOn(): void {
    if (this.#waiting.length > 0) this.#planFlush(TURNS_TO_RETURN);
  }
}

/**
 * The shards of a batch. Tenants are not told apart: two tenants with the same run and shard ids only make a batch
 * smaller.
 */
class ShardSet {
  readonly #runs = new Map<RunId, Set<ShardId>>();

  /** Add a set's shard. Returns `false` if the batch has it already. */
  add({ run, shard }: UpdateShardSet): boolean {
    const shards = this.#runs.get(run);
    if (shards === undefined) this.#runs.set(run, new Set([shard.after.shard]));
    else if (shards.has(shard.after.shard)) return false;
    else shards.add(shard.after.shard);
    return true;
  }
}

/** Throws before any caller is answered, or not at all. */
function deliver(batch: readonly Waiting[], answers: readonly CommitAnswer[]): void {
  assert(
    answers.length === batch.length,
    () => `a store must answer each of ${batch.length} write sets, got ${answers.length} answers`,
  );
  batch.forEach(({ told }, index) => told.answered(answers[index]!));
}

function fail(batch: readonly Waiting[], reason: unknown): void {
  for (const { told } of batch) told.failed(reason);
}
