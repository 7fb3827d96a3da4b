import type { TenantId } from "@gossip/contracts";
import { coordError, type ErrorOfKind } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import type { RunRecord } from "../records/run-record.ts";
import { validateTenant } from "./find-shard.ts";

/** Returns the run if it exists and belongs to the tenant. */
export function findRun(
  run: RunRecord | undefined,
  tenant: TenantId,
): Result<RunRecord, ErrorOfKind<"RunNotFound" | "TenantMismatch">> {
  if (run === undefined) return err(coordError("RunNotFound"));
  const own = validateTenant(run, tenant);
  return own.ok ? ok(run) : own;
}
