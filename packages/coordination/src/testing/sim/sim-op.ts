import { ShardId } from "@gossip/contracts";
import type { Lease } from "../../records/lease.ts";
import type { RunAddress, ShardAddress } from "./invariants/violation.ts";

/** What a worker does with a shard that it holds or believes it holds. */
export type HeldShardOpKind =
  | "Renew"
  | "Checkpoint"
  | "Complete"
  | "Park"
  | "SplitReplace"
  | "SplitResidual"
  | "ReplayCheckpoint"
  | "ConflictCheckpoint"
  | "Release"
  | "MalformedCheckpoint"
  | "MalformedSplit"
  | "ForeignTenant";

/** How a run is ended. */
export const RUN_ENDINGS = ["Complete", "Fail", "Cancel"] as const;
export type RunEnding = (typeof RUN_ENDINGS)[number];

/**
 * One step of a run. A worker is an index into the list of workers, which may be out of bounds.
 *
 * `Release`, `Retry`, `MalformedCheckpoint`, `MalformedSplit`, `ForeignTenant`, `CrashWorker`, `SkewClock`,
 * `CreateRun` and `DeleteRun` are *additions*.
 */
export type SimOp =
  | { readonly kind: HeldShardOpKind; readonly worker: number; readonly shard: ShardAddress | undefined }
  | { readonly kind: "Acquire" | "SessionLifecycle"; readonly worker: number; readonly shard: ShardAddress }
  | { readonly kind: "ClaimNext"; readonly worker: number; readonly run: RunAddress }
  | { readonly kind: "ZombieCheckpoint"; readonly worker: number; readonly lease: Lease | undefined }
  | { readonly kind: "Retry"; readonly worker: number }
  | { readonly kind: "PauseWorker" | "ResumeWorker" | "CrashWorker" | "SkewClock"; readonly worker: number }
  | { readonly kind: "AdvanceTime"; readonly ticks: number }
  | { readonly kind: "Unpark"; readonly shard: ShardAddress }
  | { readonly kind: "TerminateRun"; readonly run: RunAddress; readonly ending: RunEnding }
  | { readonly kind: "CreateRun" }
  | { readonly kind: "DeleteRun"; readonly run: RunAddress };

export type SimOpKind = SimOp["kind"];

/** One line of text, the same in every replay. */
export function formatOp(op: SimOp): string {
  const parts: string[] = [op.kind];
  if ("worker" in op) parts.push(`worker ${op.worker + 1}`);
  if ("shard" in op && op.shard !== undefined)
    parts.push(`shard ${nameRunShortly(op.shard)}/${ShardId.format(op.shard.shard)}`);
  if ("lease" in op && op.lease !== undefined)
    parts.push(`shard ${nameRunShortly(op.lease)}/${ShardId.format(op.lease.shard)} fence ${op.lease.fence}`);
  if ("run" in op) parts.push(`run ${nameRunShortly(op.run)}`);
  if ("ticks" in op) parts.push(`by ${op.ticks}`);
  if ("ending" in op) parts.push(op.ending);
  return parts.join(" ");
}

function nameRunShortly({ tenant, run }: RunAddress): string {
  return `${tenant.slice(0, 2)}/${run}`;
}
