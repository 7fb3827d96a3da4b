import type { ErrorKind } from "@gossip/coordination-errors";

const LEASE_GONE: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "StaleFence",
  "LeaseExpired",
  "ShardTerminal",
  "ShardNotFound",
  "TenantMismatch",
  "SessionClosed",
] as const satisfies readonly ErrorKind[]);

/** Whether a lost lease means that another worker has the shard, or had it. Otherwise the lease just expired. */
export function isTaken(cause: string): boolean {
  return cause === "StaleFence" || cause === "ShardTerminal";
}

/** Whether an error means that this worker no longer holds the shard. */
export function isLeaseGone({ kind }: { readonly kind: string }): boolean {
  return LEASE_GONE.has(kind);
}
