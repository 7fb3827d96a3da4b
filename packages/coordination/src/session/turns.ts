/** Lets callers run one at a time, in the order of their calls. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Resolves when the previous caller passes the turn on. */
  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  take(): void {
    this.#isTaken = true;
  }

  /** Passes the turn on. It stays taken if a caller waits, so that no new call comes first. */
  pass(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isTaken = false;
    else next();
  }
}
