import type { ParkReason, RunStatus } from "@gossip/contracts";
import type { WorkerSession } from "@gossip/coordination";
import { compareBytes, Redacted } from "@gossip/stdx";
import { pauseAfter } from "../policy/retry-policy.ts";
import type { ShardSink } from "../sink/sink.ts";
import type { Item, ItemBatch, ItemProblem } from "../source/source.ts";
import { FinishedPrefix, type Place } from "../window/finished-prefix.ts";
import type { ItemContext } from "./item-context.ts";
import { parkReasonFor } from "./park-reason-for.ts";
import { ParkShard } from "./park-shard.ts";
import type { ShardHost } from "./shard-host.ts";
import { ShardReader, type ReadFailure } from "./shard-reader.ts";
import { Upkeep, type Ending } from "./upkeep.ts";
import type { LossCause } from "./worker-event.ts";

/** What makes the work on a shard end before its last item. */
export type ShardStop =
  | { readonly kind: "Shutdown" }
  | { readonly kind: "Park"; readonly reason: ParkReason }
  | { readonly kind: "RunEnded"; readonly status: RunStatus }
  | { readonly kind: "SinkFailed"; readonly cause: unknown }
  | { readonly kind: "Lost"; readonly cause: LossCause };

/** Results that may wait behind an unfinished item, for each item that may be worked on at once. */
const WINDOW_PER_ITEM = 16;
const MIN_WINDOW = 64;

/**
 * Works on one shard, from the claim to whatever ends the hold.
 *
 * Items are begun in order, as many at once as is allowed. Where `process` answers at once nothing is
 * allocated and nothing waited for: the item is finished when the call is. Otherwise it has
 * a place in a window until everything before it is finished too.
 */
export class ShardRunner<I extends Item, R> {
  readonly session: WorkerSession;
  readonly #host: ShardHost<I, R>;
  readonly #abort = new AbortController();
  readonly #window: FinishedPrefix<I, R>;
  readonly #context: ItemContext;
  readonly #pauses = new Set<() => void>();
  #sink: ShardSink<I, R> | undefined;
  #upkeep!: Upkeep;
  #reader!: ShardReader<I>;
  #inFlight = 0;
  #items = 0;
  #stop: ShardStop | undefined;
  #wake: (() => void) | undefined;

  constructor(host: ShardHost<I, R>, session: WorkerSession) {
    this.#host = host;
    this.session = session;
    const { itemConcurrency, worker } = host.settings;
    this.#window = new FinishedPrefix(Math.max(MIN_WINDOW, itemConcurrency * WINDOW_PER_ITEM));
    const { signal } = this.#abort;
    const shard = {
      key: session.shardKey,
      get spec() {
        return session.spec;
      },
    };
    this.#context = { fence: session.lease.fence, signal, shard, worker, attempt: 1 };
  }

  get stopped(): ShardStop | undefined {
    return this.#stop;
  }

  /** Work until the shard is left. Rejects only where the program is wrong. */
  async run(): Promise<void> {
    const { counts, emit } = this.#host;
    const { session } = this;
    const { shard } = session.shardKey;
    counts.claimed++;
    emit({ kind: "ShardClaimed", shard, fence: session.lease.fence, isResumed: session.cursor.lastKey !== undefined });
    try {
      if (await this.#open()) await this.#work();
      await this.#leave();
    } finally {
      this.#upkeep?.abandon();
      this.#reader?.close();
      if (this.#stop !== undefined) this.#abort.abort(this.#stop);
      // What was not flushed may be dropped, so that it cannot be closed properly changes nothing.
      await this.#sink?.close().catch(() => undefined);
    }
  }

  /** Begin nothing more, and give the shard back. */
  shutDown(): void {
    this.#halt({ kind: "Shutdown" });
  }

  /** Called every so often, whatever the items do. */
  tick(nowMs: number): void {
    if (this.#upkeep?.isDue(nowMs) === true) void this.#upkeep.keepUp();
  }

  async #open(): Promise<boolean> {
    const { session } = this;
    const { settings, timing } = this.#host;
    const { key: shard } = this.#context.shard;
    try {
      const { fence } = session.lease;
      this.#sink = await settings.sink?.open({ shard, fence, token: session.cursor.token });
    } catch (cause) {
      this.#halt({ kind: "SinkFailed", cause });
    }
    const { time } = settings;
    this.#upkeep = new Upkeep({ session, sink: this.#sink, policy: timing.checkpoint, leaseMs: timing.leaseMs, time, listener: this.#upkeepListener() });
    const { keyRangeStart: start, keyRangeEnd: end } = session.spec;
    this.#reader = new ShardReader({
      source: settings.source,
      range: { start, end },
      after: session.cursor.lastKey,
      signal: this.#abort.signal,
      retry: settings.sourceRetry,
      time,
      onFailure: ({ attempt, waitMs, cause }) =>
        this.#host.emit({ kind: "SourceFailed", shard: shard.shard, attempt, willRetry: waitMs !== undefined, waitMs: waitMs ?? 0, cause }),
    });
    return this.#stop === undefined;
  }

