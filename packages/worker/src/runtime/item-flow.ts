import { Redacted } from "@gossip/stdx";
import type { ParkReason } from "@gossip/contracts";
import { classifyFailure, type FailureClass } from "../policy/failure-class.ts";
import { pauseAfter } from "../policy/retry-schedule.ts";
import type { Item, ItemProblem } from "../sources/source.ts";
import { FinishedPrefix, type Slot } from "./finished-prefix.ts";
import type { ItemContext } from "./item-context.ts";
import { reasonOf, type ItemFailure } from "./item-failure.ts";
import { parkReasonFor } from "./park-reason-for.ts";
import { ParkShard } from "./park-shard.ts";
import { isRetryAfterForRun, retryAfterOf } from "./retry-after.ts";
import type { ShardHost } from "./shard-host.ts";
import { TimedCall } from "./timed-call.ts";

/** What the flow of a shard's items needs from the shard runner. */
export interface FlowListener<I extends Item, R> {
  /** Whether finished items must wait: results cannot be written now, or no more failures can be recorded. */
  isHeldBack(): boolean;
  /** The next item in order is finished. Hot: called for every item. */
  onFinished(item: I, result: R): void;
  /** The next item in order failed for good and is skipped. */
  onSkipped(item: I, failure: ItemFailure): void;
  /** The source has a problem at the next key in order. */
  onPassed(problem: ItemProblem): void;
  /** An item failed for good and is not skipped. */
  onHopeless(reason: ParkReason, item: I, failure: ItemFailure): void;
  /** There may be room for more, or nothing left in flight. */
  onChange(): void;
}

/** Results that may wait for an unfinished item, per item that may run at the same time. */
const WINDOW_PER_ITEM = 16;
const MIN_WINDOW = 64;
/** If the number of items that may run is not known in advance. */
const MAX_WINDOW = 16_384;
/** How often an item that is to be tried again looks whether the limits of the run allow it. */
const LIMITED_RETRY_MS = 50;

/** A problem of the source, at its position among the items. */
class PassedProblem implements Item {
  readonly problem: ItemProblem;

  constructor(problem: ItemProblem) {
    this.problem = problem;
  }

  get key(): Uint8Array {
    return this.problem.key;
  }
}

/** One call of `process`. */
interface Trial<I> {
  readonly item: I;
  readonly slot: Slot;
  readonly attempt: number;
  /** Failures so far that count against the item's own attempts. */
  readonly itemFailures: number;
  /** Failures in a row that a dependency caused, and when the first of them happened. */
  readonly dependencyFailures: number;
  readonly dependencySinceMs: number;
}

/**
 * Calls `process` for the items of a shard, several at a time if allowed, and reports finished items in key order.
 *
 * If `process` returns synchronously, nothing is allocated or awaited: the item is finished when the call returns.
 * Otherwise the item occupies a slot in a window until everything before it is finished too.
 */
export class ItemFlow<I extends Item, R> {
  readonly #host: ShardHost<I, R>;
  readonly #context: ItemContext;
  readonly #listener: FlowListener<I, R>;
  readonly #window: FinishedPrefix<I | PassedProblem, R, ItemFailure | undefined>;
  /** How many items may run now. */
  readonly #itemLimit: () => number;
  readonly #onItemStart: ((key: Uint8Array) => void) | undefined;
  readonly #take: (item: I | PassedProblem, result: R | ItemFailure | undefined, isSkipped: boolean) => void;
  readonly #mayTake: () => boolean;
  readonly #pauses = new Set<() => void>();
  /** Calls in flight that have a time limit. */
  readonly #timedCalls = new Set<TimedCall>();
  #inFlight = 0;
  #isHalted = false;
  #isClosed = false;

