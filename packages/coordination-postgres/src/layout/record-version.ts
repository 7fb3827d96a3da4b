import type { StoreVersion } from "@gossip/coordination";

/** What a version that we gave out says: the row that it is of, and which state of it. */
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

/** `undefined` where we never gave it out as a run's. */
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

/** The number that is written between two places, as we write it; 0 where none is. Every write of a batch is read so. */
function countIn(text: string, start: number, end: number): number {
  if (end <= start || end - start > MAX_DIGITS || text.charCodeAt(start) === ZERO) return 0;
  let count = 0;
  for (let place = start; place < end; place++) {
    const digit = text.charCodeAt(place) - ZERO;
    if (digit < 0 || digit > 9) return 0;
    count = count * 10 + digit;
  }
  return count;
}
