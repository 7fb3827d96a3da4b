// Which states of a shard and of its run the simulator has met, and which steps between them.
import type { CoordinationStore } from "../../packages/coordination/src/store/coordination-store.ts";
import type { WriteSet } from "../../packages/coordination/src/store/write-set.ts";
import type { ShardRecord } from "../../packages/coordination/src/records/shard-record.ts";

/** What was met, as names that compare: two runs of the simulator can be added up. */
export interface MetStates {
  readonly states: readonly string[];
  readonly steps: readonly string[];
}

export class StateCoverage {
  readonly #states = new Set<string>();
  readonly #steps = new Set<string>();

  get met(): MetStates {
    return { states: [...this.#states].toSorted(), steps: [...this.#steps].toSorted() };
  }

  /** Watch what is written to a store. */
  readonly watch = (store: CoordinationStore): CoordinationStore => {
    const commit = store.commit.bind(store);
    store.commit = (sets) => {
      for (const set of sets) this.#note(set);
      return commit(sets);
    };
    return store;
  };

  #note(set: WriteSet): void {
    if (set.kind === "PutRun")
      return this.#add(`run ${set.guard === undefined ? "new" : "known"}`, `run ${set.after.status}`);
    if (set.kind !== "UpdateShard" && set.kind !== "SplitShard") return;
    this.#add(stateOf(set.shard.before), stateOf(set.shard.after));
    for (const created of set.kind === "SplitShard" ? set.created : []) this.#states.add(stateOf(created));
  }

  #add(before: string, after: string): void {
    this.#states.add(before).add(after);
    this.#steps.add(`${before} -> ${after}`);
  }
}

/** A shard's state without ids, keys and times: what the rules of the protocol distinguish. */
export function stateOf({ status, lease, cursor, parent, spawned, opLog, fenceEpoch }: ShardRecord): string {
  const last = opLog.at(-1)?.kind ?? "none";
  const holders = fenceEpoch <= 1n ? "unheld" : fenceEpoch === 2n ? "first" : "later";
  return [
    status,
    lease === undefined ? "free" : "leased",
    holders,
    cursor.lastKey === undefined ? "begun" : cursor.token === undefined ? "key" : "token",
    parent === undefined ? "root" : "child",
    spawned.length === 0 ? "whole" : "split",
    last,
  ].join("/");
}
