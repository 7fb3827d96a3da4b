import { assert } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { assertMethods } from "../assert-input.ts";
import type { CounterName } from "../metrics/metric-names.ts";
import { Oracle } from "../oracle/oracle.ts";
import type { MonotonicClock, Timers } from "../time/system-time.ts";

/** A sign of life: what happened since the last one. Sent also when nothing did. */
export interface Heartbeat {
  readonly uptimeMs: number;
  readonly isServing: boolean;
  readonly epoch: bigint | undefined;
  readonly requests: number;
  readonly issued: number;
  readonly notLeader: number;
  readonly transitions: number;
  readonly fenceRetries: number;
  readonly sinceTransitionMs: number;
}

const COUNTED = {
  requests: "tsoracle.get_ts.requests.total",
  issued: "tsoracle.get_ts.timestamps_issued",
  notLeader: "tsoracle.not_leader.total",
  transitions: "tsoracle.leader_transition.total",
  fenceRetries: "tsoracle.leader_transition.fence_transient_retries.total",
} as const satisfies Record<string, CounterName>;

type Counted = keyof typeof COUNTED;

/** Beat every `everyMs` until the function that it returns is called. A listener that throws is counted, and beaten again. */
export function startHeartbeat(
  oracle: Oracle,
  options: {
    readonly everyMs: number;
    readonly timers: Timers;
    readonly monotonicClock: MonotonicClock;
    readonly onBeat: (beat: Heartbeat) => void;
  },
): () => void {
  assert(oracle instanceof Oracle, "a heartbeat is an oracle's");
  assertObject(options, "the options of a heartbeat");
  assert(Number.isFinite(options.everyMs) && options.everyMs > 0, "a heartbeat comes every so many milliseconds");
  assert(typeof options.onBeat === "function", "onBeat must be a function");
  assertMethods(options.timers, "the timers of a heartbeat", ["after"]);
  assertMethods(options.monotonicClock, "the clock of a heartbeat", ["nowMs"]);
  const { everyMs, timers, monotonicClock, onBeat } = options;
  const startedAtMs = monotonicClock.nowMs();
  let changedAtMs = startedAtMs;
  const stopListening = oracle.subscribe(() => (changedAtMs = monotonicClock.nowMs()));
  let before = read(oracle);
  let cancel = timers.after(everyMs, beat);

  function beat(): void {
    cancel = timers.after(everyMs, beat);
    const nowMs = monotonicClock.nowMs();
    const after = read(oracle);
    const { state } = oracle;
    const since = Object.fromEntries(
      Object.keys(COUNTED).map((name) => [name, after[name as Counted] - before[name as Counted]]),
    ) as Record<Counted, number>;
    before = after;
    try {
      onBeat({
        uptimeMs: nowMs - startedAtMs,
        isServing: oracle.isReady,
        epoch: state.kind === "Serving" ? state.epoch : undefined,
        ...since,
        sinceTransitionMs: nowMs - changedAtMs,
      });
    } catch {
      oracle.metrics.counter("tsoracle.heartbeat.task_panicked.total").add();
    }
  }

  return () => {
    stopListening();
    cancel();
  };
}

function read(oracle: Oracle): Record<Counted, number> {
  return Object.fromEntries(
    Object.entries(COUNTED).map(([name, counter]) => [name, oracle.metrics.counter(counter).value]),
  ) as Record<Counted, number>;
}
