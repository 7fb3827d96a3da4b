import type { ErrorKind } from "@gossip/coordination-errors";

const LEASE_GONE: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "StaleFence",
  "LeaseExpired",
  "ShardTerminal",
  "ShardNotFound",
  "TenantMismatch",
  "SessionClosed",
] as const satisfies readonly ErrorKind[]);

/** Whether an error says that the shard is no longer this worker's. */
export function isLeaseGone({ kind }: { readonly kind: string }): boolean {
  return LEASE_GONE.has(kind);
}
