import type { ParkReason } from "@gossip/contracts";
import { Redacted } from "@gossip/stdx";
import { pauseAfter } from "../policy/retry-schedule.ts";
import type { Item, ItemProblem } from "../source/source.ts";
import { FinishedPrefix, type Slot } from "./finished-prefix.ts";
import type { ItemContext } from "./item-context.ts";
import { parkReasonFor } from "./park-reason-for.ts";
import { ParkShard } from "./park-shard.ts";
import { retryAfterOf } from "./retry-after.ts";
import type { ShardHost } from "./shard-host.ts";

/** What the flow of a shard's items needs from the shard runner. */
export interface FlowListener<I extends Item, R> {
  /** Whether finished items must wait because results cannot be written now. */
  isHeldBack(): boolean;
  /** The next item in order is finished. Hot: called for every item. */
  onFinished(item: I, result: R | undefined, isSkipped: boolean): void;
  /** The source has a problem at the next key in order. */
  onPassed(problem: ItemProblem): void;
  /** An item failed for good. */
  onHopeless(reason: ParkReason): void;
  /** There may be room for more, or nothing left in flight. */
  onChange(): void;
}

/** Results that may wait for an unfinished item, per item that may run at the same time. */
const WINDOW_PER_ITEM = 16;
const MIN_WINDOW = 64;

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
  readonly #window: FinishedPrefix<I | PassedProblem, R>;
  readonly #itemConcurrency: number;
  readonly #take: (item: I | PassedProblem, result: R | undefined, isSkipped: boolean) => void;
  readonly #pauses = new Set<() => void>();
  #inFlight = 0;
  #isHalted = false;
  #isClosed = false;

  constructor(host: ShardHost<I, R>, context: ItemContext, listener: FlowListener<I, R>) {
    this.#host = host;
    this.#context = context;
    this.#listener = listener;
    this.#itemConcurrency = host.settings.itemConcurrency;
    this.#window = new FinishedPrefix(Math.max(MIN_WINDOW, this.#itemConcurrency * WINDOW_PER_ITEM));
    // One function for the life of the shard, because it is called for every item.
    this.#take = (item, result, isSkipped) => {
      if (item instanceof PassedProblem) listener.onPassed(item.problem);
      else listener.onFinished(item, result, isSkipped);
    };
  }

  /** Whether calls are in flight or waiting for a retry. */
  get isBusy(): boolean {
    return this.#inFlight > 0;
  }

  /** Whether every started item has been reported. */
  get isDrained(): boolean {
    return this.#window.isEmpty;
  }

  /** Whether another item may be started. */
  get hasRoom(): boolean {
    return this.#inFlight < this.#itemConcurrency && !this.#window.isFull;
  }

  begin(item: I): void {
    let answer: R | PromiseLike<R>;
    try {
      answer = this.#host.settings.process(item, this.#context);
    } catch (cause) {
      this.#inFlight++;
      this.#fail({ item, slot: this.#window.open(item), attempt: 1 }, cause);
      return;
    }
    if (isPromiseLike(answer)) {
      this.#inFlight++;
      this.#follow({ item, slot: this.#window.open(item), attempt: 1 }, answer);
    } else if (this.#window.isEmpty && !this.#listener.isHeldBack()) {
      this.#listener.onFinished(item, answer, false);
    } else {
      this.#window.finish(this.#window.open(item), answer);
      this.drain();
    }
  }

  /** Whether a problem can be added to the window now. */
  get canAddProblem(): boolean {
    return !this.#window.isFull;
  }

  /** Skip a key that the source has a problem with, once everything before it is finished. */
  pass(problem: ItemProblem): void {
    this.#window.skip(this.#window.open(new PassedProblem(problem)));
    this.drain();
  }

  /** Report finished items, up to the first unfinished one. */
  drain(): void {
    if (!this.#listener.isHeldBack()) this.#window.drain(this.#take);
  }

  /** Retry nothing, and leave items that fail from now on unfinished. Calls in flight may still finish. */
  halt(): void {
    this.#isHalted = true;
    this.#inFlight -= this.#pauses.size;
    for (const cancel of this.#pauses) cancel();
    this.#pauses.clear();
  }

  /**
   * Ignore all results from now on. A call that is told to stop by its signal may return without having done its work,
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
  }

  #follow(trial: Trial<I>, answer: PromiseLike<R>): void {
    // A native promise is used as is; any other thenable is wrapped first.
    Promise.resolve(answer).then(
      (result) => {
        this.#inFlight--;
        if (!this.#isClosed && this.#window.finish(trial.slot, result)) this.drain();
        this.#listener.onChange();
      },
      (cause: unknown) => this.#fail(trial, cause),
    );
  }

  #fail(trial: Trial<I>, cause: unknown): void {
    const { settings, counts } = this.#host;
    this.#inFlight--;
    if (this.#isHalted) return this.#listener.onChange();
    const isFinal = cause instanceof ParkShard;
    const waitMs = isFinal
      ? undefined
      : pauseAfter(settings.itemRetry, {
          attempt: trial.attempt,
          random: settings.time.random(),
          leastMs: retryAfterOf(cause),
        });
    this.#reportFailure(trial, { cause, waitMs });
    if (waitMs !== undefined) return this.#tryAgain(trial, waitMs);
    counts.failures++;
    if (isFinal || settings.onItemFailure !== "skip")
      return this.#listener.onHopeless(parkReasonFor(cause, "Poisoned"));
    this.#window.skip(trial.slot);
    this.drain();
    this.#listener.onChange();
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
      key: new Redacted(key),
      keySize: key.length,
      cause: new Redacted(cause),
    });
  }

  #tryAgain({ item, slot, attempt }: Trial<I>, waitMs: number): void {
    const { settings, counts } = this.#host;
    counts.retries++;
    this.#inFlight++;
    const cancel = settings.time.startTimer(waitMs, () => {
      this.#pauses.delete(cancel);
      const trial = { item, slot, attempt: attempt + 1 };
      try {
        const answer = settings.process(item, { ...this.#context, attempt: attempt + 1 });
        this.#follow(trial, isPromiseLike(answer) ? answer : Promise.resolve(answer));
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
