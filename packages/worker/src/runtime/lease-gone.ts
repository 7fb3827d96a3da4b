import { isLeaseGone as isLeaseLost } from "@gossip/coordination/internal";

/** Whether a lost lease means that another worker has the shard, or had it. Otherwise the lease just expired. */
export function isTaken(cause: string): boolean {
  return cause === "StaleFence" || cause === "ShardTerminal";
}

/** Whether an error means that this worker no longer holds the shard. */
export function isLeaseGone(error: { readonly kind: string }): boolean {
  return error.kind === "SessionClosed" || isLeaseLost(error);
}
