/**
 * Versions of records: the number of a record's writes, times two.
 *
 * Versions of shards are odd and those of runs even, so that a guard for one kind never holds for the other. They never
 * start over: the id of a shard is not reused in its run, nor that of a run in its tenant.
 */
export const FIRST_SHARD_VERSION = 1;
export const FIRST_RUN_VERSION = 2;

/** Whether a row of a shard can have this version. A flipped bit in a version often makes it one that no shard has. */
export function isShardVersion(version: number | undefined): boolean {
  return isVersion(version, FIRST_SHARD_VERSION);
}

export function isRunVersion(version: number | undefined): boolean {
  return isVersion(version, FIRST_RUN_VERSION);
}

function isVersion(version: number | undefined, first: number): boolean {
  return Number.isSafeInteger(version) && version! >= first && (version! - first) % 2 === 0;
}

export function nextVersion(version: number): number {
  return version + 2;
}
