import type { ShardId } from "@gossip/contracts";
import { isTaken } from "./lease-gone.ts";
import type { ShardHost } from "./shard-host.ts";
import type { Ending } from "./upkeep-options.ts";
import type { LossCause } from "./worker-event.ts";

/** A hold that is over, and the items finished in it. */
export interface EndedHold {
  readonly shard: ShardId;
  readonly items: number;
}

/** Count and report a hold that this worker ended. */
export function reportEnding(
  { counts, emit }: Pick<ShardHost, "counts" | "emit">,
  hold: EndedHold,
  ending: Ending,
): void {
  switch (ending.kind) {
    case "Complete":
      counts.completed++;
      return emit({ kind: "ShardCompleted", ...hold });
    case "Park":
      counts.parked++;
      return emit({ kind: "ShardParked", ...hold, reason: ending.reason });
    case "Release":
      counts.released++;
      return emit({ kind: "ShardReleased", ...hold });
  }
}

/** Count and report a hold that this worker lost. */
export function reportLoss(
  { counts, emit }: Pick<ShardHost, "counts" | "emit">,
  hold: EndedHold,
  cause: LossCause,
): void {
  counts.lost++;
  emit({ kind: "LeaseLost", ...hold, cause, isTaken: isTaken(cause) });
}
