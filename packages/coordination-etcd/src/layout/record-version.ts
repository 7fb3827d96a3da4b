import type { StoreVersion } from "@gossip/coordination";
import type { Space } from "./layout.ts";

/** What a shard's version says: where it is, and the revision at which it was last written. */
export interface ShardVersion {
  readonly space: Space;
  readonly revision: bigint;
}

const RUN_VERSION = /^r(\d{1,19})$/u;
const SHARD_VERSION = /^s([0-9a-f]{20})\.(\d{1,19})$/u;

// The letter keeps a run's version from passing for a shard's. The space is in a shard's, so that a guarded write finds its
// key without asking where the run has its shards.

export function runVersion(revision: bigint): StoreVersion {
  return `r${revision}`;
}

export function shardVersion({ space, revision }: ShardVersion): StoreVersion {
  return `s${space}.${revision}`;
}

/** `undefined` where we never gave it out as a run's. */
export function readRunVersion(given: StoreVersion | undefined): bigint | undefined {
  const match = typeof given === "string" ? RUN_VERSION.exec(given) : null;
  return match === null ? undefined : BigInt(match[1]!);
}

export function readShardVersion(given: StoreVersion | undefined): ShardVersion | undefined {
  const match = typeof given === "string" ? SHARD_VERSION.exec(given) : null;
  return match === null ? undefined : { space: match[1]!, revision: BigInt(match[2]!) };
}
