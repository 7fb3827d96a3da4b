import { LogicalTime, RunStatus, type OpId, type RunId, type TenantId, type WorkerId } from "@gossip/contracts";
import { coordError, type AcquireError, type ClaimError } from "@gossip/coordination-errors";
import { assertCount, err, ok, type Result } from "@gossip/stdx";
import { validateTenant } from "../kernel/find-shard.ts";
import { MAX_CLAIM_COUNT } from "../records/capacity-hint.ts";
import type { ClaimCandidate, ClaimListing, ClaimQuery } from "../store/store-reads.ts";
import type { WorkerSession } from "../session/worker-session.ts";
import { openSession } from "./acquiring.ts";
import type { ClaimCooldown } from "./claim-cooldown.ts";
import type { Engine } from "./engine.ts";
import { findClaimed } from "./find-claimed.ts";
import { inRendezvousOrder, spreadOf } from "./rendezvous.ts";

export interface ClaimRequest {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly worker: WorkerId;
  /**
   * If nothing can be claimed but other workers hold shards: mark the run as starved for the length of a lease. Holders
   * see it in the `capacity` of their next renewal or checkpoint. *Addition.*
   */
  readonly markStarved?: boolean;
  /** Acquire with this op id. Pass it again, with `isRepeat`, if the result of the first call was lost. *Addition.* */
  readonly opId?: OpId;
  /**
   * The claim may have been made before with this op id: look for shards that it acquired and return those. Looks at
   * every leased shard of the run. *Addition.*
   */
  readonly isRepeat?: boolean;
}

export interface ClaimManyRequest extends ClaimRequest {
  /** Most shards to claim, from 1 to `MAX_CLAIM_COUNT`. */
  readonly count: number;
}

/** What a claim has found so far. */
interface Search {
  readonly sessions: WorkerSession[];
  earliestDeadline: LogicalTime | undefined;
  /** How many of the candidates tried were done or gone. */
  ended: number;
}

/** How many candidates a claim of one shard tries before it returns `NoneAvailable`. */
export const MAX_CLAIM_TRIES = 8;

/** How often a claim lists candidates anew. Each time but one follows shards that left the list, so few are needed. */
const MAX_LISTINGS = 64;

/**
 * Acquire up to `count` shards of a run that no worker holds.
 *
 * Checks, in this order: an earlier claim with the same op id, for a repetition; the run exists; the tenant; the run has not ended; the worker's cooldown; there is a candidate.
 * Candidates are tried in rendezvous order, as many as are wanted at a time and 7 more than that in total. A candidate
 * that another worker got first, that is done or that is gone is skipped: this is normal when many workers claim at once.
 *
 * If all of them were skipped and there may be more, the claim lists again: once after a lost race, and as long as some
 * were done, which are then out of the list. So `NoneAvailable` without a deadline means that there was nothing.
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
  if (request.isRepeat === true) {
    const claimed = await findClaimed(engine, request, now.value);
    if (!claimed.ok || claimed.value.length > 0) return claimed;
  }
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

/** List the candidates of a run that exists, is the tenant's and has not ended. */
async function listOpen(engine: Engine, query: ClaimQuery): Promise<Result<ClaimListing, ClaimError>> {
  const listed = await engine.read({ operation: "claim", count: 0 }, () => engine.store.listClaimCandidates(query));
  if (!listed.ok) return listed;
  const { run } = listed.value;
  if (run === undefined) return err(coordError("RunNotFound"));
  const own = validateTenant(run.record, query.tenant);
  if (!own.ok) return own;
  const { status } = run.record;
  // It may have some pages of its shards. They do not exist for callers yet.
  if (status === "Initializing") return ok({ run, candidates: [], earliestDeadline: undefined });
  return RunStatus.isTerminal(status) ? err(coordError("RunTerminal", { status })) : listed;
}

/** Try the listed candidates, and list again while that may find more. */
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

    // There are more candidates than were tried, so there is no deadline to wait for.
    const earliestDeadline = mayHaveMore ? query.now : search.earliestDeadline;
    if (request.markStarved === true && earliestDeadline !== undefined) await markStarved(engine, listing, query.now);
    return err(coordError("NoneAvailable", { earliestDeadline }));
  }
}

/** Try candidates until enough are acquired. Returns an error that makes further tries useless, if there is one. */
async function trySome(
  engine: Engine,
  request: ClaimManyRequest,
  { listing, search }: { readonly listing: ClaimListing; readonly search: Search },
): Promise<ClaimError | undefined> {
  const candidates = inRendezvousOrder(request.worker, listing.candidates);
  for (let tried = 0; search.sessions.length < request.count && tried < candidates.length;) {
    const end = tried + request.count - search.sessions.length;
    const stopped = await tryTogether(engine, request, { listing, search, candidates: candidates.slice(tried, end) });
    if (stopped !== undefined) return stopped;
    tried = end;
  }
  return undefined;
}

/** Try candidates at the same time. The first error that makes further tries useless decides. */
async function tryTogether(
  engine: Engine,
  { tenant, worker, opId }: ClaimManyRequest,
  {
    listing,
    search,
    candidates,
  }: { readonly listing: ClaimListing; readonly search: Search; readonly candidates: readonly ClaimCandidate[] },
): Promise<ClaimError | undefined> {
  const run = listing.run!;
  const attempts = await Promise.allSettled(
    // A candidate that was listed with its record is acquired without another read. The write is guarded all the same.
    candidates.map(async ({ shard, read }) => {
      const key = { run: run.record.run, shard };
      const copy = engine.copies.renew(tenant, key);
      copy.read = read && { run, shard: read };
      return openSession(engine, { tenant, key, worker, opId: opId ?? engine.newOpId() }, copy);
    }),
  );
  let stopped: ClaimError | undefined;
  for (const attempt of attempts) {
    if (attempt.status === "rejected") continue;
    const opened = attempt.value;
    if (opened.ok) search.sessions.push(opened.value);
    else stopped ??= passOver(search, opened.error);
  }
  const defect = attempts.find((attempt) => attempt.status === "rejected");
  if (defect === undefined) return stopped;
  // The caller never learns of the shards acquired beside the defect, and would hold them for a whole lease.
  await Promise.allSettled(search.sessions.splice(0).map((session) => session.release()));
  throw defect.reason;
}

/** Note why a candidate was not acquired. Returns the error if it makes further tries useless. */
function passOver(search: Search, error: AcquireError): ClaimError | undefined {
  switch (error.kind) {
    case "AlreadyLeased": {
      const { earliestDeadline } = search;
      if (earliestDeadline === undefined || error.leaseDeadline < earliestDeadline)
        search.earliestDeadline = error.leaseDeadline;
      return undefined;
    }
    case "ShardTerminal":
    case "ShardNotFound":
      search.ended++;
      return undefined;
    case "RunTerminal":
    case "TenantMismatch":
    case "BackendError":
      return error;
  }
}

async function markStarved(engine: Engine, { run }: ClaimListing, now: LogicalTime): Promise<void> {
  const { tenant, run: id, config } = run!.record;
  const until = LogicalTime.saturatingAdd(now, config.leaseDuration);
  // Advice only: the result of the claim does not depend on it.
  void (await engine.store.markStarved(tenant, id, until));
}
