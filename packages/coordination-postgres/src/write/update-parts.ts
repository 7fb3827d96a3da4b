import type { ClaimLister } from "../claim/claim-lister.ts";
import type { Database } from "../database/database.ts";
import type { KnownCapacities } from "../capacity/known-capacities.ts";

/** The objects that a write needs. */
export interface UpdateParts {
  readonly database: Database;
  readonly claims: ClaimLister;
  readonly capacities: KnownCapacities;
}
