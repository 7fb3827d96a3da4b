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

/** A row of a batch's answer that is about a run or a moment, under the number that it has here, from 1. */
export type CapacityRow = { readonly about: string; readonly ordinal: string; readonly free: number | null } & HintRow;

/** The capacities that the sets of one commit ask for, each run and time once. */
export class Moments {
  // A commit is made of what came within a few milliseconds, mostly of one run: there are a handful, and the last is asked for most.
  readonly #moments: Moment[] = [];
  readonly #runIds: number[] = [];
  /** Where in each run to begin counting. */
  readonly #starts: number[] = [];

  /** `start`: where in the run claiming is at work. */
  add(runId: number, now: LogicalTime, start: () => number): void {
    if (this.#find(runId, now) !== undefined) return;
    this.#moments.push({ runId, now, hint: undefined });
    if (this.#runIds.includes(runId)) return;
    this.#runIds.push(runId);
    this.#starts.push(start());
  }

  columns(): Buffer[] {
    const moments = [int8Array(this.#moments.map(({ runId }) => runId)), u64Array(this.#moments.map(({ now }) => now))];
    return [...moments, int8Array(this.#runIds), int8Array(this.#starts)];
  }

  /** Take the server's answers, which were made without the shards in `moved`. */
  answer(rows: readonly CapacityRow[], moved: readonly { readonly runId: number; readonly shard: ShardRecord }[]): void {
    const free = new Map<number, number>();
    for (const { about, ordinal, free: count } of rows) {
      if (about === "Run") free.set(this.#runIds[Number(ordinal) - 1]!, count ?? 0);
    }
    for (const row of rows) {
      if (row.about !== "Moment") continue;
      const moment = this.#moments[Number(row.ordinal) - 1]!;
      const shards = moved.flatMap(({ runId, shard }) => (runId === moment.runId ? [shard] : []));
      moment.hint = hintWith(hintOf(row, free.get(moment.runId) ?? 0, moment.now), shards, moment.now);
    }
  }

  hintAt(runId: number, now: LogicalTime): CapacityHint | undefined {
    return this.#find(runId, now)?.hint;
  }

  #find(runId: number, now: LogicalTime): Moment | undefined {
    return this.#moments.findLast((moment) => moment.now === now && moment.runId === runId);
  }
}
