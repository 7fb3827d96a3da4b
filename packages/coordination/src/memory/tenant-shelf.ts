import type { RunId } from "@gossip/contracts";
import type { RunShelf } from "./run-shelf.ts";

/** What a removed run leaves under its id. */
export const DELETED = "Deleted";

/** The runs of one tenant, and how many shards they have. */
export interface TenantShelf {
  readonly runs: Map<RunId, RunShelf | typeof DELETED>;
  shardCount: number;
}
