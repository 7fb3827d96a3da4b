export interface PatienceOptions {
  /** How long to wait for each. */
  readonly limitMs: number;
  /** How long it may take from one look to the next. One that left in between and came back would not be noticed. */
  readonly gapMs: number;
}

/** Decides for how long to wait for others: for each at most so long from when it was seen first. */
export class Patience {
  readonly #options: PatienceOptions;
  readonly #sinceMs = new Map<string, number>();
  #lookedMs = -Infinity;

  constructor(options: PatienceOptions) {
    this.#options = options;
  }

  /** Whether to go on waiting for one of `others`, who are there now. */
  isWorthWaiting(others: readonly string[], nowMs: number): boolean {
    const { limitMs, gapMs } = this.#options;
    if (nowMs - this.#lookedMs > gapMs) this.#sinceMs.clear();
    this.#lookedMs = nowMs;
    for (const known of this.#sinceMs.keys()) if (!others.includes(known)) this.#sinceMs.delete(known);
    let isWorth = false;
    for (const other of others) {
      const sinceMs = this.#sinceMs.get(other) ?? nowMs;
      this.#sinceMs.set(other, sinceMs);
      isWorth ||= nowMs - sinceMs < limitMs;
    }
    return isWorth;
  }
}
