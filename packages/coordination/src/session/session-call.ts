import type { ShardOperation } from "../coordinator/shard-operation.ts";

/** A call of a session: what it does, and what its caller is told of what came of it. */
export interface SessionCall<Outcome, Told, Failure> {
  /** Made when it is the call's turn. */
  make(): ShardOperation<Outcome, Failure>;
  tell(outcome: Outcome): Told;
  /** Whether it ends the session where it succeeds, or where there is no lease to end. */
  readonly isLast?: boolean;
}
