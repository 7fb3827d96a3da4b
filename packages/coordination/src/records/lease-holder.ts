import { type LogicalTime, type OpId, type WorkerId } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";

/**
 * Who holds a shard, and until when.
 *
 * One value and not three fields of the record, so that there is no deadline
 * without an owner.
 */
export interface LeaseHolder {
  readonly owner: WorkerId;
  /** The first moment at which the lease no longer holds. */
  readonly deadline: LogicalTime;
  /** The acquire that made it, so that a repeated one can be answered with the same lease. *Addition.* */
  readonly opId: OpId;
}

export interface LeaseHolderCompanion {
  of(holder: LeaseHolder): LeaseHolder;
}

export const LeaseHolder: LeaseHolderCompanion = {
  of(holder) {
    assertObject(holder, "holder of a lease");
    const { owner, deadline, opId } = holder;
    assert(deadline > 0n, "lease deadline must not be zero");
    assert(typeof owner === "bigint" && typeof opId === "bigint", "owner and op id of a lease must be bigints");
    return { owner, deadline, opId };
  },
};
