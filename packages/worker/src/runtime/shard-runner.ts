import { setMaxListeners } from "node:events";
import type { ParkReason } from "@gossip/contracts";
import type { WorkerSession } from "@gossip/coordination";
import { Redacted } from "@gossip/stdx";
import type { ControlledShard } from "../limits/run-control.ts";
import type { Item, ItemProblem } from "../sources/source.ts";
import { CarefulStart } from "./careful-start.ts";
import type { GatedShard } from "./crash-gate.ts";
import { crashedItem, isSuspected, mayHaveMarker } from "./crash-suspicion.ts";
import { errorText } from "./error-text.ts";
import { reportEnding, reportLoss } from "./hold-report.ts";
import type { ItemFailure } from "./item-failure.ts";
import { ItemFeed } from "./item-feed.ts";
import { ItemFlow } from "./item-flow.ts";
import { makeItemContext } from "./make-item-context.ts";
import { parkReasonFor } from "./park-reason-for.ts";
import type { ShardHost } from "./shard-host.ts";
import { ShardReader } from "./shard-reader.ts";
import { ShardResults } from "./shard-results.ts";
import { ShardSplitter, type SharedWork } from "./shard-splitter.ts";
import { endingFor, GRAVITY, letsItemsFinish, type ShardStop } from "./shard-stop.ts";
import type { UpkeepListener } from "./upkeep-options.ts";
import { Upkeep } from "./upkeep.ts";
import { Wakeup } from "./wakeup.ts";
import { WorkStopped } from "./work-stopped.ts";

/** Works on one shard, from the claim until the hold ends. */
export class ShardRunner<I extends Item, R> implements GatedShard, ControlledShard {
  readonly session: WorkerSession;
  readonly splitter: ShardSplitter<I, R>;
  readonly #host: ShardHost<I, R>;
  readonly #abort = new AbortController();
  readonly #flow: ItemFlow<I, R>;
  readonly #upkeep: Upkeep;
  readonly #reader: ShardReader<I>;
  readonly #feed: ItemFeed<I, R>;
  readonly #results: ShardResults<I, R>;
  readonly #wakeup = new Wakeup();
  #items = 0;
  #stop: ShardStop | undefined;
  #isLeft = false;
  /** Set if earlier holders may have died of an item. */
  #careful: CarefulStart<I, R> | undefined;
  /** Progress cannot move past the next item: it has no result and is not skipped. */
  #isStuck = false;

  /** `askedMs` is when the shard was claimed. Its lease may have been running since then. */
  constructor(host: ShardHost<I, R>, session: WorkerSession, askedMs: number) {
    this.#host = host;
    this.session = session;
    const { settings, timing } = host;
    const { time } = settings;
    // Every item may listen, and many run at the same time.
    setMaxListeners(0, this.#abort.signal);
    this.#results = new ShardResults(settings.sink, (cause) => this.#halt({ kind: "SinkFailed", cause }));
    this.#flow = new ItemFlow(host, makeItemContext(host, session, this.#abort.signal), {
      isHeldBack: () => this.#upkeep.isHeldBack,
      onFinished: (item, result) => this.#finish(item, result),
      onSkipped: (item, failure) => this.#skip(item, failure),
      onPassed: (problem) => this.#pass(problem),
      onHopeless: (reason, item, { attempts, cause }) => this.#park(reason, { item: item.key, attempts, cause }),
      onChange: () => {
        this.#wakeup.poke();
        host.gate.changed();
      },
    });
    const { checkpoint: policy, leaseMs } = timing;
    const sink = settings.sink && this.#results;
    const { maxFailuresPerCheckpoint: maxFailures } = settings.coordinator;
    const listener = this.#upkeepListener();
    const { patienceMs, newOpId } = settings;
    const waiting = { patienceMs, time, listener, maxFailures, newOpId };
    this.#upkeep = new Upkeep({ session, askedMs, sink, policy, leaseMs, ...waiting });
    this.#reader = this.#makeReader();
    this.splitter = new ShardSplitter(host, session, this.#sharedWork());
    this.#feed = this.#makeFeed();
  }

