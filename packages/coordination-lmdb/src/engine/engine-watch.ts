/** How often to check the engine while a write is pending. */
const ASKED_AGAIN_MS = 1000;

type Fail = (reason: unknown) => void;

/** A pending write that is no longer awaited. Its outcome is unknown. `cause` is the failure of the engine. */
export class AbandonedWrite extends Error {
  constructor(cause: unknown) {
    super("the engine failed while a write was pending", { cause });
  }
}

/**
 * Checks from time to time whether the engine still works while writes are pending: if another thread broke it, the
 * driver never settles them.
 *
 * All writes share one timer, because a timer per write takes as long as a checkpoint. It stops when nothing has been
 * pending for a while, and keeps the process alive only while a write is pending.
 */
export class EngineWatch {
  readonly #ask: () => void;
  readonly #waiting = new Set<Fail>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** `ask` throws if the engine no longer works. */
  constructor(ask: () => void) {
    this.#ask = ask;
  }

  /** Settles as `made` does. Rejects with an `AbandonedWrite` if the engine breaks first. */
  unlessBroken<T>(made: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#begin(reject);
      made.then(
        (answer) => {
          this.#end(reject);
          resolve(answer);
        },
        (reason: unknown) => {
          this.#end(reject);
          reject(reason);
        },
      );
    });
  }

  #begin(fail: Fail): void {
    this.#timer ??= setInterval(() => this.#look(), ASKED_AGAIN_MS);
    if (this.#waiting.size === 0) this.#timer.ref();
    this.#waiting.add(fail);
  }

  #end(fail: Fail): void {
    this.#waiting.delete(fail);
    if (this.#waiting.size === 0) this.#timer?.unref();
  }

  #look(): void {
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    try {
      this.#ask();
    } catch (reason) {
      for (const fail of this.#waiting) {
        this.#end(fail);
        fail(new AbandonedWrite(reason));
      }
    }
  }
}
