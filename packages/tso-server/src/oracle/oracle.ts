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
 * watch that fences it in at every change of leadership. Transports put it on a wire.
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

  /** Hear of every change of state. Returns a function that stops it. */
  subscribe(listener: (state: ServingState) => void): () => void {
    return this.#gate.subscribe(listener);
  }

  /** `count` timestamps of one millisecond. Answers at once, unless the window has to be extended first. */
  getTs(count: number): Answer | Promise<Answer> {
    return this.getTsMany([count])[0]!;
  }

  /** An answer for each count, in order, for the price of one look at the clocks. */
  getTsMany(counts: readonly number[]): (Answer | Promise<Answer>)[] {
    assert(Array.isArray(counts), "what is asked for is a list of counts");
    const nowMs = this.#guard.sample();
    const answers = counts.map((count) => this.#grant(nowMs, count));
    // After the grants and before any reply: had another node taken over by now, theirs might be greater.
    const isOurs = this.#gate.isWithinDeadline;
    for (let index = 0; index < answers.length; index++) {
      const answer = answers[index]!;
      if (answer instanceof Promise) continue;
      answers[index] = this.#tally.record(answer.ok && !isOurs ? err(this.#gate.refusal()) : answer);
    }
    return answers;
  }

  /**
   * Stop serving, at once, and let what is under way end, for at most `graceMs`; 0 waits for nothing.
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

  #grant(nowMs: number, count: number): Answer | Promise<Answer> {
    const granted = this.#gate.allocator.tryGrant(nowMs, count);
    if (granted.ok) {
      this.#extender.afterGrant(granted.value, nowMs);
      return granted;
    }
    if (granted.error.kind === "NotLeader") return err(this.#gate.refusal());
    if (granted.error.kind === "WindowExhausted") return this.#extender.grantAfterExtension(nowMs, count);
    return err(granted.error);
  }
}
