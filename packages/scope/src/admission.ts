import type { Counter } from "./in-flight.ts";
import type { Owned, Unknown } from "./routing.ts";

/**
 * Leave to operate on a key. It counts as in flight until it is released.
 *
 * Release it when the operation can have no more effect, whether it succeeded or not: a move of the
 * scope waits for that. `using` does it at the end of the block.
 */
export class Admission {
  /** Why it was given. */
  readonly verdict: Owned | Unknown;
  #counter: Counter | undefined;
  readonly #onRelease: () => void;

  constructor(verdict: Owned | Unknown, counter: Counter, onRelease: () => void) {
    counter.count += 1;
    this.verdict = verdict;
    this.#counter = counter;
    this.#onRelease = onRelease;
  }

  get isReleased(): boolean {
    return this.#counter === undefined;
  }

  /** Once is enough; again does nothing. */
  release(): void {
    if (this.#counter === undefined) return;
    this.#counter.count -= 1;
    this.#counter = undefined;
    this.#onRelease();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
