import { MAX_KEY_SIZE, type RangeInput } from "@gossip/contracts";
import { compareBytes, Redacted } from "@gossip/stdx";
import { classifyFailure, type ClassifyFailure, type FailureClass } from "../policy/failure-class.ts";
import { pauseAfter, type RetrySchedule } from "../policy/retry-schedule.ts";
import type { Item, ItemBatch, ItemProblem, Source } from "../sources/source.ts";
import { SourceReadFailed } from "../sources/source-read-failed.ts";
import { sleep, type WorkerTime } from "../time/worker-time.ts";
import type { Outage } from "./outage.ts";
import { isRetryAfterForRun, retryAfterOf } from "./retry-after.ts";

/** The source broke its contract, failed on every attempt, or was unavailable for too long. */
export interface ReadFailure {
  readonly kind: "ReadFailure";
  /** Whether the whole source is unavailable, not only this range. */
  readonly isOutage: boolean;
  readonly attempts: number;
  readonly cause: unknown;
}

export interface ReaderOptions<I extends Item> {
  readonly source: Source<I>;
  readonly range: RangeInput;
  readonly after: Uint8Array | undefined;
  readonly signal: AbortSignal;
  readonly retry: RetrySchedule;
  /** How long to wait for a source that is unavailable. */
  readonly patienceMs: number;
  readonly classifyFailure: ClassifyFailure | undefined;
  /** Shared by all readers of this process. */
  readonly outage: Outage;
  readonly time: WorkerTime;
  /** The source asked the whole run to wait. */
  readonly hold: (ms: number) => void;
  readonly onFailure: (failure: {
    readonly attempt: number;
    readonly waitMs: number | undefined;
    readonly cause: Redacted<unknown>;
  }) => void;
}

/** The next step of a reading. */
export type Fetched<I extends Item> =
  | { readonly kind: "Batch"; readonly batch: ItemBatch<I> }
  | { readonly kind: "End" }
  | ReadFailure;

/**
 * Reads the items of a shard in batches, one batch ahead.
 *
 * Prefetching keeps the work from waiting for the source, and shows when the end is near: the holder then knows exactly
 * how much it has left to share. A failed reading restarts after the last key that it returned.
 */
export class ShardReader<I extends Item> {
  readonly #options: ReaderOptions<I>;
  #iterator: AsyncIterator<ItemBatch<I>> | undefined;
  #end: Uint8Array;
  #lastKey: Uint8Array | undefined;
  #pending: Promise<Fetched<I>> | undefined;
  /** The prefetched batch, once it has arrived. */
  #ahead: Fetched<I> | undefined;
  #isClosed = false;

  constructor(options: ReaderOptions<I>) {
    this.#options = options;
    this.#end = options.range.end;
    this.#lastKey = options.after;
  }

  /** The items of the prefetched batch, if it has arrived. */
  get ahead(): readonly I[] {
    return this.#ahead?.kind === "Batch" ? this.#ahead.batch.items : [];
  }

  /** Whether the source has nothing after `ahead`. */
  get isEndKnown(): boolean {
    return this.#ahead?.kind === "End";
  }

  /** Returns the next batch, or the end. After the signal has fired it returns the end. */
  async next(): Promise<Fetched<I>> {
    const fetched = this.#ahead ?? (await (this.#pending ?? this.#startFetch()));
    if (fetched.kind !== "Batch") return fetched;
    if (this.#options.signal.aborted) return { kind: "End" };
    this.#ahead = undefined;
    // Not awaited: it arrives while the current batch is processed.
    void this.#startFetch();
    return fetched;
  }

  /** Read no further than `end`: the keys from there on belong to another shard now. */
  narrow(end: Uint8Array): void {
    this.#end = end;
    if (this.#ahead?.kind === "Batch") this.#ahead = this.#cut(this.#ahead.batch);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#dropIterator();
  }

  #startFetch(): Promise<Fetched<I>> {
    this.#pending = this.#fetchAhead();
    return this.#pending;
  }

  async #fetchAhead(): Promise<Fetched<I>> {
    const fetched = await this.#fetch();
    this.#pending = undefined;
    this.#ahead = fetched.kind === "Batch" ? this.#cut(fetched.batch) : fetched;
    return this.#ahead;
  }

