import { err, ok, type Result } from "@gossip/stdx";
import type { CommitOutcome, Epoch, LeadershipWindow, WindowGrant } from "@gossip/tso";
import type { ConsensusDriver } from "../driver/consensus-driver.ts";
import type { DriverError } from "../driver/driver-error.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { sleep, type MonotonicClock, type Timers } from "../time/system-time.ts";
import type { Answer, AnswerTally } from "./answer.ts";
import type { ClockGuard } from "./clock-guard.ts";
import type { GetTsError } from "./get-ts-error.ts";
import { countIgnored, describeThrown } from "./observe.ts";
import type { ServingGate } from "./serving-gate.ts";

/** How much issued time passes before an extension that failed ahead of need is tried again. */
const RETRY_AHEAD_MS = 50;

export interface WindowExtenderParts {
  readonly driver: ConsensusDriver;
  readonly gate: ServingGate;
  readonly guard: ClockGuard;
  readonly tally: AnswerTally;
  readonly metrics: Metrics;
  readonly timers: Timers;
  readonly monotonicClock: MonotonicClock;
  readonly windowAheadMs: number;
  readonly maxLeadMs: number;
  readonly leadWaitMs: number;
  readonly onPersistFailed: (reason: string) => void;
}

/** A request that found the window exhausted. It keeps the clock reading it came with. */
interface Waiter {
  readonly nowMs: number;
  readonly count: number;
  readonly resolve: (answer: Answer) => void;
}

/**
 * Moves the durable bound, one persist at a time.
 *
 * It starts when half of a window is used, so that callers rarely meet the end of one. Those that do wait
 * together: however many they are, they cost one persist. Requests that still fit are served meanwhile.
 */
export class WindowExtender {
  readonly #parts: WindowExtenderParts;
  #waiting: Waiter[] = [];
  #flight: Promise<void> | undefined;
  /** Issued time at which the next extension starts. */
  #lowWaterMs = Number.POSITIVE_INFINITY;
  #floorMs = 0;
  #isFailing = false;

  constructor(parts: WindowExtenderParts) {
    this.#parts = parts;
  }

  /** Whether the last persist failed for good. Requests that need none are still served. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** A leadership begins with this window. */
  begin(window: LeadershipWindow): void {
    this.#floorMs = window.floorMs;
    this.#isFailing = false;
    this.#setLowWater({ startMs: window.floorMs, highWaterMs: window.ceilingMs });
  }

