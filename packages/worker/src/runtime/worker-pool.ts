import type { CapacityHint, RunRecord, WorkerSession } from "@gossip/coordination";
import { InfraError, type BackendError, type ClaimError, type GetRunError } from "@gossip/coordination-errors";
import { Redacted, type Result } from "@gossip/stdx";
import { ClaimBackoff } from "../policy/claim-backoff.ts";
import type { Item } from "../source/source.ts";
import { RunCounts } from "./run-counts.ts";
import { makeTiming, type RunTiming, type Settings } from "./settings.ts";
import type { ShardHost } from "./shard-host.ts";
import { ShardRunner } from "./shard-runner.ts";
import type { WorkerEvent } from "./worker-event.ts";
import type { StopReason, WorkerProgress, WorkerSummary } from "./worker-summary.ts";

/** How long the work may have the event loop to itself. */
const SLICE_MS = 10;
const MAX_TICK_MS = 250;

/** Keeps as many shards in work as there are workers, until there is nothing left to claim or a reason to stop. */
export class WorkerPool<I extends Item, R> implements ShardHost<I, R> {
  readonly settings: Settings<I, R>;
  readonly counts = new RunCounts();
  timing!: RunTiming;
  readonly #runners = new Set<ShardRunner<I, R>>();
  readonly #backoff = new ClaimBackoff();
  readonly #startMs: number;
  #sliceStartMs: number;
  #stop: StopReason | undefined;
  #bug: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;
  #hasOffer = false;
  #failingSinceMs: number | undefined;

  constructor(settings: Settings<I, R>) {
    this.settings = settings;
    this.#startMs = this.#sliceStartMs = settings.time.nowMs();
  }

