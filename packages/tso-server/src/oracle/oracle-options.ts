import { assert } from "@gossip/stdx";
import type { Clock } from "@gossip/tso";
import { assertObject } from "@gossip/stdx/internal";
import { assertMethods } from "../assert-input.ts";
import type { ConsensusDriver } from "../driver/consensus-driver.ts";
import { Metrics } from "../metrics/metrics.ts";
import {
  systemWallClock,
  systemMonotonicClock,
  systemTimers,
  type MonotonicClock,
  type Timers,
} from "../time/system-time.ts";
import type { ClockRefusal } from "./clock-guard.ts";

export interface OracleOptions {
  readonly driver: ConsensusDriver;
  /** How far past the clock a bound is made durable. Longer means fewer persists and a greater jump after a restart. */
  readonly windowAheadMs?: number;
  /** How far past the floor the first bound of a leadership is made durable. */
  readonly failoverAdvanceMs?: number;
  /** Most that the durable bound, and so issued time, may lead the clock. Twice the window unless set. */
  readonly maxLeadMs?: number;
  /**
   * How long a request waits, from its arrival, where issued time leads the clock that far; then it is refused with
   * `TimeRunaway`. 100 ms unless set.
   */
  readonly leadWaitMs?: number;
  /**
   * Most requests that wait at a time; 100,000 unless set. Beyond, a request is refused with `Overloaded`, unless its caller
   * has fewer waiting than an equal share.
   */
  readonly maxWaiting?: number;
  /** Longest step forward that the clock may make at once. A reading beyond is not believed. */
  readonly maxForwardStepMs?: number;
  readonly metrics?: Metrics;
  /** Called with what an operator should look into. */
  readonly onEvent?: (event: OracleEvent) => void;
  readonly clock?: Clock;
  readonly monotonicClock?: MonotonicClock;
  readonly timers?: Timers;
}

export type OracleEvent =
  | ({ readonly kind: "ClockRefused" } & ClockRefusal)
  | { readonly kind: "FenceStuck"; readonly tries: number; readonly reason: string }
  /** A bound could not be made durable, and trying again will not help. What fits the present window is still granted. */
  | { readonly kind: "PersistFailed"; readonly reason: string };

export type OracleSettings = Required<OracleOptions>;

/** Requests that have waited and are answered before the event loop goes on. */
export const MAX_ANSWERS_PER_TURN = 2048;

const DEFAULT_WINDOW_AHEAD_MS = 3000;
const DEFAULT_FAILOVER_ADVANCE_MS = 1000;
const DEFAULT_LEAD_WAIT_MS = 100;
const DEFAULT_MAX_WAITING = 100_000;
const DEFAULT_MAX_FORWARD_STEP_MS = 3_600_000;

/** The options with defaults filled in. Throws `InvariantViolation` if they cannot work. */
export function settle(options: OracleOptions): OracleSettings {
  assertObject(options, "the options of an oracle");
  assertMethods(options.driver, "the driver of an oracle", [
    "leadershipEvents",
    "loadHighWater",
    "persistHighWater",
    "close",
  ]);
  const windowAheadMs = options.windowAheadMs ?? DEFAULT_WINDOW_AHEAD_MS;
  const settings: OracleSettings = {
    driver: options.driver,
    windowAheadMs,
    failoverAdvanceMs: options.failoverAdvanceMs ?? DEFAULT_FAILOVER_ADVANCE_MS,
    maxLeadMs: options.maxLeadMs ?? Math.max(2 * windowAheadMs, windowAheadMs + 2),
    leadWaitMs: options.leadWaitMs ?? DEFAULT_LEAD_WAIT_MS,
    maxWaiting: options.maxWaiting ?? DEFAULT_MAX_WAITING,
    maxForwardStepMs: options.maxForwardStepMs ?? DEFAULT_MAX_FORWARD_STEP_MS,
    metrics: options.metrics ?? new Metrics(),
    onEvent: options.onEvent ?? (() => {}),
    clock: options.clock ?? systemWallClock,
    monotonicClock: options.monotonicClock ?? systemMonotonicClock,
    timers: options.timers ?? systemTimers,
  };
  assertMethods(settings.clock, "the clock of an oracle", ["nowMs"]);
  assertMethods(settings.monotonicClock, "the monotonic clock of an oracle", ["nowMs"]);
  assertMethods(settings.timers, "the timers of an oracle", ["after"]);
  for (const name of ["windowAheadMs", "failoverAdvanceMs", "maxLeadMs", "leadWaitMs", "maxForwardStepMs"] as const) {
    assert(
      Number.isSafeInteger(settings[name]) && settings[name] >= 0,
      `${name} is a whole number of milliseconds, 0 or more`,
    );
  }
  assert(Number.isSafeInteger(settings.maxWaiting) && settings.maxWaiting > 0, "maxWaiting is a whole number above 0");
  assert(settings.maxLeadMs > windowAheadMs, "maxLeadMs is more than windowAheadMs, or no window could be extended");
  return settings;
}
