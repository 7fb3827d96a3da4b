import type { ParkReason, RunStatus } from "@gossip/contracts";
import type { WorkerSession } from "@gossip/coordination";
import { assert, compareBytes, Redacted } from "@gossip/stdx";
import type { ShardSink, SkippedItem } from "../sinks/sink.ts";
import type { Item, ItemBatch, ItemProblem } from "../source/source.ts";
import type { ItemContext } from "./item-context.ts";
import { ItemFlow } from "./item-flow.ts";
import { parkReasonFor } from "./park-reason-for.ts";
import type { ShardHost } from "./shard-host.ts";
import { ShardReader, type Fetched } from "./shard-reader.ts";
import { ShardSplitter, type SharedWork } from "./shard-splitter.ts";
import { Upkeep, type Ending, type UpkeepListener } from "./upkeep.ts";
import { WorkStopped } from "./work-stopped.ts";
import type { LossCause } from "./worker-event.ts";
import { writeFenceOf } from "./write-fence.ts";

/** Why the work on a shard ends before its last item. */
export type ShardStop =
  | { readonly kind: "Shutdown" }
  | { readonly kind: "Park"; readonly reason: ParkReason }
  | { readonly kind: "RunEnded"; readonly status: RunStatus }
  | { readonly kind: "SinkFailed"; readonly cause: unknown }
  | { readonly kind: "Lost"; readonly cause: LossCause }
  /** An invariant was broken. */
  | { readonly kind: "Bug"; readonly error: unknown };

/** A stop replaces one of lower gravity: a shard that is being released can still turn out to be lost. */
const GRAVITY = { Shutdown: 0, Park: 0, RunEnded: 0, SinkFailed: 1, Lost: 2, Bug: 3 } as const satisfies Record<
  ShardStop["kind"],
  number
>;

const NO_ITEMS: readonly never[] = [];

/** Works on one shard, from the claim until the hold ends. */
export class ShardRunner<I extends Item, R> {
  readonly session: WorkerSession;
  readonly #host: ShardHost<I, R>;
  readonly #abort = new AbortController();
  readonly #flow: ItemFlow<I, R>;
  readonly #upkeep: Upkeep;
  readonly #reader: ShardReader<I>;
  readonly #splitter: ShardSplitter<I, R>;
  #sink: ShardSink<I, R> | undefined;
  #items = 0;
  #stop: ShardStop | undefined;
  #isLeft = false;
  #wake: (() => void) | undefined;
  /** The current batch, and how many of its items were started. */
  #batch: readonly I[] = NO_ITEMS;
  #begun = 0;
  #startedKey: Uint8Array | undefined;

