import type { ErrorKind } from "@gossip/coordination-errors";

const LEASE_GONE: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "StaleFence",
  "LeaseExpired",
  "ShardTerminal",
  "ShardNotFound",
  "TenantMismatch",
] as const satisfies readonly ErrorKind[]);

/** Whether an error means that the lease is lost, so that a retry cannot succeed. */
export function isLeaseGone(error: { readonly kind: string }): boolean {
  return LEASE_GONE.has(error.kind);
}
