import type { ClaimCandidate, ClaimListing, ClaimQuery, RunMoment, WriteSet } from "@gossip/coordination";
import { claimSpread } from "./claim-spread.ts";
import { HandedOut } from "./handed-out.ts";
import type { RunAddress } from "@gossip/store-kit";

/** Finds up to `limit` candidates at `now`, from the spread `start` on, wrapping around. */
export type FindCandidates = (
  query: RunMoment & { readonly limit: number; readonly start: number },
) => Promise<ClaimListing>;

interface Asked {
  readonly query: ClaimQuery;
  readonly settle: (listing: ClaimListing) => void;
  readonly fail: (thrown: unknown) => void;
}

interface RunClaims {
  /** Where the next listing begins. */
  next: number;
  waiting: Asked[];
  isLooking: boolean;
  readonly handedOut: HandedOut;
}

const SPREADS = 2 ** 32;
/** How many runs are remembered. In other runs a claim starts at the spread of its worker. */
const MAX_RUNS = 1024;
/** Most candidates that one statement returns. */
const MAX_CANDIDATES = 1024;
/** A claim with a higher limit counts as a claim of many. */
const MAX_FEW = 32;

/**
 * Lists candidates for the claims of one process, so that they do not get the same ones.
 *
 * Claims of a run that arrive during a listing wait, and share the result of the next statement. If it finds too few, claims with a
 * small limit all get the same candidates in a different order, and most succeed. Claims of many get only candidates that no other
 * claim was given. If nearly none are left, they wait until those were tried, and list again. Otherwise each of them would write,
 * lose and read again each of the last shards of a run.
 *
 * The first listing of a run begins at the spread of its worker, so that processes start at different entries. The next continues from
 * there. It skips the entries of claimed shards, which the server cannot drop while a transaction holds an old snapshot.
 */
export class ClaimLister {
  readonly #find: FindCandidates;
  readonly #runs = new Map<string, RunClaims>();

  constructor(find: FindCandidates) {
    this.#find = find;
  }

  list(query: ClaimQuery): Promise<ClaimListing> {
    return new Promise((settle, fail) => {
      const claims = this.#claimsOf(query);
      claims.waiting.push({ query, settle, fail });
      if (!claims.isLooking) void this.#look(claims);
    });
  }

  /** The spread where the next listing of a run begins; 0 before the first. */
  startOf(address: RunAddress): number {
    return this.#runs.get(nameOf(address))?.next ?? 0;
  }

  /** Notes that writes were made or refused, so that no claim waits for them. */
  noteWritten(sets: readonly WriteSet[]): void {
    let claims: RunClaims | undefined;
    let last: RunAddress | undefined;
    for (const set of sets) {
      // Only an acquire raises the fence.
      if (set.kind !== "UpdateShard" || set.shard.before.fenceEpoch === set.shard.after.fenceEpoch) continue;
      if (last?.run !== set.run || last.tenant !== set.tenant) claims = this.#runs.get(nameOf(set));
      last = set;
      claims?.handedOut.noteTried(set.shard.after.shard);
    }
  }

  async #look(claims: RunClaims): Promise<void> {
    claims.isLooking = true;
    while (claims.waiting.length > 0) {
      const mayFindMore = await this.#lookFor(takeGroup(claims), claims);
      if (!mayFindMore) await claims.handedOut.untilTried();
    }
    claims.isLooking = false;
  }

  /** Lists for a group. Puts claims that must list again back, and returns whether they can do so at once. */
  async #lookFor(group: readonly Asked[], claims: RunClaims): Promise<boolean> {
    const { handedOut } = claims;
    handedOut.beginListing();
    try {
      const limit = limitOf(group);
      const now = group.map(({ query }) => query.now).reduce((earliest, each) => (each < earliest ? each : earliest));
      const listing = await this.#find({ ...group[0]!.query, now, limit, start: claims.next });
      goOn(claims, listing.candidates);
      const { given, left } = handOut(group, listing, handedOut);
      claims.waiting = [...left, ...claims.waiting];
      return left.length === 0 || (given > 0 && listing.candidates.length >= limit);
    } catch (thrown) {
      for (const { fail } of group) fail(thrown);
      return true;
    } finally {
      handedOut.endListing();
    }
  }

  #claimsOf(query: ClaimQuery): RunClaims {
    const name = nameOf(query);
    let claims = this.#runs.get(name);
    if (claims === undefined) {
      claims = { next: query.spread, waiting: [], isLooking: false, handedOut: new HandedOut() };
      if (this.#runs.size >= MAX_RUNS) this.#runs.clear();
      this.#runs.set(name, claims);
    }
    return claims;
  }
}

/** Takes the first waiting claims, as many as one statement can serve. */
function takeGroup(claims: RunClaims): readonly Asked[] {
  let sum = claims.waiting[0]!.query.limit;
  let count = 1;
  for (; count < claims.waiting.length; count++) {
    sum += claims.waiting[count]!.query.limit;
    if (sum > MAX_CANDIDATES) break;
  }
  return claims.waiting.splice(0, count);
}

function limitOf(group: readonly Asked[]): number {
  return Math.min(
    MAX_CANDIDATES,
    group.reduce((sum, { query }) => sum + query.limit, 0),
  );
}

/** Settles the claims of a group for which there is enough. `given`: how many claims of many got a share. `left`: those that must list again. */
function handOut(
  group: readonly Asked[],
  listing: ClaimListing,
  handedOut: HandedOut,
): { readonly given: number; readonly left: readonly Asked[] } {
  const { run, candidates, earliestDeadline } = listing;
  const fresh = handedOut.freshOf(candidates);
  const isEnough = fresh.length >= limitOf(group);
  const left: Asked[] = [];
  let taken = 0;
  let given = 0;
  for (const [index, asked] of group.entries()) {
    const { limit, now } = asked.query;
    const answer = (share: readonly ClaimCandidate[]) => asked.settle({ run, candidates: share, earliestDeadline });
    const rest = fresh.length - taken;
    const isAllThereIs = given === 0 && fresh.length === candidates.length;
    if (earliestDeadline !== undefined && earliestDeadline <= now) {
      // Listed for an earlier time, and a lease has lapsed since.
      left.push(asked);
    } else if (limit <= MAX_FEW && !isEnough) {
      answer(ringFrom(candidates, Math.floor((index * candidates.length) / group.length), limit));
    } else if (isAllThereIs || rest >= limit || (rest >= MAX_FEW && candidates.length > limit)) {
      const share = fresh.slice(taken, taken + limit);
      handedOut.add(share);
      answer(share);
      taken += share.length;
      // An empty share is no reason to wait.
      if (share.length > 0) given++;
    } else {
      left.push(asked);
    }
  }
  return { given, left };
}

/** Up to `limit` candidates from the index `start` on, wrapping around. */
function ringFrom(candidates: readonly ClaimCandidate[], start: number, limit: number): readonly ClaimCandidate[] {
  return [...candidates.slice(start), ...candidates.slice(0, start)].slice(0, limit);
}

/** The next listing begins after the last listed shard without a lease. */
function goOn(claims: RunClaims, candidates: readonly ClaimCandidate[]): void {
  let reach = 0;
  for (const { shard, read } of candidates) {
    if (read?.record.lease === undefined) reach = Math.max(reach, around(claimSpread(shard) - claims.next) + 1);
  }
  claims.next = around(claims.next + reach);
}

function nameOf({ tenant, run }: RunAddress): string {
  return `${tenant} ${run}`;
}

function around(spread: number): number {
  return ((spread % SPREADS) + SPREADS) % SPREADS;
}
