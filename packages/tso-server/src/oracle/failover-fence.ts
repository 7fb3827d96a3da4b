import { err, ok, type Result } from "@gossip/stdx";
import type { CoreError, Epoch } from "@gossip/tso";
import type { ConsensusDriver } from "../driver/consensus-driver.ts";
import type { DriverError } from "../driver/driver-error.ts";
import type { ServesUntil } from "../driver/leader-state.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { MonotonicClock, Timers } from "../time/system-time.ts";
import { sleep } from "../time/system-time.ts";
import type { ClockGuard } from "./clock-guard.ts";
import type { ServingGate } from "./serving-gate.ts";
import type { WindowExtender } from "./window-extender.ts";

/** The first pause before a fence is tried again after a transient failure; it doubles up to the second. */
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 250;

/** A fence that does not get through is reported at this try, and then every so many. */
const STUCK_AT_TRY = 8;
const STUCK_EVERY_TRIES = 20;

export interface FencingParts {
  readonly driver: ConsensusDriver;
  readonly gate: ServingGate;
  readonly guard: ClockGuard;
  readonly extender: WindowExtender;
  readonly metrics: Metrics;
  readonly timers: Timers;
  readonly monotonicClock: MonotonicClock;
  readonly failoverAdvanceMs: number;
  readonly onFenceStuck: (report: { readonly tries: number; readonly reason: string }) => void;
}

/** How a fence ended, when it did not fail for good. */
export type FenceEnd = "Serving" | "LostLeadership" | "Superseded";

/** Why a fence cannot ever succeed. */
export type FenceError =
  | DriverError<"PermanentDriver" | "AdvanceOutOfRange">
  | CoreError<"PhysicalMsOutOfRange" | "InvalidLeadershipWindow">;

/**
 * Everything between becoming leader and granting the first timestamp.
 *
 * 1. Stop serving; requests are refused until the last step.
 * 2. Wait for extensions of an earlier leadership to end; what they bring is dropped by their epoch.
 * 3. Load the durable bound, with every write of every earlier leader in it.
 * 4. Take as floor the first millisecond above it, or the clock's if that is later. Above, because the
 *    bound is inclusive: the last leader may have issued all of it.
 * 5. Make a bound durable that lies `failoverAdvanceMs` above the floor.
 * 6. Seed the allocator with both, and serve.
 *
 * A transient failure starts over at 2 after a pause, as often as it takes. `isCurrent` is asked after every
 * wait: once a later event has arrived, this leadership must not begin to serve.
 */
export class FailoverFence {
  readonly #parts: FencingParts;
  readonly #leadership: { readonly epoch: Epoch; readonly servesUntilMs: ServesUntil };
  readonly #isCurrent: () => boolean;

  constructor(
    parts: FencingParts,
    leadership: { readonly epoch: Epoch; readonly servesUntilMs: ServesUntil },
    isCurrent: () => boolean,
  ) {
    this.#parts = parts;
    this.#leadership = leadership;
    this.#isCurrent = isCurrent;
  }

  async run(): Promise<Result<FenceEnd, FenceError>> {
    const { gate, metrics, monotonicClock, timers } = this.#parts;
    const startedAtMs = monotonicClock.nowMs();
    gate.leave();
    let pauseMs = FIRST_PAUSE_MS;
    for (let tries = 1; ; tries++) {
      const tried = await this.#try();
      if (tried.ok) {
        if (tried.value === "Serving") {
          metrics.histogram("tsoracle.leader_transition.fence_latency").observeMs(monotonicClock.nowMs() - startedAtMs);
        }
        return tried;
      }
      const { error } = tried;
      if (error.kind !== "TransientDriver")
        return error.kind === "NotLeader" || error.kind === "Fenced" ? this.#lost() : err(error);
      metrics.counter("tsoracle.leader_transition.fence_transient_retries.total").add();
      this.#reportStuck(tries, error.reason);
      await sleep(timers, pauseMs);
      if (!this.#isCurrent()) return ok("Superseded");
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  async #try(): Promise<Result<FenceEnd, FenceError | DriverError>> {
    const { driver, gate, guard, extender, failoverAdvanceMs } = this.#parts;
    const { epoch, servesUntilMs } = this.#leadership;
    await extender.drain();
    if (!this.#isCurrent()) return ok("Superseded");

    const prior = await driver.loadHighWater();
    if (!this.#isCurrent()) return ok("Superseded");
    if (!prior.ok) return prior;

    const floorMs = Math.max(prior.value + 1, guard.sample());
    const ceiling = await driver.persistHighWater(floorMs + failoverAdvanceMs, epoch);
    if (!this.#isCurrent()) return ok("Superseded");
    if (!ceiling.ok) return ceiling;

    const window = { floorMs, ceilingMs: ceiling.value, epoch };
    extender.begin(window);
    const served = gate.serve(window, servesUntilMs);
    return served.ok ? ok("Serving") : served;
  }

  /** According to the store another node leads. Its next event names it. */
  #lost(): Result<FenceEnd, FenceError> {
    this.#parts.gate.leave();
    return ok("LostLeadership");
  }

  #reportStuck(tries: number, reason: string): void {
    const isDue = tries >= STUCK_AT_TRY && (tries - STUCK_AT_TRY) % STUCK_EVERY_TRIES === 0;
    if (isDue) this.#parts.onFenceStuck({ tries, reason });
  }
}
