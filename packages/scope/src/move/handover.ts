import { assert } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { ownFinished, ownMigration, type FinishedMigration, type MigrationState } from "./migration.ts";

/**
 * A scope that its source holds out to the target: quiesced, drained, and no longer the source's to take back.
 *
 * Send it with the data, or after it. Only a source that has drained makes one.
 */
export interface Offer {
  readonly kind: "Offer";
  readonly migration: MigrationState;
}

/** How a move ended. Made by the node that decides; final, and valid on every node. */
export interface Decision {
  readonly kind: "Decision";
  readonly migration: FinishedMigration;
}

export function ownOffer(offer: Offer): Offer {
  assertObject(offer, "an offer");
  assert(offer.kind === "Offer", "an offer must be what a drained source made");
  return { kind: "Offer", migration: ownMigration(offer.migration) };
}

export function ownDecision(decision: Decision): Decision {
  assertObject(decision, "a decision");
  assert(decision.kind === "Decision", "a decision must be what a deciding node made");
  return { kind: "Decision", migration: ownFinished(decision.migration) };
}
