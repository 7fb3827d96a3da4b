import type { RunAddress } from "./rows.ts";

const PLACES = 2 ** 32;
/** How many runs are remembered. Of others claiming starts anew where the worker points to. */
const MAX_RUNS = 1024;

interface RunPlace {
  /** Where the next listing begins. */
  next: number;
  /** How far the last one went for each candidate that it gave. */
  stride: number;
  /** The first listing, of which the others learn how far to go. */
  first: Promise<unknown> | undefined;
}

/**
 * Where in the claim index to look for candidates.
 *
 * The first listing of a run begins where its worker points to, so that processes look in different places. The next
 * goes on from there, even while others are under way: workers of one process that all began at places
 * of their own would one after the other come to where a neighbour is at work, and fight over the same shards. It also
 * leaves behind what was claimed before, whose entries the server cannot drop while somebody has an old snapshot open.
 */
export class ClaimPlaces {
  readonly #places = new Map<string, RunPlace>();

  /** List with `look`, which is told where to begin, and tells the places of what it found. */
  async list<T extends { readonly found: readonly number[] }>(
    { tenant, run }: RunAddress,
    { spread, limit }: { readonly spread: number; readonly limit: number },
    look: (start: number) => Promise<T>,
  ): Promise<T> {
    const place = this.#placeOf(`${tenant} ${run}`, spread);
    // Where it fails, each of those who waited for it hears of that from its own.
    if (place.first !== undefined) await Promise.allSettled([place.first]);
    const start = place.next;
    place.next = around(start + Math.ceil(place.stride * limit));
    const looking = look(start);
    if (place.stride === 0) place.first = looking;
    try {
      const listing = await looking;
      note(place, start, listing.found);
      return listing;
    } finally {
      if (place.first === looking) place.first = undefined;
    }
  }

  /** Where the next listing of a run begins; the first place where there was none. */
  at({ tenant, run }: RunAddress): number {
    return this.#places.get(`${tenant} ${run}`)?.next ?? 0;
  }

  #placeOf(name: string, spread: number): RunPlace {
    let place = this.#places.get(name);
    if (place === undefined) {
      place = { next: spread, stride: 0, first: undefined };
      if (this.#places.size >= MAX_RUNS) this.#places.clear();
      this.#places.set(name, place);
    }
    return place;
  }
}

function note(place: RunPlace, start: number, found: readonly number[]): void {
  if (found.length === 0) return;
  const reach = Math.max(...found.map((each) => around(each - start))) + 1;
  place.stride = reach / found.length;
  // Unless others have gone on from there.
  if (place.next === start) place.next = around(start + reach);
}

function around(place: number): number {
  return ((place % PLACES) + PLACES) % PLACES;
}
