import { LogicalTime, RunStatus, type RunId, type TenantId, type WorkerId } from "@gossip/contracts";
import { coordError, type ClaimError } from "@gossip/coordination-errors";
import { assertCount, err, ok, type Result } from "@gossip/stdx";
import { validateTenant } from "../kernel/find-shard.ts";
import { MAX_CLAIM_COUNT } from "../records/capacity-hint.ts";
import type { ClaimListing, ClaimQuery } from "../store/store-reads.ts";
import type { WorkerSession } from "../session/worker-session.ts";
import type { ClaimCooldown } from "./claim-cooldown.ts";
import { ClaimWave, type Search } from "./claim-wave.ts";
import type { Engine } from "./engine.ts";
import { inRendezvousOrder, spreadOf } from "./rendezvous.ts";

export interface ClaimRequest {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly worker: WorkerId;
  /**
   * Where nothing can be claimed but somebody holds something: leave word that this run is wanted, for the
   * length of a lease. Holders see it in the `capacity` of their next renewal or checkpoint. *Addition.*
   */
  readonly markStarved?: boolean;
}

export interface ClaimManyRequest extends ClaimRequest {
  /** Most shards to claim, from 1 to `MAX_CLAIM_COUNT`. */
  readonly count: number;
}

/** How many candidates a claim of one tries before it says that there is nothing. */
export const MAX_CLAIM_TRIES = 8;

/** How often a claim lists candidates anew. Each time but one takes shards that have come to their end out of the list, so few are needed. */
const MAX_LISTINGS = 64;

/**
 * Acquire up to `count` shards of a run, whichever nobody holds.
 *
 * In this order: the run is there; it is the tenant's; it has not ended; the worker need not
 * wait; there is something. Candidates are tried in the order of their attraction to
 * this worker, as many as are wanted at a time and 7 more than that in all. One that another
 * got first, that has come to its end or that is gone is passed over: that is what
 * happens where many claim at once.
 *
 * Where all of them were passed over and there may be more, the claim looks again: once
 * after a lost race, and as long as some had come to their end, which are then out of the
 * list. So "there is nothing" is said only where there was nothing, or with a time to try again.
 */
export async function claimShards(
  engine: Engine,
  cooldown: ClaimCooldown,
  request: ClaimManyRequest,
): Promise<Result<readonly WorkerSession[], ClaimError>> {
  const { tenant, run, worker, count } = request;
  assertCount(count, "number of shards to claim", { min: 1, max: MAX_CLAIM_COUNT });
  const now = await engine.readClock("claim");
  if (!now.ok) return now;
  const query = { tenant, run, now: now.value, limit: count + MAX_CLAIM_TRIES - 1, spread: spreadOf(worker) };
  const listed = await listOpen(engine, query);
  if (!listed.ok) return listed;
  const retryAfter = cooldown.begin(worker, query.now);
  if (retryAfter !== undefined) return err(coordError("Throttled", { retryAfter }));

  const search: Search = { sessions: [], earliestDeadline: undefined, ended: 0 };
  try {
    return await searchFrom(engine, request, { query, search, first: listed.value });
  } finally {
    cooldown.end(worker, query.now, { hasClaimed: search.sessions.length > 0 });
  }
}

/** List what could be claimed of a run that is there, is the tenant's and has not ended. */
async function listOpen(engine: Engine, query: ClaimQuery): Promise<Result<ClaimListing, ClaimError>> {
  const listed = await engine.read({ operation: "claim", count: 0 }, () => engine.store.listClaimCandidates(query));
  if (!listed.ok) return listed;
  const { run } = listed.value;
  if (run === undefined) return err(coordError("RunNotFound"));
  const own = validateTenant(run.record, query.tenant);
  if (!own.ok) return own;
  const { status } = run.record;
  return RunStatus.isTerminal(status) ? err(coordError("RunTerminal", { status })) : listed;
}

/** Try what is listed, and list again where that may find more. */
async function searchFrom(
  engine: Engine,
  request: ClaimManyRequest,
  { query, search, first }: { readonly query: ClaimQuery; readonly search: Search; readonly first: ClaimListing },
): Promise<Result<readonly WorkerSession[], ClaimError>> {
  let listing = first;
  for (let listings = 1; ; listings++) {
    search.earliestDeadline = listing.earliestDeadline;
    search.ended = 0;
    const stopped = await trySome(engine, request, { listing, search });
    if (search.sessions.length > 0) return ok(search.sessions);
    if (stopped !== undefined) return err(stopped);
    const mayHaveMore = listing.candidates.length >= query.limit;
    if (mayHaveMore && listings < MAX_LISTINGS && (listings === 1 || search.ended > 0)) {
      const listed = await listOpen(engine, query);
      if (!listed.ok) return listed;
      listing = listed.value;
      continue;
    }

    // There are more than were tried: nothing to wait for, but others to give way to.
    const earliestDeadline = mayHaveMore ? query.now : search.earliestDeadline;
    if (request.markStarved === true && earliestDeadline !== undefined) await markStarved(engine, listing, query.now);
    return err(coordError("NoneAvailable", { earliestDeadline }));
  }
}

/** Try candidates until enough are acquired. The answer is what makes trying more of no use, if anything does. */
async function trySome(
  engine: Engine,
  request: ClaimManyRequest,
  { listing, search }: { readonly listing: ClaimListing; readonly search: Search },
): Promise<ClaimError | undefined> {
  const candidates = inRendezvousOrder(request.worker, listing.candidates);
  for (let tried = 0; search.sessions.length < request.count && tried < candidates.length;) {
    const end = tried + request.count - search.sessions.length;
    const wave = new ClaimWave(engine, search, listing.run!);
    const stopped = await wave.tryAll(request, candidates.slice(tried, end));
    if (stopped !== undefined) return stopped;
    tried = end;
  }
  return undefined;
}

async function markStarved(engine: Engine, { run }: ClaimListing, now: LogicalTime): Promise<void> {
  const { tenant, run: id, config } = run!.record;
  const until = LogicalTime.saturatingAdd(now, config.leaseDuration);
  // Advice: that it could not be left is no reason for the claim to answer anything else.
  void (await engine.store.markStarved(tenant, id, until));
}
