import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint } from "../records/capacity-hint.ts";
import { LeaseHeap } from "./lease-heap.ts";
import type { ShardRow } from "./shard-row.ts";

const SPREAD_RANGE = 2 ** 32;

/**
 * Which shards of a run can be claimed, without looking at the others.
 *
 * Active rows are in one of two lists: those that nobody holds, in no order, and those
 * that are held, by deadline. A row whose deadline passes moves from the second
 * to the first when somebody next looks. Rows that are not active are in neither.
 *
 * Every step costs the same however many rows there are, or grows with the logarithm of
 * the number of those that are held.
 */
export class ClaimIndex {
  readonly #available: ShardRow[] = [];
  readonly #leased = new LeaseHeap();
  #starvedUntil = 0n;

  /** Put a row where its state belongs. Call it after every change of status or lease. */
  place(row: ShardRow): void {
    const list = row.status !== "Active" ? "none" : row.lease === undefined ? "available" : "leased";
    if (list === "leased" && row.claimList === "leased") {
      this.#leased.update(row);
      return;
    }
    if (list === row.claimList) return;
    this.remove(row);
    row.claimList = list;
    if (list === "available") this.#append(row);
    else if (list === "leased") this.#leased.push(row);
  }

  remove(row: ShardRow): void {
    if (row.claimList === "leased") this.#leased.remove(row);
    else if (row.claimList === "available") this.#takeOut(row);
    row.claimList = "none";
  }

  /** Up to `limit` rows that nobody holds, beginning at the place that `spread` points to. */
  candidates(now: LogicalTime, { limit, spread }: { readonly limit: number; readonly spread: number }): ShardRow[] {
    this.#settle(now);
    const count = this.#available.length;
    const start = Math.floor((spread / SPREAD_RANGE) * count);
    const found: ShardRow[] = [];
    for (let step = 0; step < count && found.length < limit; step++) {
      const row = this.#available[(start + step) % count]!;
      // A row that moved here under a later clock is held for whoever comes with an earlier one.
      if (!row.isLeasedAt(now)) found.push(row);
    }
    return found;
  }

  earliestDeadline(now: LogicalTime): LogicalTime | undefined {
    this.#settle(now);
    return this.#leased.first?.lease?.deadline;
  }

  hint(now: LogicalTime): CapacityHint {
    this.#settle(now);
    return {
      availableCount: this.#available.length,
      earliestDeadline: this.#leased.first?.lease?.deadline,
      isStarved: now < this.#starvedUntil,
    };
  }

  markStarved(until: LogicalTime): void {
    if (until > this.#starvedUntil) this.#starvedUntil = until;
  }

  /** Move what has lapsed. Each lease lapses once, so this costs nothing more than its making did. */
  #settle(now: LogicalTime): void {
    for (let row = this.#leased.first; row !== undefined && !row.isLeasedAt(now); row = this.#leased.first) {
      this.#leased.remove(row);
      row.claimList = "available";
      this.#append(row);
    }
  }

  #append(row: ShardRow): void {
    row.claimIndex = this.#available.length;
    this.#available.push(row);
  }

  // The last row takes the place of the one that leaves: nothing else moves.
  #takeOut(row: ShardRow): void {
    const last = this.#available.pop()!;
    if (last === row) return;
    this.#available[row.claimIndex] = last;
    last.claimIndex = row.claimIndex;
  }
}