  get stopped(): ShardStop | undefined {
    return this.#stop;
  }

  /** Work until the hold ends. Rejects only if an invariant is broken. */
  async run(): Promise<void> {
    const { counts, emit } = this.#host;
    const { session } = this;
    const { shard } = session.shardKey;
    counts.claimed++;
    emit({ kind: "ShardClaimed", shard, fence: session.lease.fence, isResumed: session.cursor.lastKey !== undefined });
    try {
      await this.#results.open(session);
      if (this.#stop === undefined) await this.#lookForCrashes();
      if (this.#stop === undefined) await this.#feed.run();
      // Before the shard is given up: the next holder must not take the marker for that of a crash.
      if (this.#stop?.kind !== "Lost") await this.#careful?.end();
      await this.#leave();
      if (this.#stop?.kind === "Bug") throw this.#stop.error;
    } finally {
      this.#host.gate.release(this);
      this.#upkeep.abandon();
      this.#flow.drop();
      this.#reader.close();
      this.splitter.close();
      this.#isLeft = true;
      if (this.#stop !== undefined) this.#abortItems(this.#stop);
      await this.#results.close();
    }
  }

  /** Whether items are in flight. */
  get isBusy(): boolean {
    return this.#flow.isBusy;
  }

  get inFlight(): number {
    return this.#flow.inFlight;
  }

  get capacity(): number {
    return this.#flow.capacity;
  }

  onGateChange(): void {
    this.#wakeup.poke();
  }

  /** Find out whether earlier holders died of an item of this shard. */
  async #lookForCrashes(): Promise<void> {
    const { session } = this;
    if (!mayHaveMarker(session)) return;
    const { coordinator } = this.#host.settings;
    const marker = await coordinator.getMarker({ tenant: session.tenant, key: session.shardKey });
    const item = marker.ok ? crashedItem(marker.value, session) : undefined;
    if (item !== undefined) return this.#feed.setAside(item);
    if (!isSuspected(session)) return;
    const { gate } = this.#host;
    const [flow, upkeep, wakeup] = [this.#flow, this.#upkeep, this.#wakeup];
    const isStopped = (): boolean => this.#stop !== undefined;
    this.#careful = new CarefulStart(this.#host, { session, flow, upkeep, wakeup, gate, shard: this, isStopped });
    this.#feed.beCareful(this.#careful);
  }

  /** Start no more items, and release the shard. */
  stop(stop: Extract<ShardStop, { readonly kind: "Shutdown" | "Pause" | "RunEnded" }>): void {
    this.#halt(stop);
  }

  /** Called regularly, independently of the items. */
  tick(nowMs: number): void {
    if (this.#upkeep.isDue(nowMs)) void this.#upkeep.keepUp();
  }

  // Finished items.

  #report({ key, reason }: ItemProblem): void {
    const { counts, emit } = this.#host;
    const { shard } = this.session.shardKey;
    counts.problems++;
    emit({ kind: "ItemProblem", shard, key: new Redacted(key), keySize: key.length, reason });
  }

  /** Everything before the problem is finished. The next checkpoint moves past it and records that it was skipped. */
  #pass(problem: ItemProblem): void {
    if (this.#isStuck) return;
    this.#report(problem);
    const { key, reason } = problem;
    if (this.#results.skip({ kind: "Problem", key, reason }))
      this.#upkeep.skip({
        key,
        attempts: 1,
        reason: "Unreadable",
        error: reason,
        workerName: this.#host.settings.name,
      });
    else this.#isStuck = true;
  }

  #finish(item: I, result: R): void {
    if (this.#isStuck) return;
    const notWritten = this.#results.write(item, result);
    if (notWritten === undefined) {
      this.#host.counts.items++;
      this.#upkeep.advance(item);
      this.#noteItem(item);
    } else if (notWritten.isRefused) this.#refuse(item, notWritten.cause);
    else this.#isStuck = true;
  }

  /** The sink cannot store the result of this item. Another attempt would give the same result. */
  #refuse(item: I, cause: unknown): void {
    const { settings, counts, emit } = this.#host;
    const { key } = item;
    counts.failures++;
    const failed = { shard: this.session.shardKey.shard, attempt: 1, willRetry: false, waitMs: 0, keySize: key.length };
    emit({
      kind: "ItemFailed",
      ...failed,
      item: new Redacted(item),
      key: new Redacted(key),
      cause: new Redacted(cause),
    });
    if (settings.onItemFailure === "skip") return this.#skip(item, { attempts: 1, reason: "ResultRefused", cause });
    this.#isStuck = true;
    this.#park("Poisoned", { item: key, attempts: 1, cause });
  }

  #skip(item: I, { attempts, reason, cause }: ItemFailure): void {
    if (this.#isStuck) return;
    const { key } = item;
    if (!this.#results.skip({ kind: "Failure", key, item, attempts, cause })) {
      this.#isStuck = true;
      return;
    }
    this.#upkeep.skip({ key, attempts, reason, error: errorText(cause), workerName: this.#host.settings.name });
    this.#noteItem(item);
  }

  #noteItem(item: I): void {
    this.splitter.note(item);
    this.#items++;
  }

  // Stopping and leaving.

  #park(
    reason: ParkReason,
    { item, attempts, cause }: { readonly item?: Uint8Array; readonly attempts: number; readonly cause: unknown },
  ): void {
    const { name: workerName } = this.#host.settings;
    this.#halt({ kind: "Park", reason, detail: { item, attempts, error: errorText(cause), workerName } });
  }

  #halt(stop: ShardStop): void {
    // Results written from now on would be stored after results that were not.
    if (stop.kind === "SinkFailed") this.#isStuck = true;
    if (this.#stop !== undefined && GRAVITY[stop.kind] <= GRAVITY[this.#stop.kind]) return;
    this.#stop = stop;
    this.#flow.halt();
    if (!letsItemsFinish(stop)) this.#abortItems(stop);
    if (GRAVITY[stop.kind] > 0) this.#upkeep.abandon();
    this.#wakeup.poke();
  }

  #abortItems(stop: ShardStop): void {
    this.#flow.close();
    this.#abort.abort(new WorkStopped(stop.kind, stop.kind === "Lost" ? stop.cause : undefined));
  }

