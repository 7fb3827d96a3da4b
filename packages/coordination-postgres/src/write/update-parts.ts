import type { ShardEncoder } from "@gossip/coordination-codec/internal";
import type { ClaimLister } from "../claim/claim-lister.ts";
import type { Database } from "../database/database.ts";
import type { KnownCapacities } from "../capacity/known-capacities.ts";

/** The objects that a write needs. */
export interface UpdateParts {
  readonly database: Database;
  readonly claims: ClaimLister;
  readonly capacities: KnownCapacities;
  /** Encodes the records of shards that are updated again and again. */
  readonly encoder: ShardEncoder;
}
