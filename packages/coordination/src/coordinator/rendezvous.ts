import type { ShardId, WorkerId } from "@gossip/contracts";

/**
 * How strongly a worker and a shard attract each other: 32 bits, the same on every machine.
 *
 * Each worker ranks the same candidates differently, so that those who look at the same
 * moment reach for different ones, and a loser's next choice is not every loser's.
 */
export function attraction(worker: WorkerId, shard: ShardId): number {
  return mixInto(mixInto(mixInto(mixInto(SEED, low(worker)), high(worker)), low(shard)), high(shard));
}

/** Where in a long list of candidates a worker begins to look: 32 bits. */
export function spreadOf(worker: WorkerId): number {
  return mixInto(mixInto(SEED, low(worker)), high(worker));
}

/** The candidates, the most attractive first. */
export function inRendezvousOrder<Candidate extends { readonly shard: ShardId }>(
  worker: WorkerId,
  candidates: readonly Candidate[],
): Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, score: attraction(worker, candidate.shard) }))
    .sort((a, b) => b.score - a.score)
    .map(({ candidate }) => candidate);
}

const SEED = 0x9e3779b9;

/** One round of mixing: every bit of the word reaches about half of the bits of the state. */
function mixInto(state: number, word: number): number {
  let mixed = state ^ word;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function low(id: bigint): number {
  return Number(id & 0xffff_ffffn);
}

function high(id: bigint): number {
  return Number(id >> 32n);
}
