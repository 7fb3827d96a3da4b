import { MAX_KEY_SIZE, type RangeInput } from "@gossip/contracts";
import { compareBytes, Redacted } from "@gossip/stdx";
import { pauseAfter, type RetryPolicy } from "../policy/retry-policy.ts";
import type { Item, ItemBatch, ItemProblem, Source } from "../source/source.ts";
import { sleep, type WorkerTime } from "../time/worker-time.ts";
import { retryAfterOf } from "./retry-after.ts";

/** A source that broke its contract, or could not be read however often it was tried. */
export interface ReadFailure {
  readonly kind: "ReadFailure";
  readonly cause: unknown;
}

export interface ReaderOptions<I extends Item> {
  readonly source: Source<I>;
  readonly range: RangeInput;
  readonly after: Uint8Array | undefined;
  readonly signal: AbortSignal;
  readonly retry: RetryPolicy;
  readonly time: WorkerTime;
  readonly onFailure: (failure: {
    readonly attempt: number;
    readonly waitMs: number | undefined;
    readonly cause: Redacted<unknown>;
  }) => void;
}

/** What a reading comes to next. */
export type Fetched<I extends Item> =
  | { readonly kind: "Batch"; readonly batch: ItemBatch<I> }
  | { readonly kind: "End" }
  | ReadFailure;

/**
 * The items of a shard, a batch at a time and one batch ahead.
 *
 * The batch ahead keeps the work from waiting for the source, and tells when the end is in
 * sight: a holder then knows exactly what it has left to share. A reading that fails is begun anew behind
 * the last key it gave.
 */
export class ShardReader<I extends Item> {
  readonly #options: ReaderOptions<I>;
  #iterator: AsyncIterator<ItemBatch<I>> | undefined;
  #end: Uint8Array;
  #lastKey: Uint8Array | undefined;
  #pending: Promise<Fetched<I>> | undefined;
  /** The batch ahead, once it is there. */
  #ahead: Fetched<I> | undefined;
  #isClosed = false;

  constructor(options: ReaderOptions<I>) {
    this.#options = options;
    this.#end = options.range.end;
    this.#lastKey = options.after;
  }

  /** The batch ahead, where it has arrived. */
  get ahead(): readonly I[] {
    return this.#ahead?.kind === "Batch" ? this.#ahead.batch.items : [];
  }

  /** Whether nothing comes behind `ahead`. */
  get isEndKnown(): boolean {
    return this.#ahead?.kind === "End";
  }

  /** The next batch, or the end, which is also what comes once the signal has fired. */
  async next(): Promise<Fetched<I>> {
    const fetched = this.#ahead ?? (await (this.#pending ?? this.#startFetch()));
    if (fetched.kind !== "Batch") return fetched;
    if (this.#options.signal.aborted) return { kind: "End" };
    this.#ahead = undefined;
    // Not waited for: it is there when the batch in hand is done.
    void this.#startFetch();
    return fetched;
  }

  /** Read no further than `end`: what lies behind it is another's now. */
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

  /** A batch without what lies at or above the end, and the end where nothing is left of it. */
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

  /** The next batch that holds anything, trying again where reading fails. */
  async #fetch(): Promise<Fetched<I>> {
    const { signal, retry, time, onFailure } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#read();
      } catch (cause) {
        this.#dropIterator();
        if (signal.aborted) return { kind: "End" };
        const isFinal = cause instanceof BrokenSource;
        const waitMs = isFinal
          ? undefined
          : pauseAfter(retry, { attempt, random: time.random(), leastMs: retryAfterOf(cause) });
        onFailure({ attempt, waitMs, cause: new Redacted(cause) });
        if (waitMs === undefined) return { kind: "ReadFailure", cause };
        if (!(await sleep(time, waitMs, signal))) return { kind: "End" };
      }
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

  /** Progress is one key, so a key that comes too late would be passed over for good. */
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
    // Nobody waits for it: a source that is slow to close must not hold the shard up.
    iterator?.return?.().then(undefined, () => undefined);
  }
}

/** The source gave what its contract excludes. Reading again would give it again. */
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
