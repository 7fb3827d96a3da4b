import { assert } from "@gossip/stdx";
import type { ShardRow } from "./shard-row.ts";

/**
 * Leased rows, the one whose lease ends first at the top.
 *
 * A binary heap in which every row knows its index, so that a row whose deadline changed, or that is no longer leased,
 * is found without a search.
 */
export class LeaseHeap {
  readonly #rows: ShardRow[] = [];

  get size(): number {
    return this.#rows.length;
  }

  get first(): ShardRow | undefined {
    return this.#rows[0];
  }

  push(row: ShardRow): void {
    this.#rows.push(row);
    row.claimIndex = this.#rows.length - 1;
    this.#siftUp(row.claimIndex);
  }

  remove(row: ShardRow): void {
    const index = row.claimIndex;
    assert(this.#rows[index] === row, "a leased row must be at its place in the heap");
    const last = this.#rows.pop()!;
    if (last === row) return;
    this.#put(last, index);
    this.update(last);
  }

  /** Restores the heap order after a row's deadline has changed. */
  update(row: ShardRow): void {
    this.#siftDown(this.#siftUp(row.claimIndex));
  }

  #siftUp(from: number): number {
    const row = this.#rows[from]!;
    let index = from;
    while (index > 0) {
      const above = (index - 1) >> 1;
      if (!endsBefore(row, this.#rows[above]!)) break;
      this.#put(this.#rows[above]!, index);
      index = above;
    }
    this.#put(row, index);
    return index;
  }

  #siftDown(from: number): void {
    const row = this.#rows[from]!;
    let index = from;
    for (;;) {
      const left = 2 * index + 1;
      if (left >= this.#rows.length) break;
      const right = left + 1;
      const least = right < this.#rows.length && endsBefore(this.#rows[right]!, this.#rows[left]!) ? right : left;
      if (!endsBefore(this.#rows[least]!, row)) break;
      this.#put(this.#rows[least]!, index);
      index = least;
    }
    this.#put(row, index);
  }

  #put(row: ShardRow, index: number): void {
    this.#rows[index] = row;
    row.claimIndex = index;
  }
}

function endsBefore(a: ShardRow, b: ShardRow): boolean {
  return a.lease!.deadline < b.lease!.deadline;
}
