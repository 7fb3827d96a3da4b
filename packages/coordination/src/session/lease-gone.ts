import type { ErrorKind } from "@gossip/coordination-errors";

const LEASE_GONE: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "StaleFence",
  "LeaseExpired",
  "ShardTerminal",
  "ShardNotFound",
  "TenantMismatch",
] as const satisfies readonly ErrorKind[]);

/** Whether an error says that a lease is no longer good, so that trying again is of no use. */
export function isLeaseGone(error: { readonly kind: string }): boolean {
  return LEASE_GONE.has(error.kind);
}
