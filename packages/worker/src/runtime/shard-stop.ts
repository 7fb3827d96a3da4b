import type { ParkReason, RunStatus } from "@gossip/contracts";
import type { ParkDetailInput } from "@gossip/coordination";
import type { Ending } from "./upkeep-options.ts";
import type { LossCause } from "./worker-event.ts";

/** Why the work on a shard ends before its last item. */
export type ShardStop =
  /** The run is paused. */
  | { readonly kind: "Pause" }
  | { readonly kind: "Shutdown" }
  | { readonly kind: "Park"; readonly reason: ParkReason; readonly detail: ParkDetailInput }
  | { readonly kind: "RunEnded"; readonly status: RunStatus }
  /** The source was unavailable for too long. */
  | { readonly kind: "SourceFailed"; readonly cause: unknown }
  | { readonly kind: "SinkFailed"; readonly cause: unknown }
  | { readonly kind: "Lost"; readonly cause: LossCause }
  /** An invariant was broken. */
  | { readonly kind: "Bug"; readonly error: unknown };

/** A stop replaces one of lower gravity: a shard that is being released can still turn out to be lost. */
export const GRAVITY = {
  Pause: -1,
  Shutdown: 0,
  Park: 0,
  SourceFailed: 0,
  RunEnded: 0,
  SinkFailed: 1,
  Lost: 2,
  Bug: 3,
} as const satisfies Record<ShardStop["kind"], number>;

/** Whether items that were started may finish before the hold ends. In the other cases that is useless or not allowed. */
export function letsItemsFinish({ kind }: ShardStop): boolean {
  return kind === "Pause" || kind === "Shutdown" || kind === "Park" || kind === "SourceFailed";
}

/** How to end the hold after a stop. `undefined` if this worker no longer holds the shard. */
export function endingFor(stop: ShardStop | undefined): Ending | undefined {
  switch (stop?.kind) {
    case undefined:
      return { kind: "Complete" };
    case "Park":
      return stop;
    case "Pause":
    case "Shutdown":
    case "SourceFailed":
    case "RunEnded":
      return { kind: "Release" };
    case "SinkFailed":
    case "Lost":
    case "Bug":
      return undefined;
  }
}
