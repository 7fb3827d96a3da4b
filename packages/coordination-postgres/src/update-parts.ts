import type { ClaimLister } from "./claim-lister.ts";
import type { Database } from "./database.ts";
import type { KnownCapacities } from "./known-capacities.ts";

/** What writes are made with. */
export interface UpdateParts {
  readonly database: Database;
  readonly claims: ClaimLister;
  readonly capacities: KnownCapacities;
}
