// Compares what was measured with what was promised.
import type { Bound, NamedComparison } from "./comparison.ts";
import type { FormResult } from "./measure.ts";
import { quantile, spreadOf, type Spread } from "./statistics.ts";

export interface Verdict {
  readonly sentence: string;
  /** Missed, whatever the noise. */
  readonly isMissed: boolean;
  /** Missed by the median, and yet a quarter of the rounds kept it: the machine was too busy to tell. */
  readonly isUnclear?: boolean;
}

/** What a loop itself may leave on the heap, a call, without the form having allocated. */
const HEAP_NOISE_BYTES = 1;

export function judge(comparison: NamedComparison, results: readonly FormResult[]): Verdict[] {
  return (comparison.bounds ?? []).map((bound) => judgeBound(bound, results));
}

function judgeBound(bound: Bound, results: readonly FormResult[]): Verdict {
  const form = resultOf(results, bound.form);
  if ("heapBytesAtMost" in bound) {
    const bytes = form.heapBytes ?? Number.NaN;
    return {
      sentence: `${bound.form}: ${bytes.toFixed(1)} heap bytes a call, promised at most ${bound.heapBytesAtMost}`,
      isMissed: !(bytes <= bound.heapBytesAtMost + HEAP_NOISE_BYTES),
    };
  }
  if ("perSecondAtLeast" in bound) {
    const rate = 1e9 / form.ns.median;
    return {
      sentence: `${bound.form}: ${Math.round(rate).toLocaleString("en")} a second, promised at least ${bound.perSecondAtLeast.toLocaleString("en")}`,
      // The quick quartile, because a neighbor on the machine can only slow us down.
      isMissed: 1e9 / form.ns.low < bound.perSecondAtLeast,
      isUnclear: 1e9 / form.ns.low >= bound.perSecondAtLeast && rate < bound.perSecondAtLeast,
    };
  }
  const best = bestOf(bound.toBestOf.map((name) => resultOf(results, name)));
  const ratio = ratioSpread(form, best);
  return {
    sentence: `${bound.form}: ${ratio.median.toFixed(2)}x (${ratio.low.toFixed(2)} to ${ratio.high.toFixed(2)}) of ${best.name}, promised at most ${round(bound.ratioAtMost)}x`,
    isMissed: ratio.low > bound.ratioAtMost,
    isUnclear: ratio.low <= bound.ratioAtMost && ratio.median > bound.ratioAtMost,
  };
}

/** A verdict in a word. */
export function wordFor({ isMissed, isUnclear }: Verdict): "holds" | "unclear" | "missed" {
  if (isMissed) return "missed";
  return isUnclear === true ? "unclear" : "holds";
}

/** Ratios are taken inside a round, where both forms met the same machine. */
export function ratioSpread(form: FormResult, baseline: FormResult): Spread {
  return spreadOf(form.samples.map((sample, round) => sample / baseline.samples[round]!));
}

/** The quicker baseline by its quick quartile, which the machine's neighbors disturb least. */
function bestOf(results: readonly FormResult[]): FormResult {
  return results.reduce((best, result) =>
    quantile(result.samples, 0.25) < quantile(best.samples, 0.25) ? result : best,
  );
}

function resultOf(results: readonly FormResult[], name: string): FormResult {
  const found = results.find((result) => result.name === name);
  if (found === undefined) throw new Error(`no form named ${name}`);
  return found;
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
