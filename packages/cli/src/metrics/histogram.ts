/** Upper bounds of the buckets, in seconds: from a local write to a store that hardly responds. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Counts durations in buckets, as Prometheus histograms do. */
export class Histogram {
  readonly #counts: number[] = BOUNDS.map(() => 0);
  #count = 0;
  #sum = 0;

  record(seconds: number): void {
    const index = BOUNDS.findIndex((bound) => seconds <= bound);
    if (index !== -1) this.#counts[index]!++;
    this.#count++;
    this.#sum += seconds;
  }

  /** Lines of the exposition format. `labels` is empty or ends with a comma. */
  lines(name: string, labels: string): string[] {
    let below = 0;
    const buckets = BOUNDS.map((bound, index) => {
      below += this.#counts[index]!;
      return `${name}_bucket{${labels}le="${bound}"} ${below}`;
    });
    const plain = labels === "" ? "" : `{${labels.slice(0, -1)}}`;
    return [
      ...buckets,
      `${name}_bucket{${labels}le="+Inf"} ${this.#count}`,
      `${name}_sum${plain} ${this.#sum}`,
      `${name}_count${plain} ${this.#count}`,
    ];
  }
}
