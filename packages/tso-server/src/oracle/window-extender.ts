import { err, ok, type Result } from "@gossip/stdx";
import type { CommitOutcome, Epoch, LeadershipWindow, WindowGrant } from "@gossip/tso";
import type { ConsensusDriver } from "../driver/consensus-driver.ts";
import type { DriverError } from "../driver/driver-error.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { sleep, type MonotonicClock, type Timers } from "../time/system-time.ts";
import type { Answer, AnswerTally } from "./answer.ts";
import type { ClockGuard } from "./clock-guard.ts";
import type { GetTsError } from "./get-ts-error.ts";
import { MAX_ANSWERS_PER_TURN } from "./oracle-options.ts";
import { countIgnored, describeThrown } from "./observe.ts";
import type { ServingGate } from "./serving-gate.ts";
import { WaitQueue, type Request } from "./wait-queue.ts";

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
  readonly maxWaiting: number;
  readonly onPersistFailed: (reason: string) => void;
}

/**
 * Moves the durable bound, one persist at a time.
 *
 * It starts when half of a window is used, so that few callers meet the end of one. Those that do wait in a queue: however
 * many they are, they cost one persist, and callers take turns at what it gained. Requests that still fit are served
 * meanwhile. Where the bound may not lead the clock any further, a request waits for at most `leadWaitMs` from its arrival
 * and is refused then; a persist that is in flight at that moment is waited for.
 *
 * Requests that have waited are answered in portions of `MAX_ANSWERS_PER_TURN`: the event loop goes on between them.
 */
export class WindowExtender {
  readonly #parts: WindowExtenderParts;
  readonly #queue: WaitQueue;
  #flight: Promise<void> | undefined;
  /** Issued time at which the next extension starts. */
  #lowWaterMs = Number.POSITIVE_INFINITY;
  #floorMs = 0;
  #isFailing = false;
  /** Whether the last bound would have been greater without `maxLeadMs`. */
  #isCapped = false;
  /** Whether another portion of expired requests will be refused. */
  #isRefusing = false;

