import type { ShardId, ShardLimitScope } from "@gossip/contracts";
import type { ExhaustedResource, InfraError } from "@gossip/coordination-errors";
import type { SlabFull } from "@gossip/stdx";
import type { CapacityHint } from "../records/capacity-hint.ts";
import type { StoreVersion } from "./store-reads.ts";

/**
 * What became of one write set. Where several of these could be said, the first in
 * this order is:
 *
 * - `Conflict`      — a version or a state that was to hold does not. Nothing was written.
 * - `LimitExceeded` — the new shards would overdraw a quota, the tenant's looked at first. Nothing was written.
 * - `Exists`        — a new shard's id is taken; the first such in the set is named. Nothing was written.
 * - `Exhausted`     — there is no room. Nothing was written.
 * - `Committed`     — all of it was written, and survives what the store promises to survive.
 *
 * Or the store failed:
 *
 * - `Failed`        — and certainly wrote nothing.
 * - `Unknown`       — and may or may not have written all of it. Never say `Failed` where it is this.
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
  /** The new version of the shard or run that was written; of a removed run, anything. */
  readonly version: StoreVersion;
  /** Present exactly where the set asked for it. */
  readonly hint?: CapacityHint | undefined;
}

export interface OverdrawnLimit {
  readonly scope: ShardLimitScope;
  /** Shards that exist. */
  readonly current: number;
  readonly additional: number;
  readonly max: number;
}
