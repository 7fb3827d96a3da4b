import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint, ShardRecord } from "@gossip/coordination";
import { hintOf, hintWith, type HintRow } from "./hints.ts";
import { freeFrom, lastAt } from "../claim/claim-index-entry.ts";
import { readU64 } from "../layout/u64-bytes.ts";

/** The columns of a run's capacity between two times. */
export interface RangeRow extends HintRow {
  readonly free: number;
  /** When leases lapsed after the first time and until the last, in order. */
  readonly lapsing: readonly Buffer[];
}

/** The times at which the sets of one commit ask for the capacity of their one run. */
export class RunTimes {
  readonly #hints = new Map<LogicalTime, CapacityHint | undefined>();
  #first: LogicalTime | undefined;
  #last: LogicalTime | undefined;

  add(now: LogicalTime): void {
    if (this.#last === now) return;
    this.#hints.set(now, undefined);
    if (this.#first === undefined || now < this.#first) this.#first = now;
    if (this.#last === undefined || now > this.#last) this.#last = now;
  }

  /** `start`: the spread at which claims are searching. */
  columns(start: number): readonly unknown[] {
    return [
      this.#first === undefined ? null : lastAt(this.#first),
      this.#last === undefined ? null : lastAt(this.#last),
      freeFrom(start),
    ];
  }

  /** Takes the server's row, which does not count the shards in `moved`. */
  answer(row: RangeRow, moved: readonly ShardRecord[]): void {
    const lapsing = row.lapsing.map(readU64);
    for (const now of this.#hints.keys()) {
      const lapsed = lapsing.findIndex((deadline) => deadline > now);
      const next = lapsed < 0 ? row.earliest : row.lapsing[lapsed]!;
      const then = {
        lapsed: row.lapsed + (lapsed < 0 ? lapsing.length : lapsed),
        earliest: next,
        starved_until: row.starved_until,
      };
      this.#hints.set(now, hintWith(hintOf(then, row.free, now), moved, now));
    }
  }

  hintAt(now: LogicalTime): CapacityHint | undefined {
    return this.#hints.get(now);
  }
}