  constructor(parts: WindowExtenderParts) {
    this.#parts = parts;
    this.#queue = new WaitQueue(parts.maxWaiting);
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

  /** Waits for the window to grow, then grants. `caller` identifies the callers, which take turns. */
  grantAfterExtension(
    { nowMs, count }: { readonly nowMs: number; readonly count: number },
    caller: object,
  ): Answer | Promise<Answer> {
    const { metrics, monotonicClock, leadWaitMs, maxWaiting } = this.#parts;
    if (!this.#queue.hasRoomFor(caller)) return err({ kind: "Overloaded", maxWaiting });
    metrics.counter("tsoracle.window.waits.total").add();
    const expiresAtMs = monotonicClock.nowMs() + leadWaitMs;
    return new Promise((settle) => {
      this.#queue.add(caller, { nowMs, count, expiresAtMs, settle });
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
    for (;;) {
      const outcome = await this.#extend(nowMs);
      if (outcome !== undefined) await this.#settle(outcome);
      if (this.#queue.size === 0) break;
      nowMs = this.#parts.guard.sample();
    }
    // Synchronously after the check: a request that joins later must start a flight of its own.
    this.#flight = undefined;
  }

  /** Make one bound durable. Returns `undefined` if there is no need to: it is at its cap, and no request waits. */
  async #extend(nowMs: number): Promise<Result<CommitOutcome, GetTsError> | undefined> {
    const { driver, gate, metrics, monotonicClock } = this.#parts;
    const target = await this.#target(nowMs);
    if (target === undefined || !target.ok) return target;
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

  /**
   * The bound to persist and the leadership it is for. Where the bound may not lead the clock any further, this waits for
   * the clock as long as a request does.
   */
  async #target(
    nowMs: number,
  ): Promise<Result<{ readonly targetMs: number; readonly epoch: Epoch }, GetTsError> | undefined> {
    const { gate, guard, timers, monotonicClock, windowAheadMs, maxLeadMs } = this.#parts;
    for (;;) {
      const prepared = gate.allocator.prepareWindowExtension({
        nowMs: Math.max(nowMs, this.#queue.latestMs),
        aheadMs: windowAheadMs,
      });
      if (!prepared.ok) return err(prepared.error.kind === "NotLeader" ? gate.refusal() : prepared.error);
      const capMs = Math.max(this.#floorMs, guard.highestMs) + maxLeadMs;
      const targetMs = Math.min(prepared.value, capMs);
      const highWaterMs = gate.allocator.committedHighWaterMs!;
      this.#isCapped = targetMs < prepared.value;
      // Read together: if leadership changes before the commit, the epoch no longer matches.
      if (targetMs > highWaterMs) return ok({ targetMs, epoch: gate.allocator.epoch! });
      this.#refuseExpired();
      const expiryMs = this.#queue.firstExpiryMs;
      if (expiryMs === undefined) return undefined;
      await sleep(timers, Math.min(highWaterMs + 1 - capMs, expiryMs - monotonicClock.nowMs()));
      guard.sample();
    }
  }

  /** The refusal for the requests that wait on a failed persist. Steps down if it was refused for the leadership. */
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

  /** Serve the queue from what an extension gained, or refuse all of it if the extension failed. */
  async #settle(outcome: Result<CommitOutcome, GetTsError>): Promise<void> {
    // A bound that did not advance will not do so the next time either.
    const isStuck = outcome.ok && outcome.value.kind === "Ignored" && outcome.value.reason.kind === "NotAdvanced";
    let left = MAX_ANSWERS_PER_TURN;
    for (let request = this.#queue.next; request !== undefined; request = this.#queue.next) {
      const answer = outcome.ok ? this.#grant(request) : outcome;
      if (!answer.ok && outcome.ok && answer.error.kind === "WindowExhausted" && !isStuck) break;
      this.#queue.take();
      this.#answer(request, answer);
      left -= 1;
      if (left > 0) continue;
      await sleep(this.#parts.timers, 0);
      left = MAX_ANSWERS_PER_TURN;
    }
    if (this.#isCapped) this.#refuseExpired();
  }

  #grant({ nowMs, count }: Request): Answer {
    const { gate } = this.#parts;
    const granted = gate.allocator.tryGrant(nowMs, count);
    if (granted.ok) return gate.isWithinDeadline ? granted : err(gate.refusal());
    return err(granted.error.kind === "NotLeader" ? gate.refusal() : granted.error);
  }

  #refuseExpired(): void {
    if (!this.#isRefusing) this.#refuseExpiredBy(this.#parts.monotonicClock.nowMs());
  }

  #refuseExpiredBy(nowMs: number): void {
    const { timers, maxLeadMs } = this.#parts;
    for (let left = MAX_ANSWERS_PER_TURN; left > 0; left--) {
      const late = this.#queue.takeExpired(nowMs);
      if (late === undefined) return;
      this.#answer(late, err({ kind: "TimeRunaway", maxLeadMs }));
    }
    this.#isRefusing = true;
    timers.after(0, () => {
      this.#isRefusing = false;
      this.#refuseExpiredBy(nowMs);
    });
  }

  #answer(request: Request, answer: Answer): void {
    request.settle(this.#parts.tally.record(answer));
  }

  /** The middle of a window. */
  #setLowWater({ startMs, highWaterMs }: { readonly startMs: number; readonly highWaterMs: number }): void {
    this.#lowWaterMs = highWaterMs - Math.floor((highWaterMs - startMs) / 2);
    const { metrics, guard } = this.#parts;
    metrics.gauge("tsoracle.clock.lead_ms").value = highWaterMs - guard.highestMs;
  }
}

/** A driver that throws has failed for good. */
async function persist(driver: ConsensusDriver, atLeastMs: number, epoch: Epoch): Promise<Result<number, DriverError>> {
  try {
    return await driver.persistHighWater(atLeastMs, epoch);
  } catch (thrown) {
    return err({ kind: "PermanentDriver", reason: describeThrown(thrown) });
  }
}
