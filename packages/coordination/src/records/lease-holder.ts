import { type LogicalTime, type OpId, type WorkerId } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";

/**
 * The holder of a shard, and until when.
 *
 * One value instead of three fields of the record, so that a deadline cannot exist without an owner.
 */
export interface LeaseHolder {
  readonly owner: WorkerId;
  /** The first moment at which the lease is no longer valid. */
  readonly deadline: LogicalTime;
  /** The op id of the acquire that granted it, so that a repeated acquire returns the same lease. *Addition.* */
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
