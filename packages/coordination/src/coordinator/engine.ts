import { MAX_SPLIT_CHILDREN, type LogicalTime, type OpId } from "@gossip/contracts";
import { coordError, InfraError, type BackendError, type Operation } from "@gossip/coordination-errors";
import { assert, err, InvariantViolation, ok, type Result } from "@gossip/stdx";
import { assertNow } from "../kernel/logical-now.ts";
import type { CoordinationEvent } from "../records/coordination-event.ts";
import type { CommitAnswer } from "../store/commit-answer.ts";
import type { CoordinationStore, Eventually } from "../store/coordination-store.ts";
import type { ShardLimits, WriteSet } from "../store/write-set.ts";
import { CommitQueue, type Waiting } from "./commit-queue.ts";
import type { CoordinatorSettings } from "./coordinator-options.ts";
import { EventHub } from "./event-hub.ts";
import { pauseMs, type StoreRetryPolicy } from "./retry-policy.ts";
import { fateOfRunWrite, fateOfShardWrite, UnresolvedWrites } from "./unresolved-writes.ts";

/** The operation that an error names, and `list` for what has no row of its own. */
export type OperationName = Operation | "list";

/** How often an operation has been tried, and why the last time did not do. */
export interface Attempts {
  readonly operation: OperationName;
  count: number;
}

/**
 * What every operation of a coordinator stands on: the store, the clock, the queue of writes,
 * and the rules for trying again.
 */
export class Engine {
  readonly store: CoordinationStore;
  readonly events = new EventHub();
  readonly limits: ShardLimits;
  readonly maxSplitChildren: number;
  /** Whether neither clock nor store need be waited for, as far as is known: `commitAtOnce` may be used. */
  readonly answersAtOnce: boolean;
  readonly newOpId: () => OpId;
  readonly unresolvedShards = new UnresolvedWrites(fateOfShardWrite);
  readonly unresolvedRuns = new UnresolvedWrites(fateOfRunWrite);
  readonly #settings: CoordinatorSettings;
  readonly #queue: CommitQueue;

  constructor(settings: CoordinatorSettings) {
    this.#settings = settings;
    this.store = settings.store;
    this.limits = settings.limits;
    this.newOpId = settings.newOpId;
    this.maxSplitChildren = settings.store.traits?.maxSplitChildren ?? MAX_SPLIT_CHILDREN;
    this.answersAtOnce = settings.store.traits?.answersAtOnce ?? false;
    this.#queue = new CommitQueue(settings.store);
  }

  /** The time, at once where the clock can tell it at once. What cannot be a time is refused before anything is done. */
  readClock(operation: OperationName): Eventually<Result<LogicalTime, BackendError>> {
    const now = this.#settings.clock.now();
    if (typeof now !== "bigint") return waitForTime(now, operation);
    assertNow(now);
    return ok(now);
  }

  commit(set: WriteSet): Promise<CommitAnswer> {
    return this.#queue.submit(set);
  }

  /** `commit` for whoever has a promise of its own to settle. */
  commitFor(waiting: Waiting): void {
    this.#queue.add(waiting);
  }

  /** The answer to a write without waiting for it, from a store that can give it so. */
  commitAtOnce(set: WriteSet): CommitAnswer {
    const answers = this.store.commit([set]);
    assert(!("then" in answers), "a store that says that it answers at once must not give a promise");
    return answers[0]!;
  }

  emit(events: readonly CoordinationEvent[]): void {
    this.events.emit(events);
  }

  /** Read from the store, again where it fails for a moment. */
  async read<T>(attempts: Attempts, ask: () => Eventually<Result<T, InfraError>>): Promise<Result<T, BackendError>> {
    for (;;) {
      const answer = await ask();
      if (answer.ok) return answer;
      const again = await this.retryAfter(attempts, answer.error);
      if (!again.ok) return again;
    }
  }

  /** Wait before the next attempt after a failure, or give up and say why. */
  async retryAfter(attempts: Attempts, error: InfraError): Promise<Result<void, BackendError>> {
    attempts.count++;
    if (!InfraError.isTransient(error) || attempts.count >= this.#retry.maxAttempts) {
      return err(coordError("BackendError", { reason: error }));
    }
    await this.#pause(attempts.count);
    return ok();
  }

  /** Wait before the next attempt after another's write got in between, or give up. */
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
    // What was read may simply have been old. Only the second time is somebody really in the way.
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