  /** Extend ahead of need, if issued time has come far enough. */
  afterGrant(grant: WindowGrant, nowMs: number): void {
    if (grant.physicalMs < this.#lowWaterMs || this.#flight !== undefined) return;
    // Should this fail, the next try is a while away; should it succeed, this is replaced.
    this.#lowWaterMs = grant.physicalMs + RETRY_AHEAD_MS;
    this.#start(nowMs);
  }

  /** Wait for the window to grow, then grant. */
  grantAfterExtension(nowMs: number, count: number): Promise<Answer> {
    this.#parts.metrics.counter("tsoracle.window.waits.total").add();
    return new Promise((resolve) => {
      this.#waiting.push({ nowMs, count, resolve });
      if (this.#flight === undefined) this.#start(nowMs);
    });
  }

  /** Resolves when no extension is under way. */
  async drain(): Promise<void> {
    while (this.#flight !== undefined) await this.#flight;
  }

  #start(nowMs: number): void {
    this.#flight = this.#fly(nowMs);
  }

  async #fly(firstNowMs: number): Promise<void> {
    let nowMs = firstNowMs;
    do {
      const outcome = await this.#extend(nowMs);
      this.#settle(outcome);
      // Whoever is left joined late or came too late for what was gained: one more round serves at least the first.
      nowMs = this.#latestWaiting(0);
    } while (this.#waiting.length > 0);
    // In the same breath as the check: whoever joins after it must start a flight of its own.
    this.#flight = undefined;
  }

  async #extend(nowMs: number): Promise<Result<CommitOutcome, GetTsError>> {
    const { driver, gate, metrics, monotonicClock } = this.#parts;
    const target = await this.#target(nowMs);
    if (!target.ok) return target;
    const { targetMs, epoch } = target.value;

    const startedAtMs = monotonicClock.nowMs();
    const persisted = await persist(driver, targetMs, epoch);
    metrics.counter("tsoracle.window.extensions.total").add();
    metrics.histogram("tsoracle.window.extension_latency").observeMs(monotonicClock.nowMs() - startedAtMs);
    if (!persisted.ok) return err(this.#failed(persisted.error, epoch));

    const before = gate.allocator.committedHighWaterMs;
    const outcome = gate.allocator.commitWindowExtension(persisted.value, epoch);
    if (!outcome.ok) return outcome;
    this.#isFailing = false;
    if (outcome.value.kind === "Ignored") countIgnored(metrics, outcome.value.reason.kind);
    else this.#setLowWater({ startMs: Math.max(before!, nowMs), highWaterMs: outcome.value.highWaterMs });
    return outcome;
  }

  /** The bound to persist and the leadership it is for; where issued time leads the clock too far, wait for the clock. */
  async #target(nowMs: number): Promise<Result<{ readonly targetMs: number; readonly epoch: Epoch }, GetTsError>> {
    const { gate, guard, timers, windowAheadMs, maxLeadMs, leadWaitMs } = this.#parts;
    let patienceMs = leadWaitMs;
    for (;;) {
      const prepared = gate.allocator.prepareWindowExtension({
        nowMs: this.#latestWaiting(nowMs),
        aheadMs: windowAheadMs,
      });
      if (!prepared.ok) return err(prepared.error.kind === "NotLeader" ? gate.refusal() : prepared.error);
      const capMs = Math.max(this.#floorMs, guard.highestMs) + maxLeadMs;
      const targetMs = Math.min(prepared.value, capMs);
      const highWaterMs = gate.allocator.committedHighWaterMs!;
      // Read together: should leadership change on the way, the epoch gives the bound away.
      if (targetMs > highWaterMs) return ok({ targetMs, epoch: gate.allocator.epoch! });
      if (this.#waiting.length === 0 || patienceMs <= 0) return err({ kind: "TimeRunaway", maxLeadMs });
      const waitMs = Math.min(patienceMs, highWaterMs + 1 - capMs);
      patienceMs -= waitMs;
      await sleep(timers, waitMs);
      guard.sample();
    }
  }

  /** What a failed persist means for whoever waits, and for the leadership. */
  #failed(error: DriverError, epoch: Epoch): GetTsError {
    const { gate } = this.#parts;
    const isCurrent = gate.allocator.epoch === epoch;
    switch (error.kind) {
      case "NotLeader":
        if (isCurrent) gate.leave();
        return gate.refusal();
      case "Fenced":
        if (isCurrent) gate.leave({ leaderEpoch: error.current });
        return gate.refusal();
      case "TransientDriver":
        return error;
      case "PermanentDriver":
      case "AdvanceOutOfRange":
        this.#isFailing = true;
        this.#parts.onPersistFailed(error.kind === "PermanentDriver" ? error.reason : error.kind);
        return error;
    }
  }

  #settle(outcome: Result<CommitOutcome, GetTsError>): void {
    const waiters = this.#waiting;
    this.#waiting = [];
    const { gate } = this.#parts;
    // A bound that did not advance will not do so the next time either.
    const isStuck = outcome.ok && outcome.value.kind === "Ignored" && outcome.value.reason.kind === "NotAdvanced";
    for (const waiter of waiters) {
      if (!outcome.ok) {
        this.#answer(waiter, outcome);
        continue;
      }
      const granted = gate.allocator.tryGrant(waiter.nowMs, waiter.count);
      if (granted.ok) this.#answer(waiter, gate.isWithinDeadline ? granted : err(gate.refusal()));
      else if (granted.error.kind === "NotLeader") this.#answer(waiter, err(gate.refusal()));
      else if (granted.error.kind === "WindowExhausted" && !isStuck) this.#waiting.push(waiter);
      else this.#answer(waiter, err(granted.error));
    }
  }

  #answer(waiter: Waiter, answer: Answer): void {
    waiter.resolve(this.#parts.tally.record(answer));
  }

  #latestWaiting(nowMs: number): number {
    return this.#waiting.reduce((latest, waiter) => Math.max(latest, waiter.nowMs), nowMs);
  }

  /** The middle of a window. */
  #setLowWater({ startMs, highWaterMs }: { readonly startMs: number; readonly highWaterMs: number }): void {
    this.#lowWaterMs = highWaterMs - Math.floor((highWaterMs - startMs) / 2);
    const { metrics, guard } = this.#parts;
    metrics.gauge("tsoracle.clock.lead_ms").value = highWaterMs - guard.highestMs;
  }
}

/** A driver that throws where it should answer is one that will not get better. */
async function persist(driver: ConsensusDriver, atLeastMs: number, epoch: Epoch): Promise<Result<number, DriverError>> {
  try {
    return await driver.persistHighWater(atLeastMs, epoch);
  } catch (thrown) {
    return err({ kind: "PermanentDriver", reason: describeThrown(thrown) });
  }
}
