interface Sample {
  readonly atMs: number;
  readonly items: number;
}

/** The window of the displayed rate: long enough to be smooth, short enough to be current. */
const RATE_WINDOW_MS = 20_000;
/** The window that a prediction is based on: this share of the time so far, within these limits. */
const WINDOW_SHARE = 1 / 3;
const LEAST_WINDOW_MS = 5000;
const MOST_WINDOW_MS = 30_000;
/** No prediction from less than this. */
const LEAST_ELAPSED_MS = 3000;
/** A window reaches back until it has this many items. */
const FEWEST_ITEMS = 30;
/** A pace is steady if that of late differs from that of the window by no more. */
const BECOMES_STEADY = 1.2;
const STAYS_STEADY = 1.33;
/** Work that slows down tends to go on doing so: at the end, fewer and fewer shards are in work. */
const SLOWS_DOWN = 1.12;
const MAX_SAMPLES = 2048;

/** How fast the work proceeds, and whether that is steady enough to predict when it will end. */
export class Pace {
  #samples: Sample[] = [];
  #wasSteady = false;

  add(sample: Sample): void {
    this.#samples.push(sample);
    if (this.#samples.length <= MAX_SAMPLES) return;
    // Thin out the older half.
    const half = MAX_SAMPLES / 2;
    this.#samples = this.#samples.filter((_, index) => index >= half || index % 2 === 0);
  }

  /** Items per second of late. `undefined` until there are two samples. */
  get perSecond(): number | undefined {
    const last = this.#samples.at(-1);
    if (last === undefined) return undefined;
    const first = this.#at(last.atMs - RATE_WINDOW_MS);
    return last.atMs > first.atMs ? perMs(first, last) * 1000 : undefined;
  }

  /** How long `items` take. `undefined` if the pace is not known or not steady. */
  timeFor(items: number): number | undefined {
    const steady = this.#steadyPerMs();
    this.#wasSteady = steady !== undefined;
    return steady === undefined ? undefined : items / steady;
  }

  #steadyPerMs(): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    const elapsedMs = last.atMs - first.atMs;
    if (elapsedMs < LEAST_ELAPSED_MS) return undefined;
    const start = this.#windowStart(
      last,
      Math.min(MOST_WINDOW_MS, Math.max(LEAST_WINDOW_MS, elapsedMs * WINDOW_SHARE)),
    );
    if (last.items - start.items < FEWEST_ITEMS) return undefined;
    const late = this.#at(last.atMs - (last.atMs - start.atMs) / 3);
    const [whole, lately] = [perMs(start, last), perMs(late, last)];
    if (lately <= 0) return undefined;
    const ratio = Math.max(whole / lately, lately / whole);
    const noise = 1 / Math.sqrt(last.items - late.items);
    const limit = lately < whole ? SLOWS_DOWN : this.#wasSteady ? STAYS_STEADY : BECOMES_STEADY;
    return ratio <= limit + noise ? (whole + lately) / 2 : undefined;
  }

  #windowStart(last: Sample, windowMs: number): Sample {
    let index = this.#indexAt(last.atMs - windowMs);
    while (index > 0 && last.items - this.#samples[index]!.items < FEWEST_ITEMS) index--;
    return this.#samples[index]!;
  }

  /** The last sample at or before a time, or the first of all. */
  #at(atMs: number): Sample {
    return this.#samples[this.#indexAt(atMs)]!;
  }

  #indexAt(atMs: number): number {
    let index = this.#samples.length - 1;
    while (index > 0 && this.#samples[index]!.atMs > atMs) index--;
    return index;
  }
}

function perMs(from: Sample, to: Sample): number {
  return to.atMs > from.atMs ? Math.max(0, to.items - from.items) / (to.atMs - from.atMs) : 0;
}
