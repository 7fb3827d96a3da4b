import type { StoreVersion } from "@gossip/coordination";
import type { Space } from "./layout.ts";

/** A decoded shard version: its space, and the revision at which it was last written. */
export interface ShardVersion {
  readonly space: Space;
  readonly revision: bigint;
}

const RUN_VERSION = /^r(\d{1,19})$/u;
const SHARD_VERSION = /^s([0-9a-fk][0-9a-f]{19})\.(\d{1,19})$/u;

// The letter keeps a run's version from being taken for a shard's. A shard's version includes the space, so that a
// guarded write can build its key without reading the run's head.

export function runVersion(revision: bigint): StoreVersion {
  return `r${revision}`;
}

export function shardVersion({ space, revision }: ShardVersion): StoreVersion {
  return `s${space}.${revision}`;
}

/** Returns `undefined` if this store never issued it as a run version. */
export function readRunVersion(given: StoreVersion | undefined): bigint | undefined {
  const match = typeof given === "string" ? RUN_VERSION.exec(given) : null;
  return match === null ? undefined : BigInt(match[1]!);
}

export function readShardVersion(given: StoreVersion | undefined): ShardVersion | undefined {
  const match = typeof given === "string" ? SHARD_VERSION.exec(given) : null;
  return match === null ? undefined : { space: match[1]!, revision: BigInt(match[2]!) };
}
