import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint, ShardRecord } from "@gossip/coordination";
import { hintOf, hintWith, type HintRow } from "./hints.ts";
import { freeFrom, lastAt } from "../claim/claim-index-entry.ts";
import { byteaArray, int8Array, type ServerArray } from "../layout/server-array.ts";

/** A run whose capacity a set asks for. */
interface AskedRun {
  readonly runId: number;
  /** Where to begin counting. */
  readonly start: number;
  /** The requested times, earliest first. */
  readonly times: LogicalTime[];
  readonly hints: Map<LogicalTime, CapacityHint>;
}

/** A result row about a run or a moment, with its ordinal from 1. */
export type CapacityRow = { readonly about: string; readonly ordinal: string; readonly free: number | null } & HintRow;

/** The capacities that the sets of one commit ask for, each run and time once. */
export class Moments {
  readonly #runs = new Map<number, AskedRun>();

  /** `start`: the spread at which claims are searching. */
  add(runId: number, now: LogicalTime, start: () => number): void {
    const run = this.#runs.get(runId);
    if (run === undefined) {
      this.#runs.set(runId, { runId, start: start(), times: [now], hints: new Map() });
      return;
    }
    // A commit collects for a few milliseconds: it has a handful of times, and most sets ask for the last.
    if (run.times.includes(now)) return;
    run.times.push(now);
    run.times.sort(byTime);
  }

  columns(): ServerArray[] {
    const runs = [...this.#runs.values()];
    const others = this.#others();
    return [
      int8Array(runs.map(({ runId }) => runId)),
      byteaArray(runs.map(({ start }) => freeFrom(start))),
      byteaArray(runs.map(({ times }) => lastAt(times[0]!))),
      int8Array(others.map(({ run }) => run.runId)),
      byteaArray(others.map(({ now }) => lastAt(now))),
    ];
  }

  /** Takes the server's rows, which do not count the shards in `moved`. */
  answer(
    rows: readonly CapacityRow[],
    moved: readonly { readonly runId: number; readonly shard: ShardRecord }[],
  ): void {
    const others = this.#others();
    const own = new Map<string, CapacityRow>();
    for (const row of rows) {
      if (row.about !== "Moment") continue;
      const { run, now } = others[Number(row.ordinal) - 1]!;
      own.set(`${run.runId} ${now}`, row);
    }
    const runs = [...this.#runs.values()];
    for (const row of rows) {
      if (row.about !== "Run") continue;
      const { runId, times, hints } = runs[Number(row.ordinal) - 1]!;
      const shards = moved.flatMap((each) => (each.runId === runId ? [each.shard] : []));
      for (const now of times)
        hints.set(now, hintWith(hintOf(own.get(`${runId} ${now}`) ?? row, row.free ?? 0, now), shards, now));
    }
  }

  hintAt(runId: number, now: LogicalTime): CapacityHint | undefined {
    return this.#runs.get(runId)?.hints.get(now);
  }

  /** All times except the first of each run. */
  #others(): { readonly run: AskedRun; readonly now: LogicalTime }[] {
    return [...this.#runs.values()].flatMap((run) => run.times.slice(1).map((now) => ({ run, now })));
  }
}

function byTime(a: LogicalTime, b: LogicalTime): number {
  return a < b ? -1 : 1;
}
