/** Lines that are passed on in a second. */
const MAX_LINES = 1000;
const WINDOW_MS = 1000;

/**
 * Passes on the log lines of processes, but not more than a reader can use: a process that writes without end would
 * otherwise keep this process from renewing its leases.
 */
export class LogLimit {
  readonly #nowMs: () => number;
  #sinceMs = -Infinity;
  #count = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Returns whether to pass on a line, and how many lines before it were left out. */
  next(): { readonly isWanted: boolean; readonly leftOut: number } {
    const nowMs = this.#nowMs();
    const isNew = nowMs - this.#sinceMs >= WINDOW_MS;
    const leftOut = isNew ? this.leftOut : 0;
    if (isNew) {
      this.#sinceMs = nowMs;
      this.#count = 0;
    }
    return { isWanted: ++this.#count <= MAX_LINES, leftOut };
  }

  /** Lines of this second that were left out. */
  get leftOut(): number {
    return Math.max(0, this.#count - MAX_LINES);
  }
}
