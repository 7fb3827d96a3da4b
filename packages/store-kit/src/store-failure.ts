import { InfraError } from "@gossip/coordination-errors";

/** The `operation` of an `InfraError`: the name of the store and the call of the port that failed. */
export type StoreOperation<Store extends string> =
  `${Store}.${"readServerTime" | "readRun" | "readShard" | "readHint" | "readProgress" | "markStarved" | "listClaimCandidates" | "listShards" | "listShardPositions" | "listRuns" | "listTenants" | "listNotes" | "countNotes" | "commit" | "sweep" | "inspect" | "repair" | "transfer"}`;

/** Thrown inside a store when stored data contradicts itself. `StoreLifecycle` turns it into `failure`. */
export class CorruptStore extends Error {
  readonly failure: InfraError;

  constructor(failure: InfraError) {
    super("the stored data contradicts itself");
    this.failure = failure;
  }
}

/** The failure of every call after `close`. */
export function closedFailure(operation: StoreOperation<string>): InfraError {
  // Operations are fixed text: `StoreLifecycle` takes a literal name only. The compiler cannot see that here.
  return InfraError.transient({ operation: operation as "store.readRun", message: "the store is closed" });
}
