import type { FenceEpoch, LogicalTime, WorkerId } from "@gossip/contracts";
import type { Lease } from "../../../records/lease.ts";
import type { ShardRecord } from "../../../records/shard-record.ts";
import { addressOf } from "./check-shard.ts";
import type { ShardAddress, Violation } from "./violation.ts";

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
 * Only accepted writes count, not what a worker believes or who holds the record. All writes with one fence are by one
 * worker; after a write with a later fence, none with an earlier one is accepted; and every grant has a fence that no
 * write had before.
 */
export function checkStream(
  address: ShardAddress,
  stream: MutationStream | undefined,
  mutation: AcceptedMutation,
): Violation[] {
  if (stream === undefined) return [];
  const { fence, owner, isGrant } = mutation;
  if (fence > stream.fence || (fence === stream.fence && owner === stream.owner && !isGrant)) return [];
  return [{ kind: "MutationStream", ...address, fence, owner, latestFence: stream.fence }];
}

/**
 * Checks that the record allowed a write when it was accepted. Repeats the rules of leases independently of the kernel:
 * the holder, with this lease, before its deadline.
 */
export function checkAuthority(before: ShardRecord, lease: Lease, now: LogicalTime): Violation[] {
  const fault = findAuthorityFault(before, lease, now);
  return fault === undefined ? [] : [{ kind: "UnauthorizedMutation", ...addressOf(before), fault }];
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
