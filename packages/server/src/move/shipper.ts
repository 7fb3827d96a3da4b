import type { MigrationState, Offer, OwnershipNode } from "@gossip/scope";
import { runsOfScope, type ScopeData } from "./scope-data.ts";
import type { Frame, StageAnswer } from "./staging.ts";

/** The target of a move, as its source ships to it. `undefined` if there is no answer. */
export interface StagingPeer {
  begin(move: MigrationState): Promise<StageAnswer | undefined>;
  stage(frame: Frame): Promise<StageAnswer | undefined>;
  complete(id: string, frames: number): Promise<StageAnswer | undefined>;
}

/** Whether all records are at the target, or it does not take them, or it did not answer. */
export type Shipped = "Shipped" | "Refused" | "Silent";

/** Send the records of a drained scope to its target, from the first frame that is not there. */
export async function ship(
  { migration }: Offer,
  { node, data, peer }: { readonly node: OwnershipNode; readonly data: ScopeData; readonly peer: StagingPeer },
): Promise<Shipped> {
  const { id, prefix } = migration;
  const begun = await peer.begin(migration);
  if (begun?.kind !== "Staged") return failed(begun);
  if (begun.isComplete) return "Shipped";
  let index = 0;
  for (const bytes of data.frames(runsOfScope(node, prefix))) {
    if (index >= begun.frames) {
      const staged = await peer.stage({ id, index, bytes });
      if (staged?.kind !== "Staged") return failed(staged);
    }
    index += 1;
  }
  const completed = await peer.complete(id, index);
  return completed?.kind === "Staged" ? "Shipped" : failed(completed);
}

/** A target that could not write may be able to later. */
function failed(answer: StageAnswer | undefined): "Refused" | "Silent" {
  return answer?.kind === "Refused" && answer.reason !== "NotWritten" ? "Refused" : "Silent";
}
