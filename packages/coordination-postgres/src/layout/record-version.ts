import type { StoreVersion } from "@gossip/coordination";

/** The contents of a version that this store issued: the run's row, and the version of the record. */
export interface RowVersion {
  /** The number of the run, in the table of runs. It never changes, and no other run ever gets it. */
  readonly runId: number;
  readonly version: number;
}

const MAX_DIGITS = 15;
const ZERO = "0".charCodeAt(0);

// The number of the run is in it so that a guarded write finds its row without asking which run that is, and the letter
// so that a run's version never passes for a shard's.

export function runVersion({ runId, version }: RowVersion): StoreVersion {
  return `r${runId}.${version}`;
}

export function shardVersion({ runId, version }: RowVersion): StoreVersion {
  return `s${runId}.${version}`;
}

/** `undefined` if this store did not issue it for a run. */
export function readRunVersion(given: StoreVersion | undefined): RowVersion | undefined {
  return read("r", given);
}

export function readShardVersion(given: StoreVersion | undefined): RowVersion | undefined {
  return read("s", given);
}

function read(letter: "r" | "s", given: StoreVersion | undefined): RowVersion | undefined {
  if (typeof given !== "string" || given[0] !== letter) return undefined;
  const dot = given.indexOf(".");
  const [runId, version] = [countIn(given, 1, dot), countIn(given, dot + 1, given.length)];
  return runId === 0 || version === 0 ? undefined : { runId, version };
}

/** Parses the decimal number between two offsets; 0 if it is malformed. Every write of a batch calls it. */
function countIn(text: string, start: number, end: number): number {
  if (end <= start || end - start > MAX_DIGITS || text.charCodeAt(start) === ZERO) return 0;
  let count = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return 0;
    count = count * 10 + digit;
  }
  return count;
}