  async #leave(): Promise<void> {
    if (this.#stop !== undefined && letsItemsFinish(this.#stop)) {
      await this.#letFinish();
      this.#abortItems(this.#stop);
    }
    const { settings, timing } = this.#host;
    const stop = this.#stop;
    const ending = endingFor(stop);
    // A worker that is stopping does not wait for an unavailable store: the lease expires by itself.
    const hurryMs = stop?.kind === "Shutdown" ? Math.min(settings.graceMs, timing.leaseMs) : undefined;
    const isEnded = ending !== undefined && (await this.#upkeep.end(ending, hurryMs));
    if (isEnded) reportEnding(this.#host, { shard: this.session.shardKey.shard, items: this.#items }, ending);
    else await this.#lose();
  }

  /** Wait for the started items: without a limit during a pause, otherwise for the grace period. */
  async #letFinish(): Promise<void> {
    let isOver = false;
    let cancel: (() => void) | undefined;
    const { time, graceMs } = this.#host.settings;
    while (!isOver && this.#flow.isBusy && !this.#abort.signal.aborted) {
      if (this.#stop?.kind !== "Pause")
        cancel ??= time.startTimer(graceMs, () => {
          isOver = true;
          this.#wakeup.poke();
        });
      await this.#wakeup.wait();
    }
    cancel?.();
  }

  async #lose(): Promise<void> {
    const { shard } = this.session.shardKey;
    const stop = this.#stop;
    if (stop?.kind === "SinkFailed") {
      this.#host.emit({ kind: "SinkFailed", shard, cause: new Redacted(stop.cause) });
      // Drop items finished since the last checkpoint. If the release fails too, the lease expires.
      const released = await this.session.release();
      if (released.ok) return reportEnding(this.#host, { shard, items: this.#items }, { kind: "Release" });
    }
    reportLoss(this.#host, { shard, items: this.#items }, stop?.kind === "Lost" ? stop.cause : "Unconfirmed");
  }

  // Parts.

  #upkeepListener(): UpkeepListener {
    const { emit } = this.#host;
    const { shard } = this.session.shardKey;
    return {
      onLost: (cause) => this.#halt({ kind: "Lost", cause }),
      onRunEnded: (status) => this.#halt({ kind: "RunEnded", status }),
      onSinkFailed: (cause) => this.#halt({ kind: "SinkFailed", cause }),
      onSinkFull: () => void this.#host.sink.failed(),
      onSinkWorked: () => this.#host.sink.worked(),
      onBug: (error) => this.#halt({ kind: "Bug", error }),
      onStoreFailed: (operation, error) => {
        emit({ kind: "StoreFailed", shard, operation, error });
        this.#host.store.failed();
      },
      onStoreWorked: (operation, ms) => this.#host.storeWorked(operation, ms),
      onCheckpoint: (items, ms) => emit({ kind: "ShardCheckpointed", shard, items, ms }),
      onRenewed: (askedMs) => this.#host.renewed(this.session, askedMs),
      onCompleting: () => this.#host.completing(this.session),
      onCapacity: (capacity) => this.#host.onCapacity(capacity),
      onFlushed: () => {
        this.#flow.drain();
        this.#wakeup.poke();
      },
    };
  }

  #sharedWork(): SharedWork {
    return {
      signal: this.#abort.signal,
      startedKey: () => this.#feed.startedKey,
      workingSinceMs: () => this.#feed.workingSinceMs,
      isCareful: () => this.#feed.isCareful,
      isEndKnown: () => this.#reader.isEndKnown,
      aheadCount: () => this.#feed.aheadCount,
      ahead: () => this.#feed.ahead(),
      isStopped: () => this.#stop !== undefined || this.#isLeft,
      onSplit: (end) => {
        this.#feed.narrow(end);
        this.#reader.narrow(end);
      },
      onSettled: () => this.#wakeup.poke(),
      onRunEnded: (status) => this.#halt({ kind: "RunEnded", status }),
      onLost: (cause) => this.#halt({ kind: "Lost", cause }),
    };
  }

