// How hard a test looks, and the seed it looks from. Everything that is random in a test or a fixture comes from here or from
// fast-check, so that `npm test` gives the same answer for the same commit on every machine.

/** The seed of every run that is not told another one. */
export const FIXED_SEED = 20_261_116;

/** Whether `npm run explore` started this process: new seeds, long runs. */
export const isExploring: boolean = process.env["GOSSIP_EXPLORE"] === "1";

/** The seed of everything that is random outside of properties. `GOSSIP_CHAOS_SEED` replays a run that printed it. */
export const CHAOS_SEED: number = Number(process.env["GOSSIP_CHAOS_SEED"] ?? FIXED_SEED);

/** Returns `exploring` in `npm run explore` and `usual` in `npm test`: a number of rounds, seconds or items. */
export function effort<Amount>({ usual, exploring }: { readonly usual: Amount; readonly exploring: Amount }): Amount {
  return isExploring ? exploring : usual;
}

/**
 * Returns a function like `Math.random` whose numbers depend on the chaos seed and `stream` alone. Processes and loops that
 * draw at the same time need a stream each, or the numbers depend on which of them draws first.
 */
export function seededRandom(stream = 0): () => number {
  // Mulberry32: small, and the same everywhere.
  let state = (CHAOS_SEED + Math.imul(stream, 0x9e37_79b9)) >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
