import type { ShardId, ShardLimitScope } from "@gossip/contracts";
import type { ExhaustedResource, InfraError } from "@gossip/coordination-errors";
import type { SlabFull } from "@gossip/stdx";
import type { CapacityHint } from "../records/capacity-hint.ts";
import type { StoreVersion } from "./store-reads.ts";

/**
 * The outcome of one write set. If several apply, the first in this order is returned:
 *
 * - `Conflict`      — a condition of the set does not hold. Nothing was written.
 * - `LimitExceeded` — the new shards would exceed a quota; the tenant's is checked first. Nothing was written.
 * - `Exists`        — a new shard's id is taken; names the first such in the set. Nothing was written.
 * - `Exhausted`     — there is no room. Nothing was written.
 * - `Committed`     — all of it was written, and survives what the store promises to survive.
 *
 * Or the store failed:
 *
 * - `Failed`        — nothing was written, for certain.
 * - `Unknown`       — all of it was written, or nothing. Never return `Failed` in this case.
 */
export type CommitAnswer =
  | { readonly kind: "Conflict" }
  | ({ readonly kind: "LimitExceeded" } & OverdrawnLimit)
  | { readonly kind: "Exists"; readonly shard: ShardId }
  | { readonly kind: "Exhausted"; readonly resource: ExhaustedResource; readonly slab: SlabFull | undefined }
  | Committed
  | { readonly kind: "Failed"; readonly error: InfraError }
  | { readonly kind: "Unknown"; readonly error: InfraError };

export interface Committed {
  readonly kind: "Committed";
  /** The new version of the shard or run that was written. Of a removed run, and of notes alone, any value. */
  readonly version: StoreVersion;
  /** Present exactly if the set asked for it. */
  readonly hint?: CapacityHint | undefined;
}

export interface OverdrawnLimit {
  readonly scope: ShardLimitScope;
  /** Shards that exist. */
  readonly current: number;
  readonly additional: number;
  readonly max: number;
}
