import type { LogicalTime, WorkerId } from "@gossip/contracts";
import { MAX_BUDGET_WORKERS, type BudgetBook, type BudgetEntry } from "./budget-book.ts";
import { fairSlots } from "./fair-slots.ts";

/** What all workers of a run together may do. */
export interface FleetLimits {
  readonly itemsPerSecond: number | null;
  readonly concurrency: number | null;
}

/** What a worker has, and what it could use. */
export interface BudgetClaim {
  readonly worker: WorkerId;
  /** Items that it was given and has not started. */
  readonly held: number;
  /** Items that it was given and gives back. */
  readonly returned: number;
  /** Items that it could start until it asks again, besides those that it holds. */
  readonly wanted: number;
  /** Slots that it keeps: at least as many as it has items in progress. */
  readonly slots: number;
  /** Items that it could have in progress. */
  readonly slotsWanted: number;
}

/** What a worker is given. */
export interface BudgetGrant {
  /** Items that it may start, besides those that it holds. */
  readonly items: number;
  /** Items that it may have in progress. Never fewer than it keeps. */
  readonly slots: number;
  /** Slots that it should have. If it keeps more, others are waiting for them. */
  readonly slotTarget: number;
  /** When there will be an item for it, if there is none now. */
  readonly untilItemMs: number | undefined;
}

/** A grant, and the book that has it. */
export interface GrantedBudget {
  readonly book: BudgetBook;
  readonly grant: BudgetGrant;
}

export interface GrantTime {
  readonly now: LogicalTime;
  /** How long the grant lasts. */
  readonly ttlMs: number;
}

/** The budget of a run is what it may do in this time, and one item. It is never exceeded by more than that. */
export const BUDGET_SECONDS = 1;
/** Clocks of coordinators may differ by this much. If one is further behind, the clock of the others was wrong. */
const MAX_CLOCK_LAG_MS = 10_000n;
/** How long a worker has a slot if there are more workers than slots. */
const TURN_MS = 10_000n;
/** Sums of fractions come out a little below the whole number. */
const ALMOST = 1e-9;

/** A book in which nothing is given out. The first item may start at once. */
export function emptyBook(now: LogicalTime): BudgetBook {
  return { at: now, level: 1, entries: [] };
}

/**
 * Give a worker its part of what the run may do.
 *
 * Items accrue in the book at the run's rate, up to the budget less what workers hold. A worker takes them from there in
 * advance and starts them at its own pace. Whatever it does not report as held counts as started, so a lost answer costs
 * items and never adds any. A worker that does not renew loses its part; nothing of it is given out again, because it
 * may have been used.
 *
 * Slots are given out as far as no other worker has them. A worker that has more than its fair share learns so, and
 * keeps fewer from its next renewal on.
 */
export function grantBudget(
  before: BudgetBook,
  claim: BudgetClaim,
  { limits, time }: { readonly limits: FleetLimits; readonly time: GrantTime },
): GrantedBudget {
  const book = advance(before, time.now, limits.itemsPerSecond);
  const others = book.entries.filter(({ worker }) => worker !== claim.worker);
  const own = book.entries.find(({ worker }) => worker === claim.worker);
  if (own === undefined && others.length >= MAX_BUDGET_WORKERS)
    return { book, grant: { items: 0, slots: claim.slots, slotTarget: 0, untilItemMs: BUDGET_SECONDS * 1000 } };
  const { items, level, untilItemMs } = grantItems(book, { claim, own, others }, limits.itemsPerSecond);
  const { slots, slotTarget } = grantSlots(book, { claim, others }, limits.concurrency);
  const entry: BudgetEntry = {
    worker: claim.worker,
    items: claim.held + items,
    isHungry: claim.wanted > items,
    slots,
    slotsWanted: claim.slotsWanted,
    expiresInMs: time.ttlMs,
  };
  const entries = [...others, entry].toSorted((a, b) => (a.worker < b.worker ? -1 : 1));
  return { book: { at: book.at, level, entries }, grant: { items, slots, slotTarget, untilItemMs } };
}

/** Take back what a worker has not used, because it stops. */
export function returnBudget(
  before: BudgetBook,
  { worker, returned }: Pick<BudgetClaim, "worker" | "returned">,
  { limits, now }: { readonly limits: FleetLimits; readonly now: LogicalTime },
): BudgetBook {
  const book = advance(before, now, limits.itemsPerSecond);
  const own = book.entries.find((entry) => entry.worker === worker);
  const entries = book.entries.filter((entry) => entry !== own);
  // If the answer to the first call was lost, the entry is gone, and nothing is returned twice.
  return { at: book.at, level: book.level + Math.min(returned, own?.items ?? 0), entries };
}

/** Let time pass: items accrue, and entries that were not renewed end. */
function advance({ at, level, entries }: BudgetBook, now: LogicalTime, itemsPerSecond: number | null): BudgetBook {
  const isWrong = now + MAX_CLOCK_LAG_MS < at;
  const elapsedMs = now > at ? Number(now - at) : 0;
  return {
    at: now > at || isWrong ? now : at,
    level: level + ((itemsPerSecond ?? 0) * elapsedMs) / 1000,
    entries: entries
      .map((entry) => ({ ...entry, expiresInMs: entry.expiresInMs - elapsedMs }))
      .filter(({ expiresInMs }) => expiresInMs > 0),
  };
}

interface Claimants {
  readonly claim: BudgetClaim;
  readonly own?: BudgetEntry | undefined;
  readonly others: readonly BudgetEntry[];
}

function grantItems({ level: before }: BudgetBook, { claim, own, others }: Claimants, itemsPerSecond: number | null) {
  if (itemsPerSecond === null) return { items: 0, level: 0, untilItemMs: undefined };
  const held = others.reduce((sum, entry) => sum + entry.items, claim.held);
  const given = Math.min(claim.returned, Math.max(0, (own?.items ?? 0) - claim.held));
  const most = Math.max(0, 1 + itemsPerSecond * BUDGET_SECONDS - held);
  const level = Math.min(before + given, most);
  const hungry = others.filter(({ isHungry }) => isHungry).length;
  // Not all of it, or the next one would find nothing; not only a share, or what others do not fetch would be lost.
  const share = Math.max(1, Math.floor((2 * level) / (hungry + 2)));
  const items = level + ALMOST < 1 ? 0 : Math.min(claim.wanted, share);
  const untilItemMs = items > 0 || claim.wanted === 0 ? undefined : (1000 * (1 - level)) / itemsPerSecond;
  return { items, level: Math.max(0, level - items), untilItemMs };
}

function grantSlots({ at }: BudgetBook, { claim, others }: Claimants, concurrency: number | null) {
  if (concurrency === null) return { slots: 0, slotTarget: 0 };
  const claims = [...others, claim].map(({ worker, slotsWanted }) => ({ id: worker, wanted: slotsWanted }));
  const turn = Number((at / TURN_MS) % 1_000_000n);
  const slotTarget = fairSlots(claims, { id: claim.worker, limit: concurrency, turn });
  const free = Math.max(0, concurrency - others.reduce((sum, { slots }) => sum + slots, 0));
  return { slots: Math.max(claim.slots, Math.min(slotTarget, free)), slotTarget };
}
