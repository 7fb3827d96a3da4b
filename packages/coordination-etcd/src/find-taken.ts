import type { Cluster } from "./cluster.ts";

/** How often a set that creates or removes shards is tried again because somebody else did so in between. */
export const MAX_COUNT_TRIES = 64;

/** Which of the keys is there, the first such; -1 where none is. */
export async function findTaken(cluster: Cluster, keys: readonly string[], revision: bigint): Promise<number> {
  const found = await cluster.readAt(revision, keys, { keysOnly: true });
  return found.findIndex((kv) => kv !== undefined);
}
