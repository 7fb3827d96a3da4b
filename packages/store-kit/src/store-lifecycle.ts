import type { CommitAnswer, Eventually, WriteSet } from "@gossip/coordination";
import type { FixedText, InfraError } from "@gossip/coordination-errors";
import { err, InvariantViolation, ok, type Result } from "@gossip/stdx";
import { PendingTasks } from "./pending-tasks.ts";
import { closedFailure, CorruptStore, type StoreOperation } from "./store-failure.ts";
import type { Sweeper } from "./sweeper.ts";

export interface StoreLifecycleOptions<Store extends string> {
  /** The first part of every operation's name, such as `etcd`. */
  readonly name: Store & FixedText<Store>;
  /** Describes what the driver threw, in fixed words. Throws on what it does not know: that is a defect of the store. */
  readonly failureFrom: (operation: StoreOperation<Store>, thrown: unknown) => InfraError;
  /** Closes the engine. Called once, when nothing is pending. */
  readonly release: () => Eventually<void>;
  /** Stopped before the engine is closed. */
  readonly sweeper?: Pick<Sweeper, "stop"> | undefined;
}

/**
 * Wraps every call of a store, so that its engine is closed at the right time and its failures are values.
 *
 * - A call after `close` fails with "the store is closed" and does not reach the engine.
 * - `close` waits for pending calls before it releases the engine, and may be called more than once.
 * - What the driver throws becomes an `InfraError`. An `InvariantViolation` is a defect and is thrown on.
 */
export class StoreLifecycle<Store extends string> {
  /** For work that is not a call of the port, such as an inspection. */
  readonly pending: PendingTasks = new PendingTasks();
  readonly #options: StoreLifecycleOptions<Store>;
  #closing: Promise<void> | undefined;

  constructor(options: StoreLifecycleOptions<Store>) {
    this.#options = options;
  }

  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  /** Runs a read that needs no waiting. */
  read<T>(operation: StoreOperation<Store>, read: () => T): Result<T, InfraError> {
    if (this.#closing !== undefined) return err(closedFailure(operation));
    try {
      return ok(read());
    } catch (thrown) {
      return err(this.#failureFrom(operation, thrown));
    }
  }

  /** Runs a read or a write that waits. */
  async call<T>(operation: StoreOperation<Store>, call: () => Promise<T>): Promise<Result<T, InfraError>> {
    if (this.#closing !== undefined) return err(closedFailure(operation));
    try {
      return ok(await this.pending.track(call()));
    } catch (thrown) {
      return err(this.#failureFrom(operation, thrown));
    }
  }

  /** Runs a commit. `commit` itself decides whether a failed write is `Failed` or `Unknown`. */
  async commit(
    sets: readonly WriteSet[],
    commit: () => Promise<readonly CommitAnswer[]>,
  ): Promise<readonly CommitAnswer[]> {
    if (this.#closing === undefined) return this.pending.track(commit());
    const error = closedFailure(`${this.#options.name}.commit`);
    return sets.map(() => ({ kind: "Failed", error }));
  }

  /** Waits for pending calls, then releases the engine. Later calls return the same promise. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { sweeper, release } = this.#options;
    await Promise.all([sweeper?.stop(), this.pending.end()]);
    await release();
  }

  #failureFrom(operation: StoreOperation<Store>, thrown: unknown): InfraError {
    if (thrown instanceof InvariantViolation) throw thrown;
    return thrown instanceof CorruptStore ? thrown.failure : this.#options.failureFrom(operation, thrown);
  }
}
