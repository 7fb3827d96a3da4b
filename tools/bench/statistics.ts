/** The value below which the fraction `q` of the samples lies. */
export function quantile(samples: readonly number[], q: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const position = (sorted.length - 1) * q;
  const low = Math.floor(position);
  const high = Math.ceil(position);
  return sorted[low]! + (sorted[high]! - sorted[low]!) * (position - low);
}

export interface Spread {
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

/** The median and the quartiles around it. */
export function spreadOf(samples: readonly number[]): Spread {
  return { low: quantile(samples, 0.25), median: quantile(samples, 0.5), high: quantile(samples, 0.75) };
}
