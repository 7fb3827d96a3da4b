import { assert } from "@gossip/stdx";

type OnResult<R> = (result: R) => void;
type OnFailure = (cause: unknown) => void;

/**
 * A result that arrives later. `process` may return one instead of a promise.
 *
 * It has one reader, which is called as soon as the result arrives, and not in a microtask. So it allocates nothing
 * besides itself, while a promise with its functions and the promise of its `then` cost more than a short item.
 */
export class LateResult<R> implements PromiseLike<R> {
  #onResult: OnResult<R> | undefined;
  #onFailure: OnFailure | undefined;
  #outcome: { readonly result: R } | { readonly cause: unknown } | undefined;

  /** Report the result. Ignored after the first outcome, as with a promise. */
  resolve(result: R): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = this.#onResult === undefined ? { result } : TOLD;
    this.#onResult?.(result);
  }

  /** Report a failure. Ignored after the first outcome. */
  reject(cause: unknown): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = this.#onFailure === undefined ? { cause } : TOLD;
    this.#onFailure?.(cause);
  }

  /** Set the one reader. It is called at once if there is an outcome. */
  follow(onResult: OnResult<R>, onFailure: OnFailure): void {
    assert(this.#onResult === undefined, "a late result has one reader");
    this.#onResult = onResult;
    this.#onFailure = onFailure;
    const outcome = this.#outcome;
    if (outcome === undefined) return;
    if ("result" in outcome) onResult(outcome.result);
    else onFailure(outcome.cause);
  }

  // oxlint-disable-next-line unicorn/no-thenable -- code that awaits it gets a promise
  then<T = R, F = never>(
    onResult?: ((result: R) => T | PromiseLike<T>) | null,
    onFailure?: ((cause: unknown) => F | PromiseLike<F>) | null,
  ): Promise<T | F> {
    return new Promise<R>((resolve, reject) => this.follow(resolve, reject)).then(onResult, onFailure);
  }
}

/** The reader has the outcome. */
const TOLD = /* @__PURE__ */ Object.freeze({ cause: undefined });
