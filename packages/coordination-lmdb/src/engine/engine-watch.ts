/** How often the engine is asked while a write waits. */
const ASKED_AGAIN_MS = 1000;

type Fail = (reason: unknown) => void;

/** The wait for a write was given up. The write is still pending, so its outcome is unknown. `cause` is why the engine was believed broken. */
export class AbandonedWrite extends Error {
  constructor(cause: unknown) {
    super("the engine failed while a write was pending", { cause });
  }
}

/**
 * Asks the engine from time to time whether it still works while writes are pending: an engine that another thread has broken since never
 * settles them.
 *
 * All writes share one timer, which stops itself when nothing has been pending for a while: a timer for each write takes as long as a
 * checkpoint. It keeps the process alive only while a write is pending.
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
