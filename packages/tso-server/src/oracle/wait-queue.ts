import { MAX_GRANT_COUNT } from "@gossip/tso";
import type { Answer } from "./answer.ts";

/** A request that found the window exhausted. It keeps the clock reading that it arrived with. */
export interface Request {
  readonly nowMs: number;
  readonly count: number;
  /** On the monotonic clock: from then on it no longer waits for the clock. */
  readonly expiresAtMs: number;
  readonly settle: (answer: Answer) => void;
}

interface Waiter extends Request {
  readonly line: Line;
  hasLeft: boolean;
}

/** The requests of one caller. */
interface Line {
  readonly caller: object;
  readonly waiters: Fifo<Waiter>;
  waiting: number;
  /** Timestamps that it may still take before the next caller's turn. */
  credit: number;
}

/** One millisecond of time: no request takes more. */
const CREDIT_PER_TURN = MAX_GRANT_COUNT;

/**
 * Requests that wait for the window to grow, shared fairly between callers.
 *
 * Callers take turns (deficit round robin): a turn is worth one millisecond of timestamps, whether they go into one request
 * or thousands. A caller's own requests keep their order. Every operation takes amortized constant time, however many wait.
 */
export class WaitQueue {
  readonly #maxWaiting: number;
  readonly #lines = new Map<object, Line>();
  readonly #turns = new Fifo<Line>();
  readonly #arrivals = new Fifo<Waiter>();
  #size = 0;
  #latestMs = 0;

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  get size(): number {
    return this.#size;
  }

  /** The latest clock reading of any request since the queue was last empty. */
  get latestMs(): number {
    return this.#size === 0 ? 0 : this.#latestMs;
  }

  /** When the oldest request expires. */
  get firstExpiryMs(): number | undefined {
    return this.#oldest()?.expiresAtMs;
  }

  /** Whether `caller` may add a request. A full queue still takes those of a caller that has less than its equal share. */
  hasRoomFor(caller: object): boolean {
    if (this.#size < this.#maxWaiting) return true;
    const waiting = this.#lines.get(caller)?.waiting ?? 0;
    const callers = this.#lines.size + (waiting === 0 ? 1 : 0);
    return waiting < Math.floor(this.#maxWaiting / callers);
  }

  add(caller: object, request: Request): void {
    const line = this.#lines.get(caller) ?? this.#open(caller);
    const waiter: Waiter = { ...request, line, hasLeft: false };
    this.#latestMs = Math.max(this.latestMs, request.nowMs);
    line.waiters.push(waiter);
    line.waiting += 1;
    this.#arrivals.push(waiter);
    this.#size += 1;
  }

  /** The request whose turn it is. It stays until `take`. */
  get next(): Request | undefined {
    return this.#next();
  }

  /** Remove the request whose turn it is. */
  take(): void {
    const waiter = this.#next();
    if (waiter === undefined) return;
    waiter.line.credit -= waiter.count;
    this.#remove(waiter);
  }

  /** Remove and return the oldest request if it has expired by `nowMs`. */
  takeExpired(nowMs: number): Request | undefined {
    const oldest = this.#oldest();
    if (oldest === undefined || oldest.expiresAtMs > nowMs) return undefined;
    this.#remove(oldest);
    return oldest;
  }

  #next(): Waiter | undefined {
    for (let line = this.#turns.first; line !== undefined; line = this.#turns.first) {
      const waiter = firstWaiting(line.waiters);
      if (waiter !== undefined && waiter.count <= line.credit) return waiter;
      this.#turns.shift();
      if (waiter === undefined) continue;
      line.credit += CREDIT_PER_TURN;
      this.#turns.push(line);
    }
    return undefined;
  }

  #oldest(): Waiter | undefined {
    return firstWaiting(this.#arrivals);
  }

  #open(caller: object): Line {
    const line: Line = { caller, waiters: new Fifo(), waiting: 0, credit: CREDIT_PER_TURN };
    this.#lines.set(caller, line);
    this.#turns.push(line);
    return line;
  }

  /** The waiter stays in the lists until it comes first there. */
  #remove(waiter: Waiter): void {
    waiter.hasLeft = true;
    this.#size -= 1;
    waiter.line.waiting -= 1;
    if (waiter.line.waiting === 0) this.#lines.delete(waiter.line.caller);
  }
}

function firstWaiting(waiters: Fifo<Waiter>): Waiter | undefined {
  while (waiters.first?.hasLeft === true) waiters.shift();
  return waiters.first;
}

/** An array whose head moves, because `Array.shift` of a long array copies it. */
class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): void {
    this.#head += 1;
    if (this.#head * 2 < this.#items.length) return;
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}
