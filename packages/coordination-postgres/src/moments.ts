import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint, ShardRecord } from "@gossip/coordination";
import { hintOf, hintWith, type HintRow } from "./hints.ts";
import { int8Array, u64Array } from "./server-array.ts";

/** A run at a time, whose capacity somebody asks for. */
interface Moment {
  readonly runId: number;
  readonly now: LogicalTime;
  hint: CapacityHint | undefined;
}

/** The capacities that the sets of one commit ask for, each run and time once. */
export class Moments {
  // A commit is made of what came within a few milliseconds, mostly of one run: there are a handful, and the last is asked for most.
  readonly #moments: Moment[] = [];

  add(runId: number, now: LogicalTime): void {
    if (this.#find(runId, now) === undefined) this.#moments.push({ runId, now, hint: undefined });
  }

  columns(): Buffer[] {
    return [int8Array(this.#moments.map(({ runId }) => runId)), u64Array(this.#moments.map(({ now }) => now))];
  }

  /** Take the server's answers, which come under the numbers of the moments, from 1. They were made without the shards in `moved`. */
  answer(rows: readonly ({ readonly moment: string } & HintRow)[], moved: readonly { readonly runId: number; readonly shard: ShardRecord }[]): void {
    for (const row of rows) {
      const moment = this.#moments[Number(row.moment) - 1];
      if (moment === undefined) continue;
      const shards = moved.flatMap(({ runId, shard }) => (runId === moment.runId ? [shard] : []));
      moment.hint = hintWith(hintOf(row, moment.now), shards, moment.now);
    }
  }

  hintAt(runId: number, now: LogicalTime): CapacityHint | undefined {
    return this.#find(runId, now)?.hint;
  }

  #find(runId: number, now: LogicalTime): Moment | undefined {
    return this.#moments.findLast((moment) => moment.now === now && moment.runId === runId);
  }
}
