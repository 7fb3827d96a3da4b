import { FenceEpoch, LogicalTime, RunId, ShardId, TenantId, WorkerId, type ShardKey } from "@gossip/contracts";
import { assert, type Brand } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";

/**
 * The right to work on a shard: an acquire returns it and every write presents it.
 *
 * The record decides whether the lease is still good, by fence, deadline and owner. The deadline in here is only the
 * last one that the holder was given.
 */
export type Lease = Brand<LeaseFields, "Lease">;

interface LeaseFields {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly shard: ShardId;
  readonly owner: WorkerId;
  /**
   * Grows with every acquisition of this shard. A sink that keeps the highest fence it has seen per shard can refuse a
   * worker that lost its lease.
   *
   * It says nothing across a split: children start again at `FenceEpoch.INITIAL`, so a child's fence may be lower than
   * its parent's. To compare along a lineage, pass the worker runtime's `writeFence` downstream instead.
   */
  readonly fence: FenceEpoch;
  readonly deadline: LogicalTime;
}

export interface LeaseCompanion {
  /** Throws `InvariantViolation` on a fence below 1 or a deadline of zero. Only coordinators need this. */
  of(fields: { readonly [Field in keyof LeaseFields]: LeaseFields[Field] }): Lease;
  shardKey(lease: Lease): ShardKey;
  /**
   * Returns the lease after a renewal. Throws `InvariantViolation` if the deadline is earlier; the same deadline is
   * fine.
   */
  withDeadline(lease: Lease, deadline: LogicalTime): Lease;
}

export const Lease: LeaseCompanion = {
  of(fields) {
    assertObject(fields, "what a lease is made of");
    const { tenant, run, shard, owner, fence, deadline } = fields;
    assert(fence >= FenceEpoch.INITIAL, "lease fence must be at least 1");
    assert(deadline > 0n, "lease deadline must not be zero");
    return { tenant, run, shard, owner, fence, deadline } as LeaseFields as Lease;
  },

  shardKey(lease) {
    assertObject(lease, "lease");
    return { run: lease.run, shard: lease.shard };
  },

  withDeadline(lease, deadline) {
    assertObject(lease, "lease");
    assert(typeof deadline === "bigint" && typeof lease.deadline === "bigint", "lease deadline must be a bigint");
    assert(deadline >= lease.deadline, "lease deadline must not move back");
    const { tenant, run, shard, owner, fence } = lease;
    return Lease.of({ tenant, run, shard, owner, fence, deadline });
  },
};

/** Throws unless `lease` has the shape of a lease. For callers without a compiler. */
export function assertLease(lease: unknown): asserts lease is Lease {
  assertObject(lease, "lease");
  const { tenant } = lease as LeaseFields;
  assert(TenantId.parse(tenant).ok, "tenant of the lease must be 64 lowercase hex digits");
  assertLeaseNumbers(lease as LeaseFields);
}

/** The part of `assertLease` that is left when the tenant is known to be one. */
export function assertLeaseNumbers({ run, shard, owner, fence, deadline }: LeaseFields): void {
  RunId.fromRaw(run);
  ShardId.fromRaw(shard);
  WorkerId.fromRaw(owner);
  FenceEpoch.fromRaw(fence);
  LogicalTime.fromRaw(deadline);
}
