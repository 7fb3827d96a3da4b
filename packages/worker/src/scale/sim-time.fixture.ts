import type { WorkerTime } from "../time/worker-time.ts";

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

  /** Fires timers in order until `isOver`. Throws if nothing is pending before that, or after `limitMs`. */
  async runUntil(isOver: () => boolean, limitMs: number): Promise<void> {
    for (;;) {
      // Everything runs in memory, so one turn of the event loop settles every promise.
      await new Promise((resolve) => setImmediate(resolve));
      if (isOver()) return;
      const timer = this.#pop();
      if (timer === undefined) throw new Error("nothing is pending, but the work is not done");
      if (timer.atMs > limitMs) throw new Error(`not done after ${limitMs} ms of simulated time`);
      if (timer.atMs > this.#nowMs) {
        this.#nowMs = timer.atMs;
        this.#onAdvance(this.#nowMs);
      }
      timer.callback?.();
    }
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
