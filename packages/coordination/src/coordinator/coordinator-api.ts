import type { AcquireError, ClaimError } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import type { WorkerSession as SessionInProcess } from "../session/worker-session.ts";
import type { ClaimManyRequest, ClaimRequest } from "./claiming.ts";
import type { Coordinator } from "./coordinator.ts";
import type { AcquireRequest } from "./shard-requests.ts";

/**
 * One worker's hold on one shard, from the acquire to the call that ends it.
 *
 * A session is in one of two states:
 *
 * - *open*   — every call may be made. `renew`, `checkpoint` and `splitResidual` never close it.
 * - *closed* — `complete`, `park`, `release` or `splitReplace` succeeded, or reported that the lease is gone. Every call
 *   returns `SessionClosed`.
 *
 * A call that fails for another reason, such as an unreachable store, leaves the session open, and may be repeated.
 * Calls take effect in the order in which they are made; a caller need not wait for the previous one.
 *
 * `await using` releases the shard at the end of its block if the session is still open.
 */
export interface WorkerSession extends Pick<SessionInProcess, keyof SessionInProcess> {}

/**
 * Everything a coordinator can be asked to do. `Coordinator` does it in this process, over a store; a client of the
 * service does it over a network.
 */
export interface CoordinatorApi extends Omit<
  Pick<Coordinator, keyof Coordinator>,
  "claim" | "claimMany" | "openSession" | "checkpointMany"
> {
  /** Acquire a shard of a run that no worker holds. */
  claim(request: ClaimRequest): Promise<Result<WorkerSession, ClaimError>>;
  /** Acquire up to `count` shards of a run that no worker holds: at least one, or it fails. */
  claimMany(request: ClaimManyRequest): Promise<Result<readonly WorkerSession[], ClaimError>>;
  /** Acquire one particular shard and hold it in a session. */
  openSession(request: AcquireRequest): Promise<Result<WorkerSession, AcquireError>>;
}
