interface Sample {
  readonly atMs: number;
  readonly items: number;
  readonly fraction: number;
}

/** The window of a rate: long enough to be smooth, short enough to be current. */
const WINDOW_MS = 20_000;

/** How fast the work proceeds, and how long it will take at that rate. */
export class RateMeter {
  readonly #samples: Sample[] = [];

  add(sample: Sample): void {
    this.#samples.push(sample);
    while (this.#samples.length > 2 && sample.atMs - this.#samples[1]!.atMs >= WINDOW_MS) this.#samples.shift();
  }

  /** `undefined` until there is enough data. */
  get perSecond(): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return undefined;
    return Math.max(0, last.items - first.items) / ((last.atMs - first.atMs) / 1000);
  }

  /** `undefined` while there is no progress. */
  get remainingMs(): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last.fraction <= first.fraction) return undefined;
    return ((1 - last.fraction) / (last.fraction - first.fraction)) * (last.atMs - first.atMs);
  }
}