  /** `askedMs` is when the shard was claimed. Its lease may have been running since then. */
  constructor(host: ShardHost<I, R>, session: WorkerSession, askedMs: number) {
    this.#host = host;
    this.session = session;
    const { settings, timing } = host;
    const { time } = settings;
    this.#startedKey = session.cursor.lastKey;
    this.#flow = new ItemFlow(host, makeContext(host, session, this.#abort.signal), {
      isHeldBack: () => this.#upkeep.isFlushing,
      onFinished: (item, result, isSkipped) => this.#finish(item, result, isSkipped),
      onPassed: (problem) => this.#pass(problem),
      onHopeless: (reason) => this.#halt({ kind: "Park", reason }),
      onChange: () => this.#poke(),
    });
    const { checkpoint: policy, leaseMs } = timing;
    const sink = settings.sink && { flush: () => this.#flushSink() };
    this.#upkeep = new Upkeep({ session, askedMs, sink, policy, leaseMs, time, listener: this.#upkeepListener() });
    this.#reader = this.#makeReader();
    this.#splitter = new ShardSplitter(host, session, this.#sharedWork());
  }

  get stopped(): ShardStop | undefined {
    return this.#stop;
  }

  get isSplitting(): boolean {
    return this.#splitter.isSplitting;
  }

  /** Work until the hold ends. Rejects only if an invariant is broken. */
  async run(): Promise<void> {
    const { counts, emit } = this.#host;
    const { session } = this;
    const { shard } = session.shardKey;
    counts.claimed++;
    emit({ kind: "ShardClaimed", shard, fence: session.lease.fence, isResumed: session.cursor.lastKey !== undefined });
    try {
      if (await this.#openSink()) await this.#work();
      await this.#leave();
      if (this.#stop?.kind === "Bug") throw this.#stop.error;
    } finally {
      this.#upkeep.abandon();
      this.#flow.drop();
      this.#reader.close();
      this.#isLeft = true;
      if (this.#stop !== undefined) this.#abortItems(this.#stop);
      await this.#closeSink();
    }
  }

  /** Start no more items, and release the shard. */
  shutDown(): void {
    this.#halt({ kind: "Shutdown" });
  }

  /** The run was ended. */
  endRun(status: RunStatus): void {
    this.#halt({ kind: "RunEnded", status });
  }

  /** Called regularly, independently of the items. */
  tick(nowMs: number): void {
    if (this.#upkeep.isDue(nowMs)) void this.#upkeep.keepUp();
  }

  // Reading and working.

  async #openSink(): Promise<boolean> {
    const { session } = this;
    try {
      this.#sink = await this.#host.settings.sink?.open({
        shard: session.shardKey,
        fence: session.lease.fence,
        token: session.cursor.token,
      });
    } catch (cause) {
      this.#halt({ kind: "SinkFailed", cause });
    }
    return this.#stop === undefined;
  }

  async #flushSink(): Promise<Uint8Array> {
    assert(this.#sink !== undefined, "there is nothing to flush before the sink is open");
    return this.#sink.flush();
  }

  async #closeSink(): Promise<void> {
    try {
      await this.#sink?.close();
    } catch {
      // Results that were not flushed may be lost, so a failed close changes nothing.
    }
  }

  async #work(): Promise<void> {
    while (this.#stop === undefined) {
      const next = await this.#nextBatch();
      if (next.kind === "End" || this.#stop !== undefined) break;
      if (next.kind === "ReadFailure")
        return this.#halt({ kind: "Park", reason: parkReasonFor(next.cause, "TooManyErrors") });
      await this.#workOn(next.batch);
    }
    this.#batch = NO_ITEMS;
    this.#begun = 0;
    while (this.#stop === undefined && (this.#flow.isBusy || !this.#flow.isDrained)) await this.#wait();
  }

  /** Returns the next batch, or the end as soon as the work has to stop, even if the source hangs. */
  async #nextBatch(): Promise<Fetched<I>> {
    let fetched: Fetched<I> | undefined;
    this.#reader.next().then(
      (next) => {
        fetched = next;
        this.#poke();
      },
      (error: unknown) => this.#halt({ kind: "Bug", error }),
    );
    while (fetched === undefined && this.#stop === undefined) await this.#wait();
    return fetched ?? { kind: "End" };
  }

  async #workOn({ items, problems = NO_ITEMS }: ItemBatch<I>): Promise<void> {
    const { time } = this.#host.settings;
    let told = 0;
    this.#batch = items;
    for (this.#begun = 0; this.#begun < items.length;) {
      const item = items[this.#begun]!;
      while (told < problems.length && compareBytes(problems[told]!.key, item.key) < 0)
        await this.#meet(problems[told++]!);
      while (this.#stop === undefined && !this.#mayBegin(item)) await this.#wait();
      if (this.#stop !== undefined || this.#splitter.isAbove(item.key)) return;
      this.#begun++;
      this.#startedKey = item.key;
      this.#flow.begin(item);
      const nowMs = time.nowMs();
      if (this.#upkeep.isDue(nowMs)) {
        await this.#upkeep.keepUp();
        // Yield first: the write is issued only once the event loop has had its turn.
        await this.#host.yieldToLoop();
      } else if (this.#host.isSliceOver(nowMs)) await this.#host.yieldToLoop();
    }
    while (told < problems.length && this.#stop === undefined) await this.#meet(problems[told++]!);
  }

  #mayBegin(item: I): boolean {
    return this.#flow.hasRoom && !(this.#splitter.isSplitting && this.#splitter.isAbove(item.key));
  }

  /**
   * The source has a problem at this key: park the shard before it, or skip the key at its position among the items.
   */
  async #meet(problem: ItemProblem): Promise<void> {
    const { key } = problem;
    const mustWait = (): boolean =>
      !this.#flow.canAddProblem || (this.#splitter.isSplitting && this.#splitter.isAbove(key));
    while (this.#stop === undefined && mustWait()) await this.#wait();
    if (this.#stop !== undefined || this.#splitter.isAbove(key)) return;
    if (this.#host.settings.onProblem === "park") {
      this.#report(problem);
      return this.#halt({ kind: "Park", reason: "Other" });
    }
    this.#startedKey = key;
    this.#flow.pass(problem);
  }

  #report({ key, reason }: ItemProblem): void {
    const { counts, emit } = this.#host;
    const { shard } = this.session.shardKey;
    counts.problems++;
    emit({ kind: "ItemProblem", shard, key: new Redacted(key), keySize: key.length, reason });
  }

  /** Everything before the problem is finished. The next checkpoint moves past it and records that it was skipped. */
  #pass(problem: ItemProblem): void {
    if (this.#stop?.kind === "SinkFailed") return;
    this.#report(problem);
    if (this.#skip({ kind: "Problem", ...problem })) this.#upkeep.advance(problem.key);
  }

  #skip(skipped: SkippedItem): boolean {
    try {
      this.#sink?.skip?.(skipped);
      return true;
    } catch (cause) {
      this.#halt({ kind: "SinkFailed", cause });
      return false;
    }
  }

  #finish(item: I, result: R | undefined, isSkipped: boolean): void {
    if (this.#stop?.kind === "SinkFailed") return;
    if (isSkipped) {
      if (!this.#skip({ kind: "Failure", key: item.key })) return;
    } else if (this.#sink !== undefined) {
      try {
        this.#sink.write(item, result as R);
      } catch (cause) {
        return this.#halt({ kind: "SinkFailed", cause });
      }
    }
    this.#upkeep.advance(item.key);
    this.#splitter.note(item.key);
    this.#items++;
    if (!isSkipped) this.#host.counts.items++;
  }

  // Sharing.

  expectedHandoverMs(nowMs: number): number {
    return this.#splitter.expectedHandoverMs(nowMs);
  }

  split(): Promise<void> {
    return this.#splitter.split();
  }

  // Stopping and leaving.

  #halt(stop: ShardStop): void {
    if (this.#stop !== undefined && GRAVITY[stop.kind] <= GRAVITY[this.#stop.kind]) return;
    this.#stop = stop;
    this.#flow.halt();
    // Items may finish while a shard is released or parked. In the other cases that is useless or not allowed.
    if (stop.kind !== "Shutdown" && stop.kind !== "Park") this.#abortItems(stop);
    if (GRAVITY[stop.kind] > 0) this.#upkeep.abandon();
    this.#poke();
  }

  #abortItems(stop: ShardStop): void {
    this.#flow.close();
    this.#abort.abort(new WorkStopped(stop.kind, stop.kind === "Lost" ? stop.cause : undefined));
  }

  async #leave(): Promise<void> {
    const stop = this.#stop;
    if (stop?.kind === "Shutdown" || stop?.kind === "Park") {
      await this.#letFinish();
      this.#abortItems(stop);
    }
    const { settings, timing } = this.#host;
    const ending = endingFor(this.#stop);
    // A worker that is stopping does not wait for an unavailable store: the lease expires by itself.
    const patienceMs = stop?.kind === "Shutdown" ? Math.min(settings.graceMs, timing.leaseMs) : timing.leaseMs;
    const isEnded = ending !== undefined && (await this.#upkeep.end(ending, patienceMs));
    if (isEnded) this.#tellOfEnding(ending);
    else await this.#tellOfLoss();
  }

  /** Wait for the started items, but not forever. */
  async #letFinish(): Promise<void> {
    let isOver = false;
    const { time, graceMs } = this.#host.settings;
    const cancel = time.startTimer(graceMs, () => {
      isOver = true;
      this.#poke();
    });
    while (!isOver && this.#flow.isBusy && !this.#abort.signal.aborted) await this.#wait();
    cancel();
  }

  #tellOfEnding(ending: Ending): void {
    const { counts, emit } = this.#host;
    const { shard } = this.session.shardKey;
    const items = this.#items;
    switch (ending.kind) {
      case "Complete":
        counts.completed++;
        return emit({ kind: "ShardCompleted", shard, items });
      case "Park":
        counts.parked++;
        return emit({ kind: "ShardParked", shard, items, reason: ending.reason });
      case "Release":
        counts.released++;
        return emit({ kind: "ShardReleased", shard, items });
    }
  }

  async #tellOfLoss(): Promise<void> {
    const { counts, emit } = this.#host;
    const { shard } = this.session.shardKey;
    const stop = this.#stop;
    if (stop?.kind === "SinkFailed") {
      emit({ kind: "SinkFailed", shard, cause: new Redacted(stop.cause) });
      // Drop items finished since the last checkpoint. If the release fails too, the lease expires.
      const released = await this.session.release();
      if (released.ok) return this.#tellOfEnding({ kind: "Release" });
    }
    counts.lost++;
    emit({ kind: "LeaseLost", shard, items: this.#items, cause: stop?.kind === "Lost" ? stop.cause : "Unconfirmed" });
  }

  // Parts.

  #upkeepListener(): UpkeepListener {
    const { emit } = this.#host;
    const { shard } = this.session.shardKey;
    return {
      onLost: (cause) => this.#halt({ kind: "Lost", cause }),
      onRunEnded: (status) => this.#halt({ kind: "RunEnded", status }),
      onSinkFailed: (cause) => this.#halt({ kind: "SinkFailed", cause }),
      onBug: (error) => this.#halt({ kind: "Bug", error }),
      onStoreFailed: (operation, error) => emit({ kind: "StoreFailed", shard, operation, error }),
      onCheckpoint: (items, ms) => emit({ kind: "ShardCheckpointed", shard, items, ms }),
      onRenewed: (askedMs) => this.#host.renewed(this.session, askedMs),
      onCapacity: (capacity) => this.#host.onCapacity(capacity),
      onFlushed: () => {
        this.#flow.drain();
        this.#poke();
      },
    };
  }

  #sharedWork(): SharedWork {
    return {
      signal: this.#abort.signal,
      startedKey: () => this.#startedKey,
      isEndKnown: () => this.#reader.isEndKnown,
      aheadCount: () => this.#batch.length - this.#begun + this.#reader.ahead.length,
      ahead: () => [...this.#batch.slice(this.#begun), ...this.#reader.ahead],
      isStopped: () => this.#stop !== undefined || this.#isLeft,
      onSplit: (end) => this.#reader.narrow(end),
      onSettled: () => this.#poke(),
      onRunEnded: (status) => this.#halt({ kind: "RunEnded", status }),
      onLost: (cause) => this.#halt({ kind: "Lost", cause }),
    };
  }

  #makeReader(): ShardReader<I> {
    const { spec, cursor, shardKey } = this.session;
    const { source, sourceRetry: retry, time } = this.#host.settings;
    return new ShardReader({
      source,
      range: { start: spec.keyRangeStart, end: spec.keyRangeEnd },
      after: cursor.lastKey,
      signal: this.#abort.signal,
      retry,
      time,
      onFailure: ({ attempt, waitMs, cause }) =>
        this.#host.emit({
          kind: "SourceFailed",
          shard: shardKey.shard,
          attempt,
          willRetry: waitMs !== undefined,
          waitMs: waitMs ?? 0,
          cause,
        }),
    });
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

/** How to end the hold after a stop. `undefined` if this worker no longer holds the shard. */
function endingFor(stop: ShardStop | undefined): Ending | undefined {
  switch (stop?.kind) {
    case undefined:
      return { kind: "Complete" };
    case "Park":
      return stop;
    case "Shutdown":
    case "RunEnded":
      return { kind: "Release" };
    case "SinkFailed":
    case "Lost":
    case "Bug":
      return undefined;
  }
}

function makeContext<I extends Item, R>(
  host: ShardHost<I, R>,
  session: WorkerSession,
  signal: AbortSignal,
): ItemContext {
  const shard = {
    key: session.shardKey,
    get spec() {
      return session.spec;
    },
  };
  const writeFence = writeFenceOf(session.lease, BigInt(host.timing.leaseMs));
  return { writeFence, fence: session.lease.fence, signal, shard, worker: host.settings.worker, attempt: 1 };
}
