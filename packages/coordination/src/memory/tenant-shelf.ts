import type { RunId } from "@gossip/contracts";
import type { RunShelf } from "./run-shelf.ts";

/** The mark that a removed run leaves under its id. */
export const DELETED = "Deleted";

/** The runs of one tenant, and the number of their shards. */
export interface TenantShelf {
  readonly runs: Map<RunId, RunShelf | typeof DELETED>;
  shardCount: number;
}
