import type { StoreVersion } from "@gossip/coordination";

/** What a version that we gave out says: the row that it is of, and which state of it. */
export interface RowVersion {
  /** The number of the run, in the table of runs. It never changes, and no other run ever gets it. */
  readonly runId: string;
  readonly version: string;
}

const RUN_VERSION = /^r(\d{1,19})\.(\d{1,19})$/;
const SHARD_VERSION = /^s(\d{1,19})\.(\d{1,19})$/;

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
  return read(RUN_VERSION, given);
}

export function readShardVersion(given: StoreVersion | undefined): RowVersion | undefined {
  return read(SHARD_VERSION, given);
}

/** The version behind one, which a write gives a row. */
export function nextVersion(version: string): string {
  return String(BigInt(version) + 1n);
}

function read(form: RegExp, given: StoreVersion | undefined): RowVersion | undefined {
  const match = typeof given === "string" ? form.exec(given) : null;
  return match === null ? undefined : { runId: match[1]!, version: match[2]! };
}
