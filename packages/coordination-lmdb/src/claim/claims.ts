import type { LogicalTime, ShardId } from "@gossip/contracts";
import { MAX_CLAIM_COUNT, type CapacityHint, type ClaimQuery, type RunMoment } from "@gossip/coordination";
import type { RunAddress } from "@gossip/store-kit";
import { lastU64, readU64, RowKind, runKey } from "../layout/keyspace.ts";
import { claimsFrom, deadlineOf, freeFrom } from "../layout/entry-key.ts";
import { rangeOf, type KeyRange, type Rows } from "../engine/rows.ts";

/** A capacity hint counts no further. */
export const MAX_HINT_COUNT: number = MAX_CLAIM_COUNT;

/** The least that a lease can have: behind all those that nobody holds. */
const FIRST_DEADLINE = 1n;

/**
 * Shards that can be claimed at `now`: those that nobody holds, from the place that `spread` points to on and then
 * from the start, and those whose lease has lapsed.
 *
 * What was begun and given back comes before what nobody has touched, so that work is finished before more is begun.
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

/** When the first lease runs out that holds at `now`. */
export function earliestDeadline(rows: Rows, moment: RunMoment): LogicalTime | undefined {
  const first = rows.first({
    start: claimsFrom(moment, moment.now + 1n),
    end: rangeOf(runKey(RowKind.Claim, moment)).end,
  });
  return first && deadlineOf(first);
}

/** What a run's capacity follows from, at any time. */
export interface Capacity {
  /** Shards that nobody holds, or some of them: enough for a hint. */
  readonly freeCount: number;
  /** When the first lease ends or has ended; `undefined` where there is none. */
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

/** How many shards nobody holds. Counting stops at `limit`. */
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

/** A run's capacity at a time. */
export function hintAt(rows: Rows, moment: RunMoment, capacity: Capacity): CapacityHint {
  const freeCount = Math.min(capacity.freeCount, MAX_HINT_COUNT);
  const isStarved = moment.now < capacity.starvedUntil;
  // Nearly always the lease that ends first still holds, and then nothing more need be looked at.
  const deadline = capacity.firstDeadline;
  if (deadline === undefined || moment.now < deadline)
    return { availableCount: freeCount, earliestDeadline: deadline, isStarved };

  const lapsed = { start: claimsFrom(moment, FIRST_DEADLINE), end: claimsFrom(moment, moment.now + 1n) };
  const availableCount = Math.min(freeCount + rows.countUpTo(MAX_HINT_COUNT, lapsed), MAX_HINT_COUNT);
  return { availableCount, earliestDeadline: earliestDeadline(rows, moment), isStarved };
}

/** Until when somebody finds nothing to claim; zero where nobody has said so. */
export function starvedUntil(rows: Rows, address: RunAddress): bigint {
  const stored = rows.get(runKey(RowKind.Starved, address));
  return stored === undefined ? 0n : readU64(stored, 0);
}

/** Those that nobody holds, from a place on and then up to it. */
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
