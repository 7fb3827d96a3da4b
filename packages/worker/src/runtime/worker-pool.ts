import type { OpId, ShardId } from "@gossip/contracts";
import type { CapacityHint, CoordinationEvent, EventKind, WorkerSession } from "@gossip/coordination";
import { InfraError, type ClaimError, type GetRunError } from "@gossip/coordination-errors";
import { Redacted } from "@gossip/stdx";
import type { LeaseKeeper } from "../keeper/lease-keeper.ts";
import type { FleetLimiter } from "../limits/fleet-limiter.ts";
import { RunControl } from "../limits/run-control.ts";
import { ClaimBackoff } from "../policy/claim-backoff.ts";
import type { Item } from "../sources/source.ts";
import type { Observer } from "../telemetry/observer.ts";
import { CoordinatorTime } from "./coordinator-time.ts";
import { FailureWatch } from "./failure-watch.ts";
import { Outage } from "./outage.ts";
import { Registration } from "./registration.ts";
import { CrashGate } from "./crash-gate.ts";
import { RunCounts } from "./run-counts.ts";
import type { RunTiming, Settings } from "./settings.ts";
import type { ShardHost } from "./shard-host.ts";
import { ShardRunner } from "./shard-runner.ts";
import { startTicker } from "./ticker.ts";
import { WorkSharing } from "./work-sharing.ts";
import type { WorkerEvent } from "./worker-event.ts";
import type { StopReason, WorkerProgress, WorkerSummary } from "./worker-summary.ts";

/** How long the work may run before it yields to the event loop. */
const SLICE_MS = 10;
const MAX_TICK_MS = 250;
const MAX_UNNOTICED_BLOCK_MS = 1000;

/** Events after which more may be claimable. */
const OFFERS: ReadonlySet<EventKind> = /* @__PURE__ */ new Set([
  "ShardReleased",
  "ShardResidualCreated",
  "ShardSplit",
  "ShardUnparked",
] as const);

/** What a pool needs besides its settings. */
export interface PoolParts {
  readonly timing: RunTiming;
  readonly observer: Observer;
  /** Renews leases while the loop is blocked, if enabled. */
  readonly keeper: Pick<LeaseKeeper, "hold" | "renewed" | "drop" | "beat" | "started"> | undefined;
  readonly store: Outage;
}

/** Keeps as many shards in work as there are workers, until nothing is left to claim or a reason to stop comes up. */
export class WorkerPool<I extends Item, R> implements ShardHost<I, R> {
  readonly settings: Settings<I, R>;
  readonly timing: RunTiming;
  readonly counts = new RunCounts();
  readonly store: Outage;
  readonly source: Outage;
  readonly sink: Outage;
  readonly gate: CrashGate;
  readonly onItemStart: ((key: Uint8Array) => void) | undefined;
  readonly #runners = new Set<ShardRunner<I, R>>();
  readonly #backoff = new ClaimBackoff();
  readonly #coordinatorTime = new CoordinatorTime();
  readonly #sharing: WorkSharing;
  readonly #failures: FailureWatch;
  readonly #control: RunControl;
  readonly #observer: Observer;
  readonly #keeper: PoolParts["keeper"];
  /** Shards that are being completed. They take no worker's time. */
  readonly #completing = new Set<WorkerSession>();
  readonly #slots = new Map<WorkerSession, number>();
  readonly #startMs: number;
  #sliceStartMs: number;
  #reportedMs: number;
  #stop: StopReason | undefined;
  #bug: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;
  #hasOffer = false;
  /** The last claim, if its outcome is unknown. */
  #lostClaim: { readonly opId: OpId; readonly firstMs: number } | undefined;
  /** Workers that are waiting because nothing could be claimed. */
  #idleWorkers = 0;

