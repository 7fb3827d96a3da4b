import type { RunId, ShardId, TenantId } from "@gossip/contracts";
import type { NoteSpace } from "@gossip/coordination";
import type { CountScope } from "./fsck-source.ts";

/** Where something was found. */
export interface RunAddress {
  readonly tenant: TenantId;
  readonly run: RunId;
}

/**
 * Something in a store that contradicts something else.
 *
 * It holds ids, sizes and fixed words, never keys.
 *
 * - `UnreadableRecord`  — the bytes are not a record. `shard` is `undefined` for the record of the run.
 * - `RecordFault`       — a record breaks a rule of its own.
 * - `ShardsWithoutRun`  — shards exist and their run does not.
 * - `NoteFault`         — a note cannot be read, or is not a document of its space.
 * - `NotesWithoutRun`   — notes exist and their run does not.
 * - `Lineage`           — parents, children and registered shards do not name each other.
 * - `Coverage`          — the ranges of the shards do not tile what was registered.
 * - `LostProgress`      — the shard that took over from a split one has not come as far.
 * - `MissingEntry`      — an index lacks a shard that it should have. `repair` adds it.
 * - `StrayEntry`        — an index has an entry that it should not have. `repair` removes it.
 * - `WrongCount`        — a count is wrong: of shards, or of those of a run in one status. `repair` corrects it.
 * - `WrongCensus`       — the shards of a run are not those that its census counted: a record is missing, or is one too many.
 * - `NotFoundByKey`     — a record, or an entry of `index`, is listed, but the engine does not find it by its key. The store's file is
 *                         damaged: restore a backup.
 */
export type FsckFinding =
  | (RunAddress & { readonly kind: "UnreadableRecord"; readonly shard: ShardId | undefined; readonly detail: string })
  | (RunAddress & { readonly kind: "RecordFault"; readonly shard: ShardId | undefined; readonly detail: string })
  | (RunAddress & { readonly kind: "ShardsWithoutRun"; readonly shardCount: number })
  | (RunAddress & { readonly kind: "NoteFault"; readonly space: NoteSpace | undefined; readonly detail: string })
  | (RunAddress & { readonly kind: "NotesWithoutRun"; readonly noteCount: number })
  | (RunAddress & { readonly kind: "Lineage"; readonly shard: ShardId; readonly detail: string })
  | (RunAddress & { readonly kind: "Coverage"; readonly shard: ShardId; readonly fault: CoverageFault })
  | (RunAddress & { readonly kind: "LostProgress"; readonly shard: ShardId })
  | (RunAddress & { readonly kind: "MissingEntry"; readonly shard: ShardId; readonly index: string })
  | (RunAddress & { readonly kind: "StrayEntry"; readonly shard: ShardId | undefined; readonly index: string })
  | (RunAddress & { readonly kind: "WrongCensus"; readonly stored: number; readonly counted: number })
  | (RunAddress & {
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

/** Whether rebuilding the indexes repairs it. */
export function isRepairable({ kind }: FsckFinding): boolean {
  return kind === "MissingEntry" || kind === "StrayEntry" || kind === "WrongCount";
}