  /** Cut a batch at the end of the range. Returns the end if nothing of the batch is left. */
  #cut(batch: ItemBatch<I>): Fetched<I> {
    const last = lastKeyOf(batch);
    if (last === undefined || !this.#isBeyond(last)) return { kind: "Batch", batch };
    this.#dropIterator();
    this.#isClosed = true;
    const items = batch.items.filter(({ key }) => !this.#isBeyond(key));
    const problems = (batch.problems ?? []).filter(({ key }) => !this.#isBeyond(key));
    return items.length === 0 && problems.length === 0
      ? { kind: "End" }
      : { kind: "Batch", batch: { items, problems } };
  }

  #isBeyond(key: Uint8Array): boolean {
    return this.#end.length > 0 && compareBytes(key, this.#end) >= 0;
  }

  /** Returns the next batch that is not empty, retrying failed reads. */
  async #fetch(): Promise<Fetched<I>> {
    const { signal, time, outage, onFailure } = this.#options;
    let sinceMs: number | undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        const fetched = await this.#read();
        outage.worked();
        return fetched;
      } catch (cause) {
        this.#dropIterator();
        if (signal.aborted) return { kind: "End" };
        sinceMs ??= time.nowMs();
        const next = this.#afterFailure({ attempt, sinceMs, cause });
        onFailure({ attempt, waitMs: next.waitMs, cause: new Redacted(cause) });
        if (next.waitMs === undefined)
          return { kind: "ReadFailure", isOutage: next.isOutage, attempts: attempt, cause };
        if (!(await sleep(time, next.waitMs, signal))) return { kind: "End" };
      }
    }
  }

  /**
   * How long to wait after a failed attempt. `undefined` if the range is given up.
   *
   * A source that is unavailable is waited for. If a source fails for an unclear reason, other shards show whether it is
   * available: if none of them could read since this one began to fail, the source is to blame, not this range.
   */
  #afterFailure({
    attempt,
    sinceMs,
    cause,
  }: {
    readonly attempt: number;
    readonly sinceMs: number;
    readonly cause: unknown;
  }): { readonly waitMs: number | undefined; readonly isOutage: boolean } {
    if (cause instanceof BrokenSource) return { waitMs: undefined, isOutage: false };
    const { retry, time, patienceMs, outage, hold } = this.#options;
    const [random, leastMs] = [time.random(), retryAfterOf(cause)];
    if (isRetryAfterForRun(cause)) hold(Math.min(leastMs, retry.maxMs));
    const waitMs = pauseAfter(retry, { attempt, random, leastMs });
    const isDependency = this.#classify(cause) === "Dependency";
    if (!isDependency && (waitMs !== undefined || !isSourceFailure(cause) || outage.hasWorkedSince(sinceMs)))
      return { waitMs, isOutage: false };
    outage.failed();
    if (time.nowMs() - sinceMs >= patienceMs) return { waitMs: undefined, isOutage: true };
    return { waitMs: waitMs ?? retry.maxMs * (0.5 + random / 2), isOutage: true };
  }

  #classify(cause: unknown): FailureClass {
    try {
      return this.#options.classifyFailure?.(cause) ?? classifyFailure(cause);
    } catch {
      // The caller's function cannot handle this error.
      return classifyFailure(cause);
    }
  }

  async #read(): Promise<Fetched<I>> {
    const { source, range, signal } = this.#options;
    for (;;) {
      if (this.#isClosed || signal.aborted) return { kind: "End" };
      this.#iterator ??= source
        .read({ range: { start: range.start, end: this.#end }, after: this.#lastKey, signal })
        [Symbol.asyncIterator]();
      const { done, value: batch } = await this.#iterator.next();
      if (done === true) return { kind: "End" };
      const last = lastKeyOf(batch);
      if (last === undefined) continue;
      this.#checkOrder(batch);
      this.#lastKey = last;
      return { kind: "Batch", batch };
    }
  }

  /** Progress is one key, so a key that arrives out of order would be skipped for good. */
  #checkOrder({ items, problems }: ItemBatch<I>): void {
    const { start } = this.#options.range;
    for (const first of [items[0], problems?.[0]])
      if (first !== undefined && (first.key.length === 0 || compareBytes(first.key, start) < 0))
        throw new BrokenSource("a key below the range");
    checkIncreasing(items, this.#lastKey);
    if (problems !== undefined) checkIncreasing(problems, this.#lastKey);
  }

  #dropIterator(): void {
    const iterator = this.#iterator;
    this.#iterator = undefined;
    // Not awaited: a source that is slow to close must not delay the shard.
    iterator?.return?.().then(undefined, () => undefined);
  }
}

/** Whether the source itself reported that it cannot be read. */
function isSourceFailure(cause: unknown): boolean {
  return cause instanceof SourceReadFailed && cause.kind !== "SourceInvalid";
}

/** The source violated its contract. Reading again would give the same, so this is not retried. */
class BrokenSource extends Error {
  override readonly name = "BrokenSource";

  constructor(what: string) {
    super(`the source gave ${what}`);
  }
}

function checkIncreasing(entries: readonly Item[], after: Uint8Array | undefined): void {
  let previous = after;
  for (const { key } of entries) {
    if (key.length > MAX_KEY_SIZE) throw new BrokenSource("a key that no cursor can hold");
    if (previous !== undefined && compareBytes(key, previous) <= 0) throw new BrokenSource("keys that do not increase");
    previous = key;
  }
}

function lastKeyOf({ items, problems }: ItemBatch): Uint8Array | undefined {
  const item = items.at(-1)?.key;
  const problem = (problems as readonly ItemProblem[] | undefined)?.at(-1)?.key;
  if (item === undefined || problem === undefined) return item ?? problem;
  return compareBytes(item, problem) >= 0 ? item : problem;
}
