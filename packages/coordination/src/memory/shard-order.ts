import { compareBytes } from "@gossip/stdx";
import type { ShardPosition } from "../store/store-reads.ts";
import type { ShardBytes } from "./shard-bytes.ts";
import type { ShardRow } from "./shard-row.ts";

/**
 * The shards of a run by range start, ties by id.
 *
 * Neither ever changes, so sorted rows stay sorted. New rows are merged in by the next listing: registering and
 * splitting cost nothing extra if no list is read.
 */
export class ShardOrder {
  readonly #bytes: ShardBytes;
  #sorted: ShardRow[] = [];
  #waiting: ShardRow[] = [];

  constructor(bytes: ShardBytes) {
    this.#bytes = bytes;
  }

  add(row: ShardRow): void {
    this.#waiting.push(row);
  }

  /** All rows, in order. Borrowed: valid until the next `add`. */
  rows(): readonly ShardRow[] {
    if (this.#waiting.length > 0) this.#merge();
    return this.#sorted;
  }

  /** The index of the first row after a position. */
  indexAfter(position: ShardPosition): number {
    const rows = this.rows();
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#isAfter(rows[middle]!, position)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  positionOf(row: ShardRow): ShardPosition {
    return { keyRangeStart: this.#bytes.viewStart(row).slice(), shard: row.shard };
  }

  #isAfter(row: ShardRow, { keyRangeStart, shard }: ShardPosition): boolean {
    const order = compareBytes(this.#bytes.viewStart(row), keyRangeStart);
    return order === 0 ? row.shard > shard : order > 0;
  }

  #merge(): void {
    const incoming = this.#waiting.sort((a, b) => this.#compare(a, b));
    const merged: ShardRow[] = [];
    let next = 0;
    for (const row of this.#sorted) {
      while (next < incoming.length && this.#compare(incoming[next]!, row) < 0) merged.push(incoming[next++]!);
      merged.push(row);
    }
    while (next < incoming.length) merged.push(incoming[next++]!);
    this.#sorted = merged;
    this.#waiting = [];
  }

  #compare(a: ShardRow, b: ShardRow): number {
    const order = this.#bytes.compareStarts(a, b);
    if (order !== 0) return order;
    return a.shard < b.shard ? -1 : 1;
  }
}
