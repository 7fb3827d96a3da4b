import type { FenceEpoch, LogicalTime, WorkerId } from "@gossip/contracts";
import type { Lease } from "../../../records/lease.ts";
import type { ShardRecord } from "../../../records/shard-record.ts";
import { placeOf } from "./check-shard.ts";
import type { ShardPlace, Violation } from "./violation.ts";

/** Whose writes to a shard were accepted last, and under which fence. */
export interface MutationStream {
  readonly fence: FenceEpoch;
  readonly owner: WorkerId;
}

/** Something of a worker's that was accepted: a lease that was given to it, or a write under one. */
export interface AcceptedMutation extends MutationStream {
  /** Whether it was given the shard, which begins a stream of its own. */
  readonly isGrant: boolean;
}

/**
 * V1: at most one stream of accepted mutations for each shard and fence.
 *
 * What a worker believes does not matter, nor who holds the record: it is the writes that
 * were accepted. Under one fence they are all one worker's; once a write under a later
 * fence was accepted, none under an earlier one is; and every grant begins with a fence that
 * no write has carried.
 */
export function checkStream(
  place: ShardPlace,
  stream: MutationStream | undefined,
  mutation: AcceptedMutation,
): Violation[] {
  if (stream === undefined) return [];
  const { fence, owner, isGrant } = mutation;
  if (fence > stream.fence || (fence === stream.fence && owner === stream.owner && !isGrant)) return [];
  return [{ kind: "MutationStream", ...place, fence, owner, latestFence: stream.fence }];
}

/**
 * Check that the record, as it was when a write was accepted, allowed it. The rules of leases, said
 * once more and apart from the kernel: the holder, by this very lease, before its deadline.
 */
export function checkAuthority(before: ShardRecord, lease: Lease, now: LogicalTime): Violation[] {
  const fault = findAuthorityFault(before, lease, now);
  return fault === undefined ? [] : [{ kind: "UnauthorizedMutation", ...placeOf(before), fault }];
}

function findAuthorityFault(
  before: ShardRecord,
  lease: Lease,
  now: LogicalTime,
): Violation<"UnauthorizedMutation">["fault"] | undefined {
  if (before.status !== "Active") return "NotActive";
  if (before.lease === undefined) return "NoHolder";
  if (before.fenceEpoch !== lease.fence) return "OtherFence";
  if (before.lease.owner !== lease.owner) return "OtherOwner";
  const at = now > before.lastTime ? now : before.lastTime;
  return at < before.lease.deadline ? undefined : "Lapsed";
}
