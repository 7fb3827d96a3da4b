import { MAX_SPLIT_CHILDREN, type LogicalTime, type OpId } from "@gossip/contracts";
import { coordError, InfraError, type BackendError, type Operation } from "@gossip/coordination-errors";
import { assert, assertCount, err, InvariantViolation, ok, type Result } from "@gossip/stdx";
import { assertNow } from "../kernel/logical-now.ts";
import type { CoordinationEvent } from "../records/coordination-event.ts";
import { MAX_NOTES_PER_SET } from "../records/note.ts";
import type { CommitAnswer } from "../store/commit-answer.ts";
import type { CoordinationStore, Eventually } from "../store/coordination-store.ts";
import type { ShardLimits, WriteSet } from "../store/write-set.ts";
import { CommitQueue, type CommitTold } from "./commit-queue.ts";
import type { CoordinatorSettings } from "./coordinator-options.ts";
import { EventHub } from "./event-hub.ts";
import { pauseMs, type StoreRetryPolicy } from "./retry-policy.ts";
import { ShardCopies } from "./shard-copies.ts";
import { fateOfRunWrite, fateOfShardWrite, UnresolvedWrites } from "./unresolved-writes.ts";

/** The operation that an error names. `list` and `notes` stand for those that are not in the table of errors. */
export type OperationName = Operation | "list" | "notes";

/** How often an operation has been tried. */
export interface Attempts {
  readonly operation: OperationName;
  count: number;
}

/** What all operations of a coordinator share: the store, the clock, the commit queue, the events and the rules for retries. */
export class Engine {
  readonly store: CoordinationStore;
  readonly events = new EventHub();
  readonly limits: ShardLimits;
  readonly maxSplitChildren: number;
  readonly maxNotesPerSet: number;
  readonly newOpId: () => OpId;
  readonly copies: ShardCopies;
  readonly unresolvedShards = new UnresolvedWrites(fateOfShardWrite);
  readonly unresolvedRuns = new UnresolvedWrites(fateOfRunWrite);
  readonly #settings: CoordinatorSettings;
  readonly #queue: CommitQueue;
  readonly #answersAtOnce: boolean;

  constructor(settings: CoordinatorSettings) {
    this.#settings = settings;
    this.store = settings.store;
    this.limits = settings.limits;
    this.newOpId = settings.newOpId;
    this.copies = new ShardCopies(settings.shardCopies);
    this.maxSplitChildren = settings.store.traits?.maxSplitChildren ?? MAX_SPLIT_CHILDREN;
    this.maxNotesPerSet = settings.store.traits?.maxNotesPerSet ?? MAX_NOTES_PER_SET;
    this.#answersAtOnce = settings.store.traits?.answersAtOnce ?? false;
    this.#queue = new CommitQueue(settings.store);
  }

  /** Read the clock. Throws before anything is done if the reading cannot be a time. */
  readClock(operation: OperationName): Eventually<Result<LogicalTime, BackendError>> {
    const now = this.#settings.clock.now();
    if (typeof now !== "bigint") return waitForTime(now, operation);
    assertNow(now);
    return ok(now);
  }

  /** Commit a write set: at once if the store can, else in a batch with those of other callers. */
  commit(set: WriteSet): Eventually<CommitAnswer> {
    if (!this.#answersAtOnce) return this.#queue.submit(set);
    const answers = this.store.commit([set]);
    assert(!("then" in answers), "a store with the trait answersAtOnce must not return a promise");
    return answers[0]!;
  }

  /** As `commit`, without a promise. */
  commitThen(set: WriteSet, told: CommitTold): void {
    if (!this.#answersAtOnce) this.#queue.add(set, told);
    else told.answered(this.commit(set) as CommitAnswer);
  }

  /** Throws if a checkpoint carries more failures than one write set of the store can hold. */
  assertFailureCount(failures: readonly unknown[] | undefined): void {
    if (failures === undefined) return;
    assertCount(failures.length, "number of failures in one call", { min: 0, max: this.maxNotesPerSet });
  }

  emit(events: readonly CoordinationEvent[]): void {
    this.events.emit(events);
  }

  /** Read from the store. Retries transient failures. */
  async read<T>(attempts: Attempts, ask: () => Eventually<Result<T, InfraError>>): Promise<Result<T, BackendError>> {
    for (;;) {
      const answer = await ask();
      if (answer.ok) return answer;
      const again = await this.retryAfter(attempts, answer.error);
      if (!again.ok) return again;
    }
  }

  /** Wait before the next attempt after a failure, or give up and return the reason. */
  async retryAfter(attempts: Attempts, error: InfraError): Promise<Result<void, BackendError>> {
    attempts.count++;
    if (!InfraError.isTransient(error) || attempts.count >= this.#retry.maxAttempts) {
      return err(coordError("BackendError", { reason: error }));
    }
    await this.#pause(attempts.count);
    return ok();
  }

  /** Wait before the next attempt after a conflict, or give up. */
  async retryAfterConflict(attempts: Attempts): Promise<Result<void, BackendError>> {
    attempts.count++;
    if (attempts.count >= this.#retry.maxAttempts) {
      const operation = `${attempts.operation}.commit` as const;
      return err(
        coordError("BackendError", {
          reason: InfraError.transient({ operation, message: "other writes kept coming in between" }),
        }),
      );
    }
    // The first conflict may only mean that the copy was old. After the second there is a competing writer.
    if (attempts.count > 1) await this.#pause(attempts.count - 1);
    return ok();
  }

  get #retry(): StoreRetryPolicy {
    return this.#settings.retry;
  }

  async #pause(attempt: number): Promise<void> {
    await this.#retry.sleep(pauseMs(this.#retry, attempt));
  }
}

async function waitForTime(
  pending: Promise<LogicalTime>,
  operation: OperationName,
): Promise<Result<LogicalTime, BackendError>> {
  try {
    const now = await pending;
    assertNow(now);
    return ok(now);
  } catch (cause) {
    if (cause instanceof InvariantViolation) throw cause;
    const reason = InfraError.transient({
      operation: `${operation}.clock`,
      message: "the clock had no time to give",
      cause,
    });
    return err(coordError("BackendError", { reason }));
  }
}