  constructor(settings: Settings<I, R>, { timing, observer, keeper, store }: PoolParts) {
    this.settings = settings;
    this.timing = timing;
    this.#observer = observer;
    this.#keeper = keeper;
    this.onItemStart = keeper && ((key) => keeper.started(key));
    this.store = store;
    this.gate = new CrashGate(this.#runners, () => this.#poke());
    this.sink = new Outage(settings.time, {
      onStart: () => this.emit({ kind: "SinkUnavailable" }),
      onEnd: (afterMs) => this.emit({ kind: "SinkBack", afterMs }),
    });
    this.source = new Outage(settings.time, {
      onStart: () => this.emit({ kind: "SourceUnavailable" }),
      onEnd: (afterMs) => this.emit({ kind: "SourceBack", afterMs }),
    });
    const { time } = settings;
    this.#startMs = this.#sliceStartMs = this.#reportedMs = time.nowMs();
    this.#sharing = new WorkSharing({
      time,
      ask: () => this.#askCapacity(),
      ownDeadlines: () => [...this.#runners].map(({ session }) => session.lease.deadline),
      onWanted: () => this.#share(),
      onBug: (error) => this.#fail(error),
    });
    this.#failures = new FailureWatch(settings, this.counts, {
      onTooMany: (failures) => this.#halt({ kind: "TooManyFailures", failures }),
      onBug: (error) => this.#fail(error),
    });
    this.#control = new RunControl(settings, this.#runners, {
      emit: this.emit,
      onResumed: () => {
        this.#backoff.reset();
        this.#poke();
      },
      onEnded: (status) => this.#halt({ kind: "RunTerminal", status }),
      onFailed: (error) => this.#storeFailed(error, "getRunSettings"),
      onWorked: () => this.store.worked(),
      onBug: (error) => this.#fail(error),
    });
  }

  /** The shards in work. */
  heldShards(): ShardId[] {
    return [...this.#runners].map(({ session }) => session.shardKey.shard);
  }

  async run(): Promise<WorkerSummary> {
    const { coordinator, signal } = this.settings;
    const onAbort = (): void => this.#halt({ kind: "Aborted" });
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    const stopListening = coordinator.onEvent((event) => this.#overhear(event));
    const stopTicking = this.#startTicking();
    const registration = this.#register();
    try {
      await this.#control.start();
      await this.#claimUntilDone().catch((error: unknown) => this.#fail(error));
      while (this.#runners.size > 0) await this.#wait(undefined);
      // A store that is unavailable is not waited for: the entry expires by itself.
      if (this.store.ms === undefined) await Promise.all([registration.close(), this.limiter.close()]);
    } finally {
      registration.stop();
      this.#control.stop();
      stopTicking();
      stopListening();
      signal?.removeEventListener("abort", onAbort);
    }
    if (this.#bug !== undefined) throw this.#bug.error;
    this.#report();
    return { ...this.#progress(), stopped: this.#stop ?? { kind: "Done" } };
  }

  // What the work on a shard asks for.

  get limiter(): FleetLimiter {
    return this.#control.limiter;
  }

  readonly emit = (event: WorkerEvent): void => {
    this.#observer.event(event);
    if (event.kind === "ItemProblem" || (event.kind === "ItemFailed" && !event.willRetry)) this.#failures.check();
  };

  renewed(session: WorkerSession, askedMs: number): void {
    const slot = this.#slots.get(session);
    if (slot !== undefined) this.#keeper?.renewed(slot, this.#agoMs(askedMs));
    this.#observe(session, askedMs);
  }

  storeWorked(operation: string, ms: number): void {
    this.store.worked();
    this.#observer.storeCall(operation, ms);
  }

  completing(session: WorkerSession): void {
    // A claim that finds nothing costs reads, so it waits for the write unless there was more to claim.
    if (!this.#sharing.hasMore || this.#completing.size >= this.settings.concurrency) return;
    this.#completing.add(session);
    this.#poke();
  }

  onCapacity(capacity: CapacityHint): void {
    this.#sharing.observe(capacity);
  }

  isSliceOver(nowMs: number): boolean {
    return nowMs - this.#sliceStartMs >= SLICE_MS;
  }

  async yieldToLoop(): Promise<void> {
    await this.settings.time.yieldToLoop();
    this.#sliceStartMs = this.settings.time.nowMs();
  }

  // Claiming.

  async #claimUntilDone(): Promise<void> {
    const { concurrency, coordinator, run, worker } = this.settings;
    while (this.#stop === undefined) {
      const busy = this.#runners.size - this.#completing.size;
      // While a suspected shard runs alone, other processes can have the rest.
      const free = this.gate.isTaken || this.#control.isPaused ? 0 : concurrency - busy;
      if (free === 0) {
        await this.#wait(undefined);
        continue;
      }
      this.#hasOffer = false;
      const askedMs = this.settings.time.nowMs();
      const { opId, firstMs } = this.#lostClaim ?? { opId: this.settings.newOpId(), firstMs: askedMs };
      const isRepeat = this.#lostClaim !== undefined;
      const markStarved = this.#completing.size === 0;
      const claimed = await coordinator.claimMany({ ...run, worker, count: free, markStarved, opId, isRepeat });
      // A claim whose outcome is unknown may have been made. Repeat it, so that its shards are not left alone for a lease.
      this.#lostClaim = !claimed.ok && claimed.error.kind === "BackendError" ? { opId, firstMs } : undefined;
      if (claimed.ok) this.storeWorked("claim", this.#agoMs(askedMs));
      if (claimed.ok) this.#begin(claimed.value, { askedMs, firstMs });
      else await this.#foundNothing(claimed.error, free);
    }
  }

  /** The shards were claimed at `askedMs`, or at `firstMs` if the result of that claim was lost. */
  #begin(sessions: readonly WorkerSession[], claim: { readonly askedMs: number; readonly firstMs: number }): void {
    this.#backoff.reset();
    for (const session of sessions) {
      const askedMs = session.isReplay ? claim.firstMs : claim.askedMs;
      this.#observe(session, askedMs);
      if (this.#keeper !== undefined) this.#slots.set(session, this.#keeper.hold(session.lease, this.#agoMs(askedMs)));
      const runner = new ShardRunner(this, session, askedMs);
      this.#runners.add(runner);
      this.#sharing.observeClaim(session.capacity);
      // If the stop or the pause came while the claim was in flight, release the shard at once.
      if (this.#stop !== undefined) this.#stopRunner(runner, this.#stop);
      else if (this.#control.isPaused) runner.stop({ kind: "Pause" });
      runner
        .run()
        .catch((error: unknown) => this.#fail(error))
        .finally(() => this.#left(runner));
    }
  }

  #left(runner: ShardRunner<I, R>): void {
    this.#runners.delete(runner);
    const { stopped, session } = runner;
    this.#completing.delete(session);
    const slot = this.#slots.get(session);
    if (slot !== undefined) this.#keeper?.drop(slot);
    this.#slots.delete(session);
    if (stopped?.kind === "RunEnded") this.#halt({ kind: "RunTerminal", status: stopped.status });
    if (stopped?.kind === "SourceFailed") this.#halt({ kind: "SourceFailed", cause: new Redacted(stopped.cause) });
    if (stopped?.kind === "SinkFailed") this.#halt({ kind: "SinkFailed", cause: new Redacted(stopped.cause) });
    this.#poke();
  }

  async #foundNothing(error: ClaimError, free: number): Promise<void> {
    const { time, stopWhenDone } = this.settings;
    let untilFreeMs: number | undefined;
    if (error.kind !== "BackendError") this.store.worked();
    switch (error.kind) {
      case "RunTerminal":
        return this.#halt({ kind: "RunTerminal", status: error.status });
      case "RunNotFound":
      case "TenantMismatch":
        return this.#halt({ kind: "RunMissing", error });
      case "BackendError":
        this.#storeFailed(error, "claim");
        break;
      case "NoneAvailable":
        if (error.earliestDeadline === undefined && this.#runners.size === 0 && stopWhenDone)
          return this.#halt({ kind: "Done" });
        untilFreeMs = this.#coordinatorTime.untilMs(error.earliestDeadline, time.nowMs());
        this.#idleWorkers = free;
        break;
      case "Throttled":
        untilFreeMs = this.#coordinatorTime.untilMs(error.retryAfter, time.nowMs());
    }
    this.#share();
    if (this.#stop === undefined && !this.#hasOffer) {
      const ms = this.#backoff.nextWaitMs({ untilFreeMs, random: time.random() });
      this.emit({ kind: "Waiting", freeWorkers: free, ms });
      await this.#wait(ms);
    }
    this.#idleWorkers = 0;
  }

  #storeFailed(error: GetRunError, operation: string): void {
    if (error.kind !== "BackendError") return this.#halt({ kind: "RunMissing", error });
    this.emit({ kind: "StoreFailed", shard: undefined, operation, error });
    const isHopeless = this.store.failed() >= this.settings.patienceMs || InfraError.isCorruption(error.reason);
    if (isHopeless) this.#halt({ kind: "StoreFailed", error });
  }

  // Sharing and reporting.

  #overhear({ kind, tenant, run }: CoordinationEvent): void {
    if (!OFFERS.has(kind) || run !== this.settings.run.run || tenant !== this.settings.run.tenant) return;
    this.#hasOffer = true;
    this.#backoff.reset();
    if (this.#runners.size < this.settings.concurrency) this.#poke();
  }

  #share(): void {
    if (this.settings.splitPolicy === undefined) return;
    const shards = [...this.#runners].map(({ splitter }) => splitter);
    this.#sharing.share(shards, { nowMs: this.settings.time.nowMs(), idleWorkers: this.#idleWorkers });
  }

  async #askCapacity(): Promise<CapacityHint | undefined> {
    const { coordinator, run } = this.settings;
    const capacity = await coordinator.getCapacity(run);
    return capacity.ok ? capacity.value : undefined;
  }

  #observe({ lease: { deadline } }: WorkerSession, askedMs: number): void {
    this.#coordinatorTime.observe({ deadline, leaseMs: this.timing.leaseMs, askedMs });
  }

  #agoMs(ms: number): number {
    return this.settings.time.nowMs() - ms;
  }

  #register(): Registration {
    const { coordinator, run, worker, name, version, time } = this.settings;
    const state = () => ({ shards: this.heldShards(), items: this.counts.items });
    return new Registration({ coordinator, run, worker, name, version, time, state });
  }

  #startTicking(): () => void {
    const { time, progressEveryMs } = this.settings;
    const { checkpoint, leaseMs } = this.timing;
    return startTicker({
      time,
      everyMs: Math.max(1, Math.min(MAX_TICK_MS, checkpoint.ms, leaseMs / 6, progressEveryMs)),
      blockedMs: Math.min(MAX_UNNOTICED_BLOCK_MS, leaseMs / 4),
      onTick: (nowMs) => this.#tick(nowMs),
      onBlocked: (ms) => this.emit({ kind: "LoopBlocked", ms }),
    });
  }

  #tick(nowMs: number): void {
    this.#keeper?.beat();
    for (const runner of this.#runners) runner.tick(nowMs);
    this.#share();
    this.#failures.tick(nowMs);
    if (nowMs - this.#reportedMs >= this.settings.progressEveryMs) this.#report();
  }

  #report(): void {
    this.#reportedMs = this.settings.time.nowMs();
    this.#observer.progress(this.#progress());
  }

  #progress(): WorkerProgress {
    return this.counts.snapshot({
      held: this.#runners.size,
      storeDownMs: this.store.ms,
      sourceDownMs: this.source.ms,
      sinkDownMs: this.sink.ms,
      pausedMs: this.#control.pausedMs,
      elapsedMs: this.settings.time.nowMs() - this.#startMs,
    });
  }

  // Stopping and waiting.

  #halt(stop: StopReason): void {
    if (this.#stop === undefined) {
      this.#stop = stop;
      for (const runner of this.#runners) this.#stopRunner(runner, stop);
    }
    this.#poke();
  }

  #stopRunner(runner: ShardRunner<I, R>, stop: StopReason): void {
    runner.stop(stop.kind === "RunTerminal" ? { kind: "RunEnded", status: stop.status } : { kind: "Shutdown" });
  }

  #fail(error: unknown): void {
    this.#bug ??= { error };
    this.#halt({ kind: "Aborted" });
  }

  /** Wait until something happens, but at most `ms`. */
  #wait(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const cancel = ms === undefined ? undefined : this.settings.time.startTimer(ms, () => this.#poke());
      this.#wake = () => {
        cancel?.();
        resolve();
      };
    });
  }

  #poke(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
