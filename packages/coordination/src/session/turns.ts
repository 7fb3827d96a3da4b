/** Lets callers in one at a time, in the order in which they came. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Wait until the caller before passes the turn on. */
  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  take(): void {
    this.#isTaken = true;
  }

  /** Pass the turn on. It stays taken if a caller waits, so that no newcomer slips in between. */
  pass(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isTaken = false;
    else next();
  }
}
