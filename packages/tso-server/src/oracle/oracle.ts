import { assert, err, ok, type Result } from "@gossip/stdx";
import type { Metrics } from "../metrics/metrics.ts";
import { AnswerTally, type Answer } from "./answer.ts";
import { ClockGuard } from "./clock-guard.ts";
import type { ServingState } from "./get-ts-error.ts";
import { LeadershipWatch, type WatchError } from "./leadership-watch.ts";
import { settle, type OracleOptions, type OracleSettings } from "./oracle-options.ts";
import { ServingGate } from "./serving-gate.ts";
import { WindowExtender } from "./window-extender.ts";

/**
 * A timestamp oracle in this process: an allocator, the driver that makes its bound durable, and the
 * watch that fences it at every change of leadership. `OracleServer` serves it over the network.
 */
export class Oracle {
  /** Resolves when the oracle has stopped: by `shutdown`, or by itself with the reason. */
  readonly finished: Promise<Result<void, WatchError>>;
  readonly metrics: Metrics;
  readonly #settings: OracleSettings;
  readonly #gate: ServingGate;
  readonly #guard: ClockGuard;
  readonly #extender: WindowExtender;
  readonly #tally: AnswerTally;
  readonly #watch: LeadershipWatch;

  constructor(options: OracleOptions) {
    const settings = settle(options);
    const { metrics, onEvent } = settings;
    const refused = metrics.counter("tsoracle.clock.refused.total");
    this.#settings = settings;
    this.metrics = metrics;
    this.#gate = new ServingGate(settings.monotonicClock);
    this.#guard = new ClockGuard({
      ...settings,
      onRefusal: (refusal, isNews) => {
        refused.add();
        if (isNews) onEvent({ kind: "ClockRefused", ...refusal });
      },
    });
    this.#tally = new AnswerTally(metrics);
    const parts = { ...settings, gate: this.#gate, guard: this.#guard, tally: this.#tally };
    this.#extender = new WindowExtender({
      ...parts,
      onPersistFailed: (reason) => onEvent({ kind: "PersistFailed", reason }),
    });
    this.#watch = new LeadershipWatch({
      ...parts,
      extender: this.#extender,
      onFenceStuck: (report) => onEvent({ kind: "FenceStuck", ...report }),
    });
    this.finished = this.#watch.finished;
  }

  get state(): ServingState {
    return this.#gate.state;
  }

  /** Whether a request that arrives now is likely to be granted: it leads, for sure, and can extend its window. */
  get isReady(): boolean {
    return this.#gate.isServing && !this.#extender.isFailing;
  }

  /** Call `listener` on every change of state. Returns a function that stops it. */
  subscribe(listener: (state: ServingState) => void): () => void {
    return this.#gate.subscribe(listener);
  }

  /**
   * `count` timestamps of one millisecond. Returns at once, unless the window has to be extended first.
   *
   * Requests that wait are shared fairly between callers. Any object identifies one, such as its socket; requests without
   * one belong to the same caller.
   */
  getTs(count: number, caller: object = this): Answer | Promise<Answer> {
    return this.getTsMany([count], caller)[0]!;
  }

  /** An answer for each count, in order, from one reading of the clocks. */
  getTsMany(counts: readonly number[], caller: object = this): (Answer | Promise<Answer>)[] {
    assert(Array.isArray(counts), "counts must be an array");
    const nowMs = this.#guard.sample();
    const answers = counts.map((count) => this.#grant({ nowMs, count }, caller));
    // After the grants and before any reply: if another node has taken over by now, it may have issued greater ones.
    const isOurs = this.#gate.isWithinDeadline;
    for (let index = 0; index < answers.length; index++) {
      const answer = answers[index]!;
      if (answer instanceof Promise) continue;
      answers[index] = this.#tally.record(answer.ok && !isOurs ? err(this.#gate.refusal()) : answer);
    }
    return answers;
  }

  /**
   * Stop serving at once, and let pending work end, for at most `graceMs`; 0 waits for nothing.
   *
   * The driver stays open: close it afterwards, so that no other node leads before this one has stopped.
   */
  async shutdown(options: { readonly graceMs?: number } = {}): Promise<Result<void, WatchError>> {
    const { graceMs = 10_000 } = options;
    this.#watch.stop();
    const ended = this.#extender.drain().then(() => this.finished);
    let cancel = (): void => {};
    const late = new Promise<"late">((resolve) => {
      cancel = this.#settings.timers.after(graceMs, () => resolve("late"));
    });
    const first = await Promise.race([ended, late]);
    cancel();
    if (first !== "late") return first;
    this.metrics.counter("tsoracle.shutdown.watch_aborted.total").add();
    return ok();
  }

  #grant(request: { readonly nowMs: number; readonly count: number }, caller: object): Answer | Promise<Answer> {
    const { nowMs, count } = request;
    const granted = this.#gate.allocator.tryGrant(nowMs, count);
    if (granted.ok) {
      this.#extender.afterGrant(granted.value, nowMs);
      return granted;
    }
    if (granted.error.kind === "NotLeader") return err(this.#gate.refusal());
    if (granted.error.kind === "WindowExhausted") return this.#extender.grantAfterExtension(request, caller);
    return err(granted.error);
  }
}