  #makeReader(): ShardReader<I> {
    const { spec, cursor, shardKey } = this.session;
    const { source, sourceRetry: retry, time, patienceMs, classifyFailure } = this.#host.settings;
    return new ShardReader({
      source,
      range: { start: spec.keyRangeStart, end: spec.keyRangeEnd },
      after: cursor.lastKey,
      signal: this.#abort.signal,
      retry,
      patienceMs,
      classifyFailure,
      outage: this.#host.source,
      time,
      hold: (ms) => this.#host.limiter.hold(ms),
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

  #makeFeed(): ItemFeed<I, R> {
    return new ItemFeed(this.#host, this.session.cursor.lastKey, {
      reader: this.#reader,
      flow: this.#flow,
      splitter: this.splitter,
      upkeep: this.#upkeep,
      wakeup: this.#wakeup,
      gate: this.#host.gate,
      shard: this,
      isStopped: () => this.#stop !== undefined,
      onProblem: (problem) => {
        this.#report(problem);
        this.#park("Other", { item: problem.key, attempts: 1, cause: problem.reason });
      },
      onReadFailure: ({ isOutage, attempts, cause }) => {
        if (isOutage) this.#halt({ kind: "SourceFailed", cause });
        else this.#park(parkReasonFor(cause, "TooManyErrors"), { attempts, cause });
      },
      onBug: (error) => this.#halt({ kind: "Bug", error }),
    });
  }
}
