import type { ClaimCandidate, ClaimListing, ClaimQuery, RunMoment, WriteSet } from "@gossip/coordination";
import { claimSpread } from "./claim-spread.ts";
import { HandedOut } from "./handed-out.ts";
import type { RunAddress } from "../layout/rows.ts";

/** Find up to `limit` candidates at `now`, from the place `start` on and then around. */
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

const PLACES = 2 ** 32;
/** How many runs are remembered. Of others claiming starts anew where the worker points to. */
const MAX_RUNS = 1024;
/** Most candidates that one statement gives, whatever is asked for. */
const MAX_CANDIDATES = 1024;
/** Who asks for more than this wants many at a time. */
const MAX_FEW = 32;

/**
 * Lists candidates for the claims of one process, so that they do not get the same ones.
 *
 * Claims of a run that come while its candidates are being listed wait, and share what the next statement finds. Where
 * that is less than they ask for, those who want a few get all the same ones: each prefers others, and most are lucky. Those who want
 * many get what nobody else was given, and where that is next to nothing they wait until it is claimed, and look again. Otherwise
 * all of them would write, lose and read anew each of the last shards of a run.
 *
 * The first listing of a run begins where its worker points to, so that processes look in different places. The next goes on from
 * there. It leaves behind what was claimed before, whose entries the server cannot drop while somebody has an old snapshot open.
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

  /** Where the next listing of a run begins; the first place where there was none. */
  startOf(address: RunAddress): number {
    return this.#runs.get(nameOf(address))?.next ?? 0;
  }

  /** Note that writes were made, or were refused: nobody need wait for them. */
  noteWritten(sets: readonly WriteSet[]): void {
    let claims: RunClaims | undefined;
    let last: RunAddress | undefined;
    for (const set of sets) {
      // Only who acquires raises a fence.
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

  /** List for a group. Whoever must look again is put back; the answer is whether that makes sense at once. */
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

/** The first who wait, as many as one statement can serve. */
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

/** Answer those of a group for whom there is enough. `given`: to how many who want many. `left`: those who must look again. */
function handOut(
  group: readonly Asked[],
  listing: ClaimListing,
  handedOut: HandedOut,
): { readonly given: number; readonly left: readonly Asked[] } {
  const { run, candidates, earliestDeadline } = listing;
  const fresh = handedOut.freshOf(candidates);
  const isEnough = fresh.length >= limitOf(group);
  const left: Asked[] = [];
  let place = 0;
  let given = 0;
  for (const [index, asked] of group.entries()) {
    const { limit, now } = asked.query;
    const answer = (share: readonly ClaimCandidate[]) => asked.settle({ run, candidates: share, earliestDeadline });
    const rest = fresh.length - place;
    const isAllThereIs = given === 0 && fresh.length === candidates.length;
    if (earliestDeadline !== undefined && earliestDeadline <= now) {
      // Listed for an earlier time than his, and a lease has lapsed in between.
      left.push(asked);
    } else if (limit <= MAX_FEW && !isEnough) {
      answer(ringFrom(candidates, Math.floor((index * candidates.length) / group.length), limit));
    } else if (isAllThereIs || rest >= limit || (rest >= MAX_FEW && candidates.length > limit)) {
      const share = fresh.slice(place, place + limit);
      handedOut.add(share);
      answer(share);
      place += share.length;
      // Where there is nothing, nobody need wait to hear it.
      if (share.length > 0) given++;
    } else {
      left.push(asked);
    }
  }
  return { given, left };
}

/** Up to `limit` of them from a place on, and then from the start. */
function ringFrom(candidates: readonly ClaimCandidate[], start: number, limit: number): readonly ClaimCandidate[] {
  return [...candidates.slice(start), ...candidates.slice(0, start)].slice(0, limit);
}

/** The next listing begins behind the last that nobody has held. */
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

function around(place: number): number {
  return ((place % PLACES) + PLACES) % PLACES;
}
