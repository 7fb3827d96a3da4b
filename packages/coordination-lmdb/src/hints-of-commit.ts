import { CapacityHint, type RunMoment, type UpdateShardSet } from "@gossip/coordination";
import { InvariantViolation } from "@gossip/stdx";
import { countFree, hintAt } from "./claims.ts";
import type { Rows } from "./rows.ts";

/**
 * The capacities of runs after a commit.
 *
 * Every acquire, renewal and checkpoint asks, and asking costs more than writing does. So what takes time to count is
 * counted once a run, and the rest once a run and moment: a batch comes together within a millisecond or two, in the order of time.
 */
export class HintsOfCommit {
  readonly #rows: Rows;
  readonly #freeCounts = new Map<string, number>();
  #moment: RunMoment | undefined;
  #hint: CapacityHint = CapacityHint.ZERO;

  constructor(rows: Rows) {
    this.#rows = rows;
    rows.refresh();
  }

  of({ tenant, run, hintAt: now }: UpdateShardSet): CapacityHint | undefined {
    if (now === undefined) return undefined;
    // The one before is mostly of the same run and moment, and comparing is quicker than looking it up.
    const last = this.#moment;
    if (last?.now !== now || last.run !== run || last.tenant !== tenant) {
      this.#moment = { tenant, run, now };
      this.#hint = this.#find(this.#moment);
    }
    return this.#hint;
  }

  #find(moment: RunMoment): CapacityHint {
    const name = `${moment.run} ${moment.tenant}`;
    try {
      const freeCount = this.#freeCounts.get(name) ?? countFree(this.#rows, moment);
      this.#freeCounts.set(name, freeCount);
      return hintAt(this.#rows, moment, freeCount);
    } catch (reason) {
      if (reason instanceof InvariantViolation) throw reason;
      // Advice. The write is made, and must be answered so.
      return CapacityHint.ZERO;
    }
  }
}
