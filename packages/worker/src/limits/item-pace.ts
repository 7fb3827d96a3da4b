/** Sums of fractions come out a little below the whole number. */
const ALMOST_ONE = 1 - 1e-9;

/**
 * Items that this process may start, spread evenly over the time that they were given for.
 *
 * Without it, all processes of a run would start their items of half a second at once, and then wait.
 */
export class ItemPace {
  #held = 0;
  /** How many of them may start by now. */
  #due = 0;
  #dueMs = 0;
  #perMs = 0;

  /** Items that were given and not started. */
  get held(): number {
    return this.#held;
  }

  /** More items were given, to be started within `withinMs`. The first one may start at once. */
  give(items: number, { nowMs, withinMs }: { readonly nowMs: number; readonly withinMs: number }): void {
    this.#accrue(nowMs);
    this.#held += items;
    this.#due = Math.min(this.#held, Math.max(this.#due, 1));
    this.#perMs = this.#held / withinMs;
  }

  /** Time until the next item may start: 0 if one may start now, `undefined` if there is none. */
  untilNextMs(nowMs: number): number | undefined {
    if (this.#held === 0) return undefined;
    this.#accrue(nowMs);
    return this.#due >= ALMOST_ONE ? 0 : (1 - this.#due) / this.#perMs;
  }

  /** An item is started. */
  take(): void {
    this.#held = Math.max(0, this.#held - 1);
    this.#due = Math.max(0, this.#due - 1);
  }

  /** Drop what was given. Returns how much that was. */
  clear(): number {
    const held = this.#held;
    this.#held = this.#due = this.#perMs = 0;
    return held;
  }

  #accrue(nowMs: number): void {
    this.#due = Math.min(this.#held, this.#due + this.#perMs * (nowMs - this.#dueMs));
    this.#dueMs = nowMs;
  }
}