  #upkeepListener(): ConstructorParameters<typeof Upkeep>[0]["listener"] {
    const { emit } = this.#host;
    const { shard } = this.#context.shard.key;
    return {
      onLost: (cause) => this.#halt({ kind: "Lost", cause }),
      onRunEnded: (status) => this.#halt({ kind: "RunEnded", status }),
      onSinkFailed: (cause) => this.#halt({ kind: "SinkFailed", cause }),
      onStoreFailed: (operation, error) => emit({ kind: "StoreFailed", shard, operation, error }),
      onCheckpoint: (items, ms) => emit({ kind: "ShardCheckpointed", shard, items, ms }),
      onCapacity: (capacity) => this.#host.heardOf(capacity),
      onFlushed: () => {
        this.#drain();
        this.#poke();
      },
    };
  }

  async #work(): Promise<void> {
    for (;;) {
      const batch = await this.#nextBatch();
      if (this.#stop !== undefined) return;
      if (batch === undefined) break;
      if ("kind" in batch) return this.#halt({ kind: "Park", reason: parkReasonFor(batch.cause, "TooManyErrors") });
      await this.#workOn(batch);
      if (this.#stop !== undefined) return;
    }
    while (this.#stop === undefined && !(this.#window.isEmpty && this.#inFlight === 0)) await this.#wait();
  }

  /** The next batch, or nothing as soon as the work has to stop, however long the source takes. */
  async #nextBatch(): Promise<ItemBatch<I> | ReadFailure | undefined> {
    let batch: ItemBatch<I> | ReadFailure | undefined;
    let isHere = false;
    void this.#reader.next().then((next) => {
      batch = next;
      isHere = true;
      this.#poke();
    });
    while (!isHere && this.#stop === undefined) await this.#wait();
    return batch;
  }

  async #workOn({ items, problems = [] }: ItemBatch<I>): Promise<void> {
    const { settings } = this.#host;
    const { time } = settings;
    let told = 0;
    for (const item of items) {
      while (told < problems.length && compareBytes(problems[told]!.key, item.key) < 0) this.#tell(problems[told++]!);
      while (this.#stop === undefined && !this.#mayBegin()) await this.#wait();
      if (this.#stop !== undefined) return;
      this.#begin(item);
      const nowMs = time.nowMs();
      if (this.#upkeep.isDue(nowMs)) {
        await this.#upkeep.keepUp();
        await this.#host.yieldToLoop();
      } else if (this.#host.isSliceOver(nowMs)) await this.#host.yieldToLoop();
    }
    while (told < problems.length && this.#stop === undefined) this.#tell(problems[told++]!);
  }

  #tell({ key, reason }: ItemProblem): void {
    const { counts, emit, settings } = this.#host;
    counts.problems++;
    emit({ kind: "ItemProblem", shard: this.session.shardKey.shard, key: new Redacted(key), keySize: key.length, reason });
    if (settings.onProblem === "park") this.#halt({ kind: "Park", reason: "Other" });
  }

  #mayBegin(): boolean {
    return this.#inFlight < this.#host.settings.itemConcurrency && !this.#window.isFull;
  }

  #begin(item: I): void {
    let answer: R | PromiseLike<R>;
    try {
      answer = this.#host.settings.process(item, this.#context);
    } catch (cause) {
      this.#inFlight++;
      this.#fail({ item, place: this.#window.open(item), attempt: 1 }, cause);
      return;
    }
    if (isPromiseLike(answer)) {
      this.#inFlight++;
      this.#follow({ item, place: this.#window.open(item), attempt: 1 }, answer);
    } else if (this.#window.isEmpty && !this.#upkeep.isFlushing) {
      this.#take(item, answer, false);
    } else {
      this.#window.finish(this.#window.open(item), answer);
      this.#drain();
    }
  }

  #follow(trial: Trial<I>, answer: PromiseLike<R>): void {
    answer.then(
      (result) => {
        this.#inFlight--;
        if (this.#window.finish(trial.place, result)) this.#drain();
        this.#poke();
      },
      (cause: unknown) => this.#fail(trial, cause),
    );
  }

  #fail(trial: Trial<I>, cause: unknown): void {
    const { settings, counts, emit } = this.#host;
    const { item, place, attempt } = trial;
    this.#inFlight--;
    if (this.#stop !== undefined) return this.#poke();
    const isFinal = cause instanceof ParkShard;
    const waitMs = isFinal ? undefined : pauseAfter(settings.itemRetry, attempt, settings.time.random());
    const willRetry = waitMs !== undefined;
    const { shard } = this.session.shardKey;
    emit({ kind: "ItemFailed", shard, attempt, willRetry, waitMs: waitMs ?? 0, key: new Redacted(item.key), keySize: item.key.length, cause: new Redacted(cause) });
    if (willRetry) return this.#tryAgain(trial, waitMs);
    counts.failures++;
    if (isFinal || settings.onItemFailure !== "skip") return this.#halt({ kind: "Park", reason: parkReasonFor(cause, "Poisoned") });
    this.#window.skip(place);
    this.#drain();
    this.#poke();
  }

  #tryAgain({ item, place, attempt }: Trial<I>, waitMs: number): void {
    const { settings, counts } = this.#host;
    counts.retries++;
    this.#inFlight++;
    const cancel = settings.time.startTimer(waitMs, () => {
      this.#pauses.delete(cancel);
      const trial = { item, place, attempt: attempt + 1 };
      try {
        const answer = settings.process(item, { ...this.#context, attempt: attempt + 1 });
        this.#follow(trial, isPromiseLike(answer) ? answer : Promise.resolve(answer));
      } catch (cause) {
        this.#fail(trial, cause);
      }
    });
    this.#pauses.add(cancel);
  }

  #drain(): void {
    if (!this.#upkeep.isFlushing) this.#window.drain(this.#take);
  }

  // One function for the life of the shard: it is called for every item.
  readonly #take = (item: I, result: R | undefined, isSkipped: boolean): void => {
    if (this.#stop?.kind === "SinkFailed") return;
    if (!isSkipped && this.#sink !== undefined) {
      try {
        this.#sink.write(item, result as R);
      } catch (cause) {
        return this.#halt({ kind: "SinkFailed", cause });
      }
    }
    this.#upkeep.advance(item.key);
    this.#items++;
    this.#host.counts.items++;
  };

  #halt(stop: ShardStop): void {
    const isWorse = stop.kind === "Lost" || stop.kind === "SinkFailed";
    if (this.#stop !== undefined && !isWorse) return;
    this.#stop = stop;
    for (const cancel of this.#pauses) {
      cancel();
      this.#inFlight--;
    }
    this.#pauses.clear();
    if (stop.kind !== "Shutdown" && stop.kind !== "Park") this.#abort.abort(stop);
    this.#poke();
  }

  async #leave(): Promise<void> {
    const stop = this.#stop;
    if (stop === undefined) return this.#end({ kind: "Complete" });
    const { settings, counts, emit } = this.#host;
    const { shard } = this.session.shardKey;
    switch (stop.kind) {
      case "Shutdown":
      case "Park":
        await this.#letFinish(settings.graceMs);
        this.#abort.abort(stop);
        return this.#end(stop.kind === "Park" ? stop : { kind: "Release" });
      case "RunEnded":
        return this.#end({ kind: "Release" });
      case "SinkFailed":
        emit({ kind: "SinkFailed", shard, cause: new Redacted(stop.cause) });
        // Nothing that was finished counts. Giving the shard back is a courtesy: the lease runs out anyway.
        void (await this.session.release());
        counts.released++;
        return;
      case "Lost":
        counts.lost++;
        emit({ kind: "LeaseLost", shard, items: this.#items, cause: stop.cause });
    }
  }

  /** Wait for what was begun, but not for ever. */
  async #letFinish(graceMs: number): Promise<void> {
    let isOver = false;
    const cancel = this.#host.settings.time.startTimer(graceMs, () => {
      isOver = true;
      this.#poke();
    });
    while (!isOver && this.#inFlight > 0 && this.#stop?.kind !== "Lost") await this.#wait();
    cancel();
  }

  async #end(ending: Ending): Promise<void> {
    const { counts, emit } = this.#host;
    const { shard } = this.session.shardKey;
    if (!(await this.#upkeep.end(ending))) {
      // Ending it has shown that there was nothing left to end, or that its results cannot be stored.
      if (this.#stop !== undefined && this.#stop.kind !== ending.kind) await this.#leaveLost();
      return;
    }
    switch (ending.kind) {
      case "Complete":
        counts.completed++;
        emit({ kind: "ShardCompleted", shard, items: this.#items });
        break;
      case "Park":
        counts.parked++;
        emit({ kind: "ShardParked", shard, items: this.#items, reason: ending.reason });
        break;
      case "Release":
        counts.released++;
        emit({ kind: "ShardReleased", shard, items: this.#items });
    }
    this.#host.offer();
  }

  async #leaveLost(): Promise<void> {
    if (this.#stop?.kind === "Lost" || this.#stop?.kind === "SinkFailed") await this.#leave();
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #poke(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

/** One call of `process`. */
interface Trial<I> {
  readonly item: I;
  readonly place: Place;
  readonly attempt: number;
}

function isPromiseLike<R>(answer: R | PromiseLike<R>): answer is PromiseLike<R> {
  return typeof answer === "object" && answer !== null && typeof (answer as PromiseLike<R>).then === "function";
}