  constructor(host: ShardHost<I, R>, context: ItemContext, listener: FlowListener<I, R>) {
    this.#host = host;
    this.#context = context;
    this.#listener = listener;
    const { itemConcurrency } = host.settings;
    this.#itemLimit = typeof itemConcurrency === "function" ? itemConcurrency : () => itemConcurrency;
    this.#onItemStart = host.onItemStart;
    const size = typeof itemConcurrency === "function" ? MAX_WINDOW : itemConcurrency * WINDOW_PER_ITEM;
    this.#window = new FinishedPrefix(Math.max(MIN_WINDOW, size));
    this.#mayTake = () => !listener.isHeldBack();
    // One function for the life of the shard, because it is called for every item.
    this.#take = (item, result, isSkipped) => {
      if (item instanceof PassedProblem) listener.onPassed(item.problem);
      else if (isSkipped) listener.onSkipped(item, result as ItemFailure);
      else listener.onFinished(item, result as R);
    };
  }

  /** Whether calls are in flight or waiting for a retry. */
  get isBusy(): boolean {
    return this.#inFlight > 0;
  }

  /** Calls in flight, and items that wait for a retry. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** How many items may run now. */
  get capacity(): number {
    return this.#itemLimit();
  }

  /** Whether every started item has been reported. */
  get isDrained(): boolean {
    return this.#window.isEmpty;
  }

  /** Whether another item may be started. */
  get hasRoom(): boolean {
    return this.#inFlight < this.#itemLimit() && !this.#window.isFull;
  }

  begin(item: I): void {
    const call = this.#makeCall(this.#context);
    this.#onItemStart?.(item.key);
    this.#host.limiter.took();
    let answer: R | PromiseLike<R>;
    try {
      answer = this.#host.settings.process(item, call?.context ?? this.#context);
    } catch (cause) {
      this.#inFlight++;
      this.#fail(this.#firstTrial(item), cause);
      return;
    }
    if (isPromiseLike(answer)) {
      this.#inFlight++;
      this.#follow(this.#firstTrial(item), answer, call);
    } else if (this.#window.isEmpty && !this.#listener.isHeldBack()) {
      this.#listener.onFinished(item, answer);
    } else {
      this.#window.finish(this.#window.open(item), answer);
      this.drain();
    }
  }

  #firstTrial(item: I): Trial<I> {
    const slot = this.#window.open(item);
    return { item, slot, attempt: 1, itemFailures: 0, dependencyFailures: 0, dependencySinceMs: 0 };
  }

  #makeCall(context: ItemContext): TimedCall | undefined {
    const { itemTimeoutMs, time } = this.#host.settings;
    return itemTimeoutMs === undefined ? undefined : new TimedCall(context, time, itemTimeoutMs);
  }

  /** Give up on an item without calling `process`: it is skipped, or its shard is parked. */
  giveUp(item: I, failure: ItemFailure): void {
    const trial = { ...this.#firstTrial(item), attempt: failure.attempts };
    this.#host.counts.failures++;
    this.#reportFailure(trial, { cause: failure.cause, waitMs: undefined });
    this.#setAside(trial, failure);
  }

  /** Whether a problem can be added to the window now. */
  get canAddProblem(): boolean {
    return !this.#window.isFull;
  }

  /** Skip a key that the source has a problem with, once everything before it is finished. */
  pass(problem: ItemProblem): void {
    this.#window.skip(this.#window.open(new PassedProblem(problem)), undefined);
    this.drain();
  }

  /** Report finished items, up to the first unfinished one. */
  drain(): void {
    this.#window.drain(this.#take, this.#mayTake);
  }

  /** Retry nothing, and leave items that fail from now on unfinished. Calls in flight may still finish. */
  halt(): void {
    this.#isHalted = true;
    this.#inFlight -= this.#pauses.size;
    for (const cancel of this.#pauses) cancel();
    this.#pauses.clear();
  }

  /**
   * Ignore all results from now on. A call that is stopped by its signal may return without having done its work,
   * so its item does not count as finished. Items finished earlier still count.
   */
  close(): void {
    this.halt();
    this.#isClosed = true;
  }

  /** Like `close`, and drop finished items that were not reported yet. */
  drop(): void {
    this.close();
    this.#window.clear();
    for (const call of this.#timedCalls) call.end();
    this.#timedCalls.clear();
  }

  #follow(trial: Trial<I>, answer: PromiseLike<R>, call: TimedCall | undefined): void {
    if (call !== undefined) return this.#followTimed(trial, answer, call);
    // A native promise is used as is; any other thenable is wrapped first.
    Promise.resolve(answer).then(
      (result) => this.#succeed(trial, result),
      (cause: unknown) => this.#fail(trial, cause),
    );
  }

  #followTimed(trial: Trial<I>, answer: PromiseLike<R>, call: TimedCall): void {
    // A call that timed out may still settle. Only its first outcome counts.
    let isOver = false;
    const end = (): boolean => {
      if (isOver) return false;
      isOver = true;
      this.#timedCalls.delete(call);
      call.end();
      return true;
    };
    this.#timedCalls.add(call);
    call.start((timedOut) => {
      if (end()) this.#fail(trial, timedOut);
    });
    Promise.resolve(answer).then(
      (result) => {
        if (!end()) return;
        if (call.timedOut === undefined) this.#succeed(trial, result);
        else this.#fail(trial, call.timedOut);
      },
      (cause: unknown) => {
        if (end()) this.#fail(trial, call.failure(cause));
      },
    );
  }

  #succeed({ slot }: Trial<I>, result: R): void {
    this.#inFlight--;
    if (!this.#isClosed && this.#window.finish(slot, result)) this.drain();
    this.#listener.onChange();
  }

  #fail(trial: Trial<I>, cause: unknown): void {
    const { counts } = this.#host;
    this.#inFlight--;
    if (this.#isHalted) return this.#listener.onChange();
    const next = this.#nextTrial(trial, cause);
    this.#reportFailure(trial, { cause, waitMs: next?.waitMs });
    if (next !== undefined) return this.#tryAgain(next.trial, next.waitMs);
    counts.failures++;
    const failure: ItemFailure = { attempts: trial.attempt, reason: reasonOf(cause), cause };
    this.#setAside(trial, failure);
  }

  #setAside(trial: Trial<I>, failure: ItemFailure): void {
    const { cause } = failure;
    if (cause instanceof ParkShard || this.#host.settings.onItemFailure !== "skip")
      return this.#listener.onHopeless(parkReasonFor(cause, "Poisoned"), trial.item, failure);
    this.#window.skip(trial.slot, failure);
    this.drain();
    this.#listener.onChange();
  }

  /** The next attempt and the pause before it. `undefined` if the item is given up. */
  #nextTrial(trial: Trial<I>, cause: unknown): { readonly trial: Trial<I>; readonly waitMs: number } | undefined {
    const { settings } = this.#host;
    const failureClass = this.#classify(cause);
    if (failureClass === "Permanent") return undefined;
    const attempt = trial.attempt + 1;
    const [random, leastMs] = [settings.time.random(), retryAfterOf(cause)];
    if (isRetryAfterForRun(cause)) this.#host.limiter.hold(Math.min(leastMs, settings.dependencySchedule.maxMs));
    if (failureClass === "Item") {
      const itemFailures = trial.itemFailures + 1;
      const waitMs = pauseAfter(settings.itemRetry, { attempt: itemFailures, random, leastMs });
      return waitMs === undefined
        ? undefined
        : { trial: { ...trial, attempt, itemFailures, dependencyFailures: 0 }, waitMs };
    }
    const nowMs = settings.time.nowMs();
    const dependencyFailures = trial.dependencyFailures + 1;
    const dependencySinceMs = dependencyFailures === 1 ? nowMs : trial.dependencySinceMs;
    if (nowMs - dependencySinceMs >= settings.patienceMs) return undefined;
    const waitMs = pauseAfter(settings.dependencySchedule, { attempt: dependencyFailures, random, leastMs });
    return waitMs === undefined
      ? undefined
      : { trial: { ...trial, attempt, dependencyFailures, dependencySinceMs }, waitMs };
  }

  #classify(cause: unknown): FailureClass {
    if (cause instanceof ParkShard) return "Permanent";
    try {
      return this.#host.settings.classifyFailure?.(cause) ?? classifyFailure(cause);
    } catch {
      // The caller's function cannot handle this error.
      return classifyFailure(cause);
    }
  }

  #reportFailure(
    { item, attempt }: Trial<I>,
    { cause, waitMs }: { readonly cause: unknown; readonly waitMs: number | undefined },
  ): void {
    const { shard } = this.#context.shard.key;
    const { key } = item;
    this.#host.emit({
      kind: "ItemFailed",
      shard,
      attempt,
      willRetry: waitMs !== undefined,
      waitMs: waitMs ?? 0,
      item: new Redacted(item),
      key: new Redacted(key),
      keySize: key.length,
      cause: new Redacted(cause),
    });
  }

  #tryAgain(trial: Trial<I>, waitMs: number): void {
    this.#host.counts.retries++;
    this.#inFlight++;
    this.#callAfter(trial, waitMs);
  }

  /** Call `process` again after a pause, and not before the limits of the run allow it. */
  #callAfter(trial: Trial<I>, waitMs: number): void {
    const { settings, limiter } = this.#host;
    const cancel = settings.time.startTimer(waitMs, () => {
      this.#pauses.delete(cancel);
      if (!limiter.mayRetry()) return this.#callAfter(trial, LIMITED_RETRY_MS);
      limiter.took();
      const context = { ...this.#context, attempt: trial.attempt };
      const call = this.#makeCall(context);
      this.#onItemStart?.(trial.item.key);
      try {
        const answer = settings.process(trial.item, call?.context ?? context);
        this.#follow(trial, isPromiseLike(answer) ? answer : Promise.resolve(answer), call);
      } catch (cause) {
        this.#fail(trial, cause);
      }
    });
    this.#pauses.add(cancel);
  }
}

function isPromiseLike<R>(answer: R | PromiseLike<R>): answer is PromiseLike<R> {
  return typeof answer === "object" && answer !== null && typeof (answer as PromiseLike<R>).then === "function";
}
