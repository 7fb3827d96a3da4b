import type { ErrorKind } from "@gossip/coordination-errors";

const LEASE_GONE: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "StaleFence",
  "LeaseExpired",
  "ShardTerminal",
  "ShardNotFound",
  "TenantMismatch",
  "SessionClosed",
] as const satisfies readonly ErrorKind[]);

/** Whether an error means that this worker no longer holds the shard. */
export function isLeaseGone({ kind }: { readonly kind: string }): boolean {
  return LEASE_GONE.has(kind);
}
