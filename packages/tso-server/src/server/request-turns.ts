import { LEAST_SHARE_OF_TURN, MAX_REQUESTS_PER_TURN } from "./server-limits.ts";

/** A connection that has requests to answer. */
export interface TurnTaker {
  /** Whether it has requests that it can answer now. */
  readonly isReady: boolean;
  /** Answer at most `most` requests. Returns how many. */
  takeTurn(most: number): number;
}

/**
 * Shares the turns of the event loop between connections.
 *
 * A server that answers whatever it reads is busy for seconds with a few hundred clients that send thousands of requests
 * each, and neither timers nor other connections get a turn. Here, `MAX_REQUESTS_PER_TURN` requests are answered before the
 * event loop goes on. Connections that have more take turns; each gets an equal share, of at least `LEAST_SHARE_OF_TURN`.
 */
export class RequestTurns {
  /** The next to take a turn comes first. */
  readonly #line = new Set<TurnTaker>();
  #left = MAX_REQUESTS_PER_TURN;
  #isScheduled = false;

  /** How many connections wait for their turn. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Let `taker` answer: at once if no other is waiting, otherwise when it is its turn. */
  join(taker: TurnTaker): void {
    if (this.#line.size === 0 && this.#left > 0) this.#serve(taker, this.#left);
    else this.#line.add(taker);
    this.#schedule();
  }

  leave(taker: TurnTaker): void {
    this.#line.delete(taker);
  }

  #schedule(): void {
    if (this.#isScheduled || this.#line.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isScheduled = false;
    this.#left = MAX_REQUESTS_PER_TURN;
    const share = Math.max(LEAST_SHARE_OF_TURN, Math.floor(MAX_REQUESTS_PER_TURN / this.#line.size));
    for (const taker of this.#line) {
      if (this.#left <= 0) break;
      this.#line.delete(taker);
      this.#serve(taker, Math.min(share, this.#left));
    }
    this.#schedule();
  }

  #serve(taker: TurnTaker, most: number): void {
    // A turn in which nothing is answered counts, too: it was one all the same.
    this.#left -= Math.max(1, taker.takeTurn(most));
    if (taker.isReady) this.#line.add(taker);
  }
}
