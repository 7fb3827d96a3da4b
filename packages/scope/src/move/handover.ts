import { assert } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { ownFinished, ownMigration, type FinishedMigration, type MigrationState } from "./migration.ts";

/**
 * Offers a scope to the target: it is quiesced and drained, and the source can no longer take it back.
 *
 * Send it with the data, or after it. Only a drained source makes one.
 */
export interface Offer {
  readonly kind: "Offer";
  readonly migration: MigrationState;
}

/** How a move ended. Made by the deciding node; final, and valid on every node. */
export interface Decision {
  readonly kind: "Decision";
  readonly migration: FinishedMigration;
}

export function ownOffer(offer: Offer): Offer {
  assertObject(offer, "an offer");
  assert(offer.kind === "Offer", "an offer must come from a drained source");
  return { kind: "Offer", migration: ownMigration(offer.migration) };
}

export function ownDecision(decision: Decision): Decision {
  assertObject(decision, "a decision");
  assert(decision.kind === "Decision", "a decision must come from a deciding node");
  return { kind: "Decision", migration: ownFinished(decision.migration) };
}
