import type { WorkerTime } from "../time/worker-time.ts";

const STEPS_PER_TURN = 256;

interface Timer {
  readonly atMs: number;
  readonly order: number;
  callback: (() => void) | undefined;
}

/**
 * Simulated time for many workers in one process. Timers are in a heap, so that a fleet of thousands costs no more per
 * event than a few workers do. Time moves to the next timer once every promise has settled.
 */
export class SimTime {
  readonly #heap: Timer[] = [];
  readonly #onAdvance: (nowMs: number) => void;
  #nowMs = 0;
  #order = 0;
  #seed: number;

  constructor({ seed, onAdvance }: { readonly seed: number; readonly onAdvance: (nowMs: number) => void }) {
    this.#seed = seed >>> 0;
    this.#onAdvance = onAdvance;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  startTimer(ms: number, callback: () => void): () => void {
    const timer: Timer = { atMs: this.#nowMs + Math.max(0, ms), order: this.#order++, callback };
    this.#push(timer);
    return () => {
      timer.callback = undefined;
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.startTimer(ms, resolve));
  }

  /** Mulberry32: small, and the same everywhere. */
  random(): number {
    this.#seed = (this.#seed + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(this.#seed ^ (this.#seed >>> 15), this.#seed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Fires timers in order until `isOver`. Rejects if nothing is pending before that, or after `limitMs`. */
  runUntil(isOver: () => boolean, limitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let pending = 0;
      let isDone = false;
      const end = (error?: Error): void => {
        isDone = true;
        if (error === undefined) resolve();
        else reject(error);
      };
      const step = (): void => {
        pending--;
        if (isDone) return;
        if (pending === 0) plan();
        if (isOver()) return end();
        const timer = this.#pop();
        if (timer === undefined) return end(new Error("nothing is pending, but the work is not done"));
        if (timer.atMs > limitMs) return end(new Error(`not done after ${limitMs} ms of simulated time`));
        if (timer.atMs > this.#nowMs) {
          this.#nowMs = timer.atMs;
          this.#onAdvance(this.#nowMs);
        }
        timer.callback?.();
      };
      // Everything runs in memory, so Node settles every promise between two immediates. Many are planned at once: a
      // turn of the event loop for each timer costs more than most timers do.
      const plan = (): void => {
        for (; pending < STEPS_PER_TURN; pending++) setImmediate(step);
      };
      plan();
    });
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let index = heap.push(timer) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(timer, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = timer;
  }

  /** The first timer that was not canceled. */
  #pop(): Timer | undefined {
    const heap = this.#heap;
    for (;;) {
      const first = heap[0];
      const last = heap.pop();
      if (first === undefined || last === undefined) return undefined;
      if (heap.length > 0) this.#sink(last);
      if (first.callback !== undefined) return first;
    }
  }

  #sink(timer: Timer): void {
    const heap = this.#heap;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, timer)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = timer;
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

/** The time as one process of the fleet sees it. A process that has crashed stays silent forever. */
export class ProcessTime implements WorkerTime {
  readonly #time: SimTime;
  #hasCrashed = false;

  constructor(time: SimTime) {
    this.#time = time;
  }

  crash(): void {
    this.#hasCrashed = true;
  }

  nowMs(): number {
    return this.#time.nowMs;
  }

  startTimer(ms: number, callback: () => void): () => void {
    return this.#time.startTimer(ms, () => {
      if (!this.#hasCrashed) callback();
    });
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.startTimer(ms, resolve));
  }

  yieldToLoop(): Promise<void> {
    return Promise.resolve();
  }

  random(): number {
    return this.#time.random();
  }
}
