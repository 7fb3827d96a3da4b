import type { StoreVersion } from "@gossip/coordination";

/** What a version that we gave out says: the row that it is of, and which state of it. */
export interface RowVersion {
  /** The number of the run, in the table of runs. It never changes, and no other run ever gets it. */
  readonly runId: number;
  readonly version: number;
}

const VERSION = /^[rs][1-9]\d{0,14}\.[1-9]\d{0,14}$/;

// The number of the run is in it so that a guarded write finds its row without asking which run that is, and the letter
// so that a run's version never passes for a shard's.

export function runVersion({ runId, version }: RowVersion): StoreVersion {
  return `r${runId}.${version}`;
}

export function shardVersion({ runId, version }: RowVersion): StoreVersion {
  return `s${runId}.${version}`;
}

/** `undefined` where we never gave it out as a run's. */
export function readRunVersion(given: StoreVersion | undefined): RowVersion | undefined {
  return read("r", given);
}

export function readShardVersion(given: StoreVersion | undefined): RowVersion | undefined {
  return read("s", given);
}

function read(letter: "r" | "s", given: StoreVersion | undefined): RowVersion | undefined {
  if (typeof given !== "string" || !given.startsWith(letter) || !VERSION.test(given)) return undefined;
  const dot = given.indexOf(".");
  return { runId: Number(given.slice(1, dot)), version: Number(given.slice(dot + 1)) };
}
