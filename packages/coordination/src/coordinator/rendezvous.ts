import type { ShardId, WorkerId } from "@gossip/contracts";
import { assert } from "@gossip/stdx";

/**
 * Scores a pair of worker and shard with 32 bits, the same on every machine.
 *
 * Each worker ranks the same candidates differently. So workers that look at the same moment try different shards, and
 * workers that lose a race spread out again.
 */
export function attraction(worker: WorkerId, shard: ShardId): number {
  return mixIn(spreadOf(worker), shard);
}

/** Where in a long list of candidates a worker starts to look: 32 bits. */
export function spreadOf(worker: WorkerId): number {
  return mixIn(SEED, worker);
}

/** More than any listing has, and small enough that a score and an index fit into one number. */
const MAX_CANDIDATES = 2 ** 20;

/** Sorts candidates by score, highest first. Equal scores keep their order. */
export function inRendezvousOrder<Candidate extends { readonly shard: ShardId }>(
  worker: WorkerId,
  candidates: readonly Candidate[],
): Candidate[] {
  const { length } = candidates;
  assert(length <= MAX_CANDIDATES, () => `a listing must have at most ${MAX_CANDIDATES} candidates, got ${length}`);
  const state = spreadOf(worker);
  // Score and index in one number, the highest score first. Sorting plain numbers needs neither a comparison function
  // nor objects.
  const ranks = new Float64Array(length);
  for (let index = 0; index < length; index++)
    ranks[index] = (0xffff_ffff - mixIn(state, candidates[index]!.shard)) * MAX_CANDIDATES + index;
  ranks.sort();
  const ordered: Candidate[] = [];
  for (const rank of ranks) ordered.push(candidates[rank - Math.floor(rank / MAX_CANDIDATES) * MAX_CANDIDATES]!);
  return ordered;
}

const SEED = 0x9e3779b9;

/** One round of mixing: every bit of the word reaches about half of the bits of the state. */
function mixInto(state: number, word: number): number {
  let mixed = state ^ word;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Mixes in an id: its lower half, then its upper half. */
function mixIn(state: number, id: bigint): number {
  return mixInto(mixInto(state, Number(id & 0xffff_ffffn)), Number(id >> 32n));
}
