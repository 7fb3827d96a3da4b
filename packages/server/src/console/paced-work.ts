export interface PaceOptions {
  /** The share of time that the work may take. */
  readonly share: number;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** A rest that is shorter is saved up: a timer costs more. */
const LEAST_REST_MS = 10;
const LONGEST_REST_MS = 500;

/** Work in steps with rests between them, so that it takes only a share of the time of this process and of the store. */
export class PacedWork {
  readonly #options: PaceOptions;
  #workedMs = 0;
  #owedMs = 0;
  #stepEndMs: number | undefined;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** How long the steps took, without the rests. */
  get workedMs(): number {
    return this.#workedMs;
  }

  async step<T>(work: () => Promise<T>): Promise<T> {
    const { nowMs } = this.#options;
    const beganMs = nowMs();
    const done = await work();
    this.#stepEndMs = nowMs();
    this.#count(this.#stepEndMs - beganMs);
    return done;
  }

  /** Rest for what was worked since, also after the step. Lets other work of the process go on in any case. */
  async rest(): Promise<void> {
    const { nowMs, sleep } = this.#options;
    if (this.#stepEndMs !== undefined) this.#count(nowMs() - this.#stepEndMs);
    this.#stepEndMs = undefined;
    if (this.#owedMs < LEAST_REST_MS) return new Promise((resolve) => setImmediate(resolve));
    const restMs = Math.min(this.#owedMs, LONGEST_REST_MS);
    this.#owedMs = 0;
    await sleep(restMs);
  }

  #count(ms: number): void {
    this.#workedMs += ms;
    this.#owedMs += ms * (1 / this.#options.share - 1);
  }
}
