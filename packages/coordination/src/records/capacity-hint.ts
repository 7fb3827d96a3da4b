import { type LogicalTime } from "@gossip/contracts";
import { assertObject } from "@gossip/stdx/internal";

/** The most shards that one claim takes, and therefore the most that a capacity hint counts. */
export const MAX_CLAIM_COUNT = 256;

/**
 * What a worker learns about its run with other results: is there more to do, and is anyone
 * waiting?
 *
 * | `availableCount` | `earliestDeadline` | meaning                                 |
 * | ---------------- | ------------------ | --------------------------------------- |
 * | above 0          | any                | more can be claimed                     |
 * | 0                | present            | all is held; come back at that time     |
 * | 0                | `undefined`        | nothing is left                         |
 *
 * Advice, and already old when it arrives. Nothing may depend on it being right.
 */
export interface CapacityHint {
  /** Active shards that no worker held, counted up to `MAX_CLAIM_COUNT`: a larger number would change nothing for a claim. */
  readonly availableCount: number;
  /** When the first of the leases that were held runs out. */
  readonly earliestDeadline: LogicalTime | undefined;
  /** Whether a worker found nothing to claim not long ago: a holder may want to split or release. *Addition.* */
  readonly isStarved: boolean;
}

export interface CapacityHintCompanion {
  /** Nothing known, nothing to do. */
  readonly ZERO: CapacityHint;
  /** Whether nothing can be claimed. */
  isSaturated(hint: CapacityHint): boolean;
}

export const CapacityHint: CapacityHintCompanion = {
  ZERO: /* @__PURE__ */ Object.freeze({ availableCount: 0, earliestDeadline: undefined, isStarved: false }),

  isSaturated(hint) {
    assertObject(hint, "capacity hint");
    return hint.availableCount === 0;
  },
};
