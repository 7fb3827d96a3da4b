import type { RunId, ShardId, TenantId } from "@gossip/contracts";
import type { CountScope } from "./fsck-source.ts";

/** Where something was found. */
export interface FindingPlace {
  readonly tenant: TenantId;
  readonly run: RunId;
}

/**
 * Something in a store that contradicts something else.
 *
 * Ids, sizes and our own words: what people's keys are is not told.
 *
 * - `UnreadableRecord`  — the bytes are no record. `shard` is left out where it is the run's.
 * - `RecordFault`       — a record breaks a rule of its own.
 * - `ShardsWithoutRun`  — shards are there and their run is not.
 * - `Lineage`           — parents, children and registered shards do not name each other.
 * - `Coverage`          — the ranges of the shards do not tile what was registered.
 * - `LostProgress`      — the shard that took over from a split one has not come as far.
 * - `MissingEntry`      — an index does not have a shard that it should. `repair` mends it.
 * - `StrayEntry`        — an index has something that it should not. `repair` mends it.
 * - `WrongCount`        — a count is not what there is. `repair` mends it.
 * - `WrongCensus`       — the shards of a run are not those that its census counted: a record is missing, or is one too many.
 * - `NotFoundByKey`     — a record, or an entry of `index`, is listed, but the engine does not find it by its key. The store's file is
 *                         damaged: restore a backup.
 */
export type FsckFinding =
  | (FindingPlace & { readonly kind: "UnreadableRecord"; readonly shard: ShardId | undefined; readonly detail: string })
  | (FindingPlace & { readonly kind: "RecordFault"; readonly shard: ShardId | undefined; readonly detail: string })
  | (FindingPlace & { readonly kind: "ShardsWithoutRun"; readonly shardCount: number })
  | (FindingPlace & { readonly kind: "Lineage"; readonly shard: ShardId; readonly detail: string })
  | (FindingPlace & { readonly kind: "Coverage"; readonly shard: ShardId; readonly fault: CoverageFault })
  | (FindingPlace & { readonly kind: "LostProgress"; readonly shard: ShardId })
  | (FindingPlace & { readonly kind: "MissingEntry"; readonly shard: ShardId; readonly index: string })
  | (FindingPlace & { readonly kind: "StrayEntry"; readonly shard: ShardId | undefined; readonly index: string })
  | (FindingPlace & { readonly kind: "WrongCensus"; readonly stored: number; readonly counted: number })
  | (FindingPlace & {
      readonly kind: "NotFoundByKey";
      readonly shard: ShardId | undefined;
      readonly index: string | undefined;
    })
  | {
      readonly kind: "WrongCount";
      readonly scope: CountScope;
      readonly tenant: TenantId | undefined;
      readonly run: RunId | undefined;
      readonly stored: number;
      readonly counted: number;
    };

/**
 * How ranges fail to tile. `shard` of the finding is the one whose children they are, or the registered one that
 * another runs into.
 */
export type CoverageFault = "Gap" | "Overlap" | "Outside";

/** Whether rebuilding the indexes mends it. */
export function isRepairable({ kind }: FsckFinding): boolean {
  return kind === "MissingEntry" || kind === "StrayEntry" || kind === "WrongCount";
}
