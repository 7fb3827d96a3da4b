import type { WorkerTime } from "./worker-time.ts";

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Turns of the event loop after which only timers can be pending. Everything in these tests is in memory. */
const QUIET_TURNS = 3;

/**
 * Time that moves on request, or from one timer to the next as soon as nothing else happens. Randomness comes from a
 * seed.
 */
export class ManualTime implements WorkerTime {
  readonly #timers = new Set<Timer>();
  readonly #onAdvance: (ms: number) => void;
  #nowMs = 0;
  #order = 0;
  #seed: number;

  /** `onAdvance` is called for every step, so that a coordinator's clock can move along. */
  constructor({
    seed = 1,
    onAdvance = () => undefined,
  }: { readonly seed?: number; readonly onAdvance?: (ms: number) => void } = {}) {
    this.#seed = seed >>> 0;
    this.#onAdvance = onAdvance;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  startTimer(ms: number, callback: () => void): () => void {
    const timer = { atMs: this.#nowMs + Math.max(0, ms), order: this.#order++, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  yieldToLoop(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  random(): number {
    // A small linear congruential generator: only its spread matters here.
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#seed / 2 ** 32;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.startTimer(ms, resolve));
  }

  /** Let time pass without firing timers, as if a handler blocked the loop. */
  block(ms: number): void {
    this.#nowMs += ms;
    this.#onAdvance(ms);
  }

  /** Let time pass until `work` is settled. */
  async runUntil<T>(work: Promise<T>): Promise<T> {
    let isSettled = false;
    const watched = work.finally(() => {
      isSettled = true;
    });
    // The caller gets the rejection below.
    watched.catch(() => undefined);
    for (;;) {
      for (let turn = 0; turn < QUIET_TURNS && !isSettled; turn++) await this.yieldToLoop();
      if (isSettled) return watched;
      if (!this.#fireNext()) throw new Error("nothing is pending, but the work is not done");
    }
  }

  #fireNext(): boolean {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (next === undefined || timer.atMs < next.atMs || (timer.atMs === next.atMs && timer.order < next.order))
        next = timer;
    }
    if (next === undefined) return false;
    this.#timers.delete(next);
    const stepMs = Math.max(0, next.atMs - this.#nowMs);
    if (stepMs > 0) this.block(stepMs);
    next.callback();
    return true;
  }
}
