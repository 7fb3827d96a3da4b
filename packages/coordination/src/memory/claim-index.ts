import type { LogicalTime } from "@gossip/contracts";
import { MAX_CLAIM_COUNT, type CapacityHint } from "../records/capacity-hint.ts";
import { LeaseHeap } from "./lease-heap.ts";
import type { ShardRow } from "./shard-row.ts";

const SPREAD_RANGE = 2 ** 32;

/**
 * Which shards of a run can be claimed, without looking at the others.
 *
 * Active rows are in one of three lists: *available*, without a lease, and *lapsed*, whose leases have expired, both
 * unordered; and *leased*, by deadline. A row whose deadline passes moves from *leased* to *lapsed* at the next read. Rows
 * that are not active are in none.
 *
 * Every step takes constant time, or time logarithmic in the number of leased rows. Only a read with an earlier time than
 * the one before, from a coordinator whose clock is behind, goes through the lapsed rows.
 */
export class ClaimIndex {
  readonly #available: ShardRow[] = [];
  readonly #lapsed: ShardRow[] = [];
  readonly #leased = new LeaseHeap();
  /** The time that the lists are in order for. */
  #settledAt = 0n;
  #starvedUntil = 0n;

  /** Put a row where its state belongs. Call it after every change of status or lease. */
  place(row: ShardRow): void {
    // The next read finds out whether the lease has lapsed already.
    const list = row.status !== "Active" ? "none" : row.lease === undefined ? "available" : "leased";
    if (list === "leased" && row.claimList === "leased") {
      this.#leased.update(row);
      return;
    }
    if (list === row.claimList) return;
    this.remove(row);
    row.claimList = list;
    if (list === "available") append(this.#available, row);
    else if (list === "leased") this.#leased.push(row);
  }

  remove(row: ShardRow): void {
    if (row.claimList === "leased") this.#leased.remove(row);
    else if (row.claimList === "available") takeOut(this.#available, row);
    else if (row.claimList === "lapsed") takeOut(this.#lapsed, row);
    row.claimList = "none";
  }

  /** Up to `limit` rows without a lease, starting at the position that `spread` selects. */
  candidates(now: LogicalTime, { limit, spread }: { readonly limit: number; readonly spread: number }): ShardRow[] {
    this.#settle(now);
    const freeCount = this.#available.length;
    const count = freeCount + this.#lapsed.length;
    const start = Math.floor((spread / SPREAD_RANGE) * count);
    const found: ShardRow[] = [];
    for (let step = 0; step < count && found.length < limit; step++) {
      const index = (start + step) % count;
      found.push(index < freeCount ? this.#available[index]! : this.#lapsed[index - freeCount]!);
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
      availableCount: Math.min(this.#available.length + this.#lapsed.length, MAX_CLAIM_COUNT),
      earliestDeadline: this.#leased.first?.lease?.deadline,
      isStarved: now < this.#starvedUntil,
    };
  }

  markStarved(until: LogicalTime): void {
    if (until > this.#starvedUntil) this.#starvedUntil = until;
  }

  /** Moves rows whose leases have lapsed. Each lease lapses once, so this adds only a constant cost per lease. */
  #settle(now: LogicalTime): void {
    if (now < this.#settledAt) this.#unsettle(now);
    this.#settledAt = now;
    for (let row = this.#leased.first; row !== undefined && !row.isLeasedAt(now); row = this.#leased.first) {
      this.#leased.remove(row);
      row.claimList = "lapsed";
      append(this.#lapsed, row);
    }
  }

  /** Moves back rows that lapsed under a later clock: an earlier clock still sees them leased. */
  #unsettle(now: LogicalTime): void {
    for (const row of this.#lapsed.filter((each) => each.isLeasedAt(now))) {
      takeOut(this.#lapsed, row);
      row.claimList = "leased";
      this.#leased.push(row);
    }
  }
}

function append(rows: ShardRow[], row: ShardRow): void {
  row.claimIndex = rows.length;
  rows.push(row);
}

/** The last row takes the slot of the removed one, so no other row moves. */
function takeOut(rows: ShardRow[], row: ShardRow): void {
  const last = rows.pop()!;
  if (last === row) return;
  rows[row.claimIndex] = last;
  last.claimIndex = row.claimIndex;
}
