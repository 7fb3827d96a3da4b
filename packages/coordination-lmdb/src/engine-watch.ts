/** How often the engine is asked while a write waits. */
const ASKED_AGAIN_MS = 1000;

type Fail = (reason: unknown) => void;

/**
 * Asks an engine now and then whether it can still make the writes that wait for it: one that another thread has broken since it was
 * given them never answers.
 *
 * One timer for all of them, which goes on while nothing waits and ends itself when nothing has for a while: to make one for each write
 * takes as long as a checkpoint. It keeps the process alive only while something waits.
 */
export class EngineWatch {
  readonly #ask: () => void;
  readonly #waiting = new Set<Fail>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** `ask` throws where nothing can be made any more. */
  constructor(ask: () => void) {
    this.#ask = ask;
  }

  /** What a write comes to, as long as there is an engine that can make it; else what `ask` throws. */
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
        fail(reason);
      }
    }
  }
}