  async run(): Promise<WorkerSummary> {
    const { signal, time } = this.settings;
    const onAbort = (): void => this.#halt({ kind: "Aborted" });
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    let stopTicking: (() => void) | undefined;
    try {
      const run = await this.#openRun();
      if (run !== undefined) {
        this.timing = makeTiming(this.settings, run.config);
        stopTicking = this.#startTicking();
        await this.#claimUntilDone();
      }
      while (this.#runners.size > 0) await this.#wait(time, undefined);
    } finally {
      stopTicking?.();
      signal?.removeEventListener("abort", onAbort);
    }
    if (this.#bug !== undefined) throw this.#bug.error;
    this.#report();
    return { ...this.#progress(), stopped: this.#stop ?? { kind: "Done" } };
  }

  // What the work on a shard asks for.

  readonly emit = (event: WorkerEvent): void => {
    try {
      this.settings.onEvent?.(event);
    } catch {
      // A listener's mistake is not the work's.
    }
  };

  heardOf(_capacity: CapacityHint): void {}

  offer(): void {
    this.#hasOffer = true;
    this.#backoff.reset();
    this.#poke();
  }

  isSliceOver(nowMs: number): boolean {
    return nowMs - this.#sliceStartMs >= SLICE_MS;
  }

  async yieldToLoop(): Promise<void> {
    await this.settings.time.yieldToLoop();
    this.#sliceStartMs = this.settings.time.nowMs();
  }

  // The run.

  /** The run as soon as it has shards, or `undefined` where there is a reason to stop. */
  async #openRun(): Promise<RunRecord | undefined> {
    const { coordinator, run, time } = this.settings;
    while (this.#stop === undefined) {
      const found: Result<RunRecord, GetRunError> = await coordinator.getRun(run);
      if (!found.ok && found.error.kind !== "BackendError") this.#halt({ kind: "RunMissing", error: found.error });
      if (!found.ok && found.error.kind === "BackendError") this.#storeFailed("getRun", found.error);
      if (found.ok && found.value.status !== "Initializing") return found.value;
      if (this.#stop === undefined) await this.#wait(time, this.#backoff.nextWaitMs({ untilFreeMs: undefined, random: time.random() }));
    }
    return undefined;
  }

  async #claimUntilDone(): Promise<void> {
    const { concurrency, coordinator, run, worker, time } = this.settings;
    while (this.#stop === undefined) {
      const free = concurrency - this.#runners.size;
      if (free === 0) {
        await this.#wait(time, undefined);
        continue;
      }
      this.#hasOffer = false;
      const claimed = await coordinator.claimMany({ ...run, worker, count: free, markStarved: true });
      if (claimed.ok) this.#begin(claimed.value);
      else await this.#foundNothing(claimed.error, free);
    }
  }

  #begin(sessions: readonly WorkerSession[]): void {
    this.#backoff.reset();
    this.#failingSinceMs = undefined;
    for (const session of sessions) {
      const runner = new ShardRunner(this, session);
      this.#runners.add(runner);
      // A claim may have been under way when the stop came: such a shard is given back at once.
      if (this.#stop !== undefined) runner.shutDown();
      void runner
        .run()
        .catch((error: unknown) => {
          this.#bug ??= { error };
          this.#halt({ kind: "Aborted" });
        })
        .then(() => this.#left(runner));
    }
  }

  #left(runner: ShardRunner<I, R>): void {
    this.#runners.delete(runner);
    const { stopped } = runner;
    if (stopped?.kind === "RunEnded") this.#halt({ kind: "RunTerminal", status: stopped.status });
    if (stopped?.kind === "SinkFailed") this.#halt({ kind: "SinkFailed", cause: new Redacted(stopped.cause) });
    this.#poke();
  }

  async #foundNothing(error: ClaimError, freeWorkers: number): Promise<void> {
    const { time, stopWhenDone } = this.settings;
    switch (error.kind) {
      case "RunTerminal":
        return this.#halt({ kind: "RunTerminal", status: error.status });
      case "RunNotFound":
      case "TenantMismatch":
        return this.#halt({ kind: "RunMissing", error });
      case "BackendError":
        this.#storeFailed("claim", error);
        break;
      case "NoneAvailable":
        this.#failingSinceMs = undefined;
        if (error.earliestDeadline === undefined && this.#runners.size === 0 && stopWhenDone) return this.#halt({ kind: "Done" });
        break;
      case "Throttled":
        this.#failingSinceMs = undefined;
    }
    if (this.#stop !== undefined || this.#hasOffer) return;
    const ms = this.#backoff.nextWaitMs({ untilFreeMs: undefined, random: time.random() });
    this.emit({ kind: "Waiting", freeWorkers, ms });
    await this.#wait(time, ms);
  }

  #storeFailed(operation: string, error: BackendError): void {
    const nowMs = this.settings.time.nowMs();
    this.emit({ kind: "StoreFailed", shard: undefined, operation, error });
    this.#failingSinceMs ??= nowMs;
    const patienceMs = this.timing?.storePatienceMs ?? this.settings.storePatienceMs ?? 0;
    const isHopeless = InfraError.isCorruption(error.reason) || nowMs - this.#failingSinceMs >= patienceMs;
    if (isHopeless) this.#halt({ kind: "StoreFailed", error });
  }

  #halt(stop: StopReason): void {
    if (this.#stop === undefined) {
      this.#stop = stop;
      for (const runner of this.#runners) runner.shutDown();
    }
    this.#poke();
  }

  #startTicking(): () => void {
    const { time, progressEveryMs } = this.settings;
    const tickMs = Math.max(1, Math.min(MAX_TICK_MS, this.timing.checkpoint.ms, this.timing.leaseMs / 6, progressEveryMs));
    let reportedMs = time.nowMs();
    let cancel = (): void => undefined;
    const tick = (): void => {
      const nowMs = time.nowMs();
      for (const runner of this.#runners) runner.tick(nowMs);
      if (nowMs - reportedMs >= progressEveryMs) {
        reportedMs = nowMs;
        this.#report();
      }
      cancel = time.startTimer(tickMs, tick);
    };
    cancel = time.startTimer(tickMs, tick);
    return () => cancel();
  }

  #report(): void {
    try {
      this.settings.onProgress?.(this.#progress());
    } catch {
      // A listener's mistake is not the work's.
    }
  }

  #progress(): WorkerProgress {
    return this.counts.snapshot({ held: this.#runners.size, elapsedMs: this.settings.time.nowMs() - this.#startMs });
  }

  /** Wait until something happens, or for at most `ms`. */
  #wait(time: Settings["time"], ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const cancel = ms === undefined ? undefined : time.startTimer(ms, () => this.#poke());
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
