import fc from "fast-check";

/** Other than the seed that properties play from by default: the examples would be the first cases again. */
const EXAMPLE_SEED = 7;

/**
 * Returns cases for the `examples` of a property. It meets them whatever its seed, in place of as many drawn ones.
 * A property that demands afterwards that something occurred needs them: otherwise some seed would miss it.
 */
export function fixedExamples<Values extends unknown[]>(
  count: number,
  ...arbitraries: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> }
): Values[] {
  return fc.sample(fc.tuple<Values>(...arbitraries), { seed: EXAMPLE_SEED, path: "", numRuns: count });
}
