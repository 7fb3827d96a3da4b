import type { ParkReason, RunStatus } from "@gossip/contracts";
import type { Ending } from "./upkeep.ts";
import type { LossCause } from "./worker-event.ts";

/** Why the work on a shard ends before its last item. */
export type ShardStop =
  | { readonly kind: "Shutdown" }
  | { readonly kind: "Park"; readonly reason: ParkReason }
  | { readonly kind: "RunEnded"; readonly status: RunStatus }
  | { readonly kind: "SinkFailed"; readonly cause: unknown }
  | { readonly kind: "Lost"; readonly cause: LossCause }
  /** An invariant was broken. */
  | { readonly kind: "Bug"; readonly error: unknown };

/** A stop replaces one of lower gravity: a shard that is being released can still turn out to be lost. */
export const GRAVITY = { Shutdown: 0, Park: 0, RunEnded: 0, SinkFailed: 1, Lost: 2, Bug: 3 } as const satisfies Record<
  ShardStop["kind"],
  number
>;

/** How to end the hold after a stop. `undefined` if this worker no longer holds the shard. */
export function endingFor(stop: ShardStop | undefined): Ending | undefined {
  switch (stop?.kind) {
    case undefined:
      return { kind: "Complete" };
    case "Park":
      return stop;
    case "Shutdown":
    case "RunEnded":
      return { kind: "Release" };
    case "SinkFailed":
    case "Lost":
    case "Bug":
      return undefined;
  }
}
