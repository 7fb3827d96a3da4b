import type { RunId, TenantId } from "@gossip/contracts";
import type { ClaimQuery } from "@gossip/coordination";
import { assert, assertCount } from "@gossip/stdx";

/** Identifies a run in a store. Write sets, queries and records all have these two fields. */
export interface RunAddress {
  readonly tenant: TenantId;
  readonly run: RunId;
}

const ANY_LIMIT = { min: 1, max: Number.MAX_SAFE_INTEGER };
const ANY_SPREAD = { min: 0, max: 2 ** 32 - 1 };

/**
 * Throws unless `record` belongs to the run of the write set that contains it.
 *
 * Without this check, a store could write a record under another tenant's keys.
 */
export function assertOwnRecord({ tenant, run }: RunAddress, record: RunAddress): void {
  assert(record.tenant === tenant && record.run === run, "a write set must hold records of its own run only");
}

/** Throws unless the limit and the spread of a claim query are in range. */
export function assertClaimQuery({ limit, spread }: Pick<ClaimQuery, "limit" | "spread">): void {
  assertCount(limit, "limit of candidates", ANY_LIMIT);
  assertCount(spread, "spread", ANY_SPREAD);
}

/** Throws unless the limit of a listing is in range. */
export function assertPageQuery({ limit }: { readonly limit: number }): void {
  assertCount(limit, "limit of a page", ANY_LIMIT);
}
