import type { LogicalTime, ShardId } from "@gossip/contracts";
import { MAX_CLAIM_COUNT, type CapacityHint, type ClaimQuery, type RunMoment } from "@gossip/coordination";
import type { RunAddress } from "@gossip/store-kit";
import { lastU64, readU64, RowKind, runKey } from "../layout/keyspace.ts";
import { claimsFrom, deadlineOf, freeFrom } from "../layout/entry-key.ts";
import { rangeOf, type KeyRange, type Rows } from "../engine/rows.ts";

/** Maximum count in a capacity hint. */
export const MAX_HINT_COUNT: number = MAX_CLAIM_COUNT;

/** The earliest deadline of a lease. Free shards come before it in the index. */
const FIRST_DEADLINE = 1n;

/**
 * Shards that can be claimed at `now`: free shards, from the position that `spread` selects to the end and then from
 * the start, followed by shards whose lease has expired.
 *
 * Free shards with progress come before those without, so that work is finished before more is started.
 */
export function listClaimable(rows: Rows, query: ClaimQuery): ShardId[] {
  const { now, limit, spread } = query;
  const found: ShardId[] = [];
  const ranges = [
    ...aroundFrom(query, { isBegun: true, spread }),
    ...aroundFrom(query, { isBegun: false, spread }),
    { start: claimsFrom(query, FIRST_DEADLINE), end: claimsFrom(query, now + 1n) },
  ];
  for (const range of ranges) {
    for (const key of rows.keys(range, { limit: limit - found.length })) found.push(lastU64(key) as ShardId);
    if (found.length === limit) return found;
  }
  return found;
}

/** The first deadline of the leases that are held at `now`. */
export function earliestDeadline(rows: Rows, moment: RunMoment): LogicalTime | undefined {
  const first = rows.first({
    start: claimsFrom(moment, moment.now + 1n),
    end: rangeOf(runKey(RowKind.Claim, moment)).end,
  });
  return first && deadlineOf(first);
}

/** The data from which the capacity of a run at any time is computed. */
export interface Capacity {
  /** The number of free shards, counted far enough for a hint. */
  readonly freeCount: number;
  /** The first deadline of all leases, expired or not; `undefined` if there is none. */
  readonly firstDeadline: LogicalTime | undefined;
  readonly starvedUntil: bigint;
}

export function readCapacity(rows: Rows, address: RunAddress): Capacity {
  return {
    freeCount: countFree(rows, address, MAX_HINT_COUNT),
    firstDeadline: firstDeadline(rows, address),
    starvedUntil: starvedUntil(rows, address),
  };
}

/** The number of free shards. Counting stops at `limit`. */
export function countFree(rows: Rows, address: RunAddress, limit: number): number {
  return rows.countUpTo(limit, { start: runKey(RowKind.Claim, address), end: claimsFrom(address, FIRST_DEADLINE) });
}

export function firstDeadline(rows: Rows, address: RunAddress): LogicalTime | undefined {
  const first = rows.first({
    start: claimsFrom(address, FIRST_DEADLINE),
    end: rangeOf(runKey(RowKind.Claim, address)).end,
  });
  return first && deadlineOf(first);
}

/** The capacity of a run at a time. */
export function hintAt(rows: Rows, moment: RunMoment, capacity: Capacity): CapacityHint {
  const freeCount = Math.min(capacity.freeCount, MAX_HINT_COUNT);
  const isStarved = moment.now < capacity.starvedUntil;
  // Nearly always the first lease has not expired, and nothing has to be read.
  const deadline = capacity.firstDeadline;
  if (deadline === undefined || moment.now < deadline)
    return { availableCount: freeCount, earliestDeadline: deadline, isStarved };

  const lapsed = { start: claimsFrom(moment, FIRST_DEADLINE), end: claimsFrom(moment, moment.now + 1n) };
  const availableCount = Math.min(freeCount + rows.countUpTo(MAX_HINT_COUNT, lapsed), MAX_HINT_COUNT);
  return { availableCount, earliestDeadline: earliestDeadline(rows, moment), isStarved };
}

/** The end of the run's mark of starvation; zero if it has none. */
export function starvedUntil(rows: Rows, address: RunAddress): bigint {
  const stored = rows.get(runKey(RowKind.Starved, address));
  return stored === undefined ? 0n : readU64(stored, 0);
}

/** The ranges of free shards: from a position to the end, then from the start to that position. */
function aroundFrom(
  address: RunAddress,
  { isBegun, spread }: { readonly isBegun: boolean; readonly spread: number },
): KeyRange[] {
  const start = freeFrom(address, isBegun);
  const middle = freeFrom(address, isBegun, spread);
  const end = isBegun ? claimsFrom(address, FIRST_DEADLINE) : freeFrom(address, true);
  return [
    { start: middle, end },
    { start, end: middle },
  ];
}
