import { MAX_SPLIT_CHILDREN, type LogicalTime } from "@gossip/contracts";
import type { IdempotentOutcome } from "@gossip/coordination-errors";
import { assert, type Result } from "@gossip/stdx";
import type { AcquireOutcome } from "../../kernel/acquire.ts";
import type { kernel as realKernel } from "../../kernel/kernel.ts";
import type { SplitShard, Transition, UpdateShard } from "../../kernel/transition.ts";
import { Lease } from "../../records/lease.ts";
import { findOp } from "../../records/op-log.ts";
import type { RunRecord } from "../../records/run-record.ts";
import { isLeasedAt, type ShardRecord } from "../../records/shard-record.ts";
import { checkRunAllows } from "../sim/invariants/check-run-rules.ts";
import { checkShardState, checkShardStep, addressOf } from "../sim/invariants/check-shard.ts";
import { checkSpawnedIds } from "../sim/invariants/check-split.ts";
import { checkAuthority, type AcceptedMutation } from "../sim/invariants/mutation-stream.ts";
import type { Violation } from "../sim/invariants/violation.ts";
import { TENANT } from "./explore-state.ts";
import { isLeasedMessage, type ShardMessage } from "./message.ts";

export type Kernel = typeof realKernel;

/** The result of a request to a shard, and the rules that it broke. */
export interface ShardDelivery {
  /** The records to store; `undefined` if nothing changed. */
  readonly writes: UpdateShard | SplitShard | undefined;
  /** The lease that was granted, for the sender if it receives the response. */
  readonly lease: Lease | undefined;
  readonly accepted: AcceptedMutation | undefined;
  /** As in a trace: `Executed`, `Replayed`, or the kind of the refusal. */
  readonly answer: string;
  readonly violations: readonly Violation[];
}

export interface ShardRequest {
  readonly run: RunRecord | undefined;
  readonly shard: ShardRecord;
  /** All shards, to look up the residual of an earlier split. */
  readonly shards: readonly ShardRecord[];
  readonly message: ShardMessage;
  readonly now: LogicalTime;
}

/** Passes a request to the kernel and checks the result against the rules. */
export function deliverToShard(kernel: Kernel, request: ShardRequest): ShardDelivery {
  const { run, shard, message, now } = request;
  const answered = ask(kernel, request);
  const answer = nameAnswer(answered);
  const transition = answered.ok ? answered.value : undefined;
  const writes = transition?.writes;

  const violations = checkReplay(request, answer);
  if (writes !== undefined) {
    violations.push(
      ...checkShardStep(shard, writes.shard),
      ...checkShardState(writes.shard),
      ...checkSpawnedIds(shard, writes.shard),
    );
    if (run !== undefined) violations.push(...checkRunAllows(run, shard, writes.shard));
    if (isLeasedMessage(message)) violations.push(...checkAuthority(shard, message.lease, now));
  }
  const lease =
    message.kind === "Acquire" && transition !== undefined
      ? grantedLease(transition.outcome as AcquireOutcome)
      : undefined;
  const accepted = writes === undefined ? undefined : acceptedOf(message, lease);
  return { writes, lease, accepted, answer, violations };
}

type Answered = Result<Transition<unknown, UpdateShard | SplitShard>, { readonly kind: string }>;

function ask(kernel: Kernel, { run, shard, shards, message, now }: ShardRequest): Answered {
  const loaded = { run, shard };
  if (message.kind === "Acquire") return kernel.acquire(loaded, { ...message, tenant: TENANT }, now);
  const command = { ...message, tenant: TENANT };
  switch (command.kind) {
    case "Unpark":
      return kernel.unpark(loaded, command, now);
    case "Renew":
      return kernel.renew(loaded, command, now);
    case "Checkpoint":
      return kernel.checkpoint(loaded, command, now);
    case "Complete":
      return kernel.complete(loaded, { ...command, point: command.cursor }, now);
    case "Park":
      return kernel.park(loaded, command, now);
    case "Release":
      return kernel.release(loaded, command, now);
    case "SplitReplace":
      return kernel.splitReplace(loaded, { ...command, maxChildren: MAX_SPLIT_CHILDREN }, now);
    case "SplitResidual": {
      const made = kernel.findSpawnedResidual(shard, command.opId);
      const residual = shards.find((record) => record.shard === made);
      return kernel.splitResidual({ ...loaded, residual }, command, now);
    }
  }
}

function nameAnswer(answered: Answered): string {
  if (!answered.ok) return answered.error.kind;
  const outcome = answered.value.outcome as Partial<IdempotentOutcome<unknown> | AcquireOutcome>;
  return outcome.kind ?? "Executed";
}

/**
 * A repeated request must return the logged result, whatever happened to the lease and the shard since. No log evicts an
 * entry here: the bounds of a world are below its capacity.
 */
function checkReplay({ shard, message, now }: ShardRequest, answer: string): Violation[] {
  if (message.kind === "Renew") return [];
  const { opId } = message;
  if (message.kind !== "Acquire") {
    const isLogged = findOp(shard.opLog, opId) !== undefined;
    return isLogged && answer !== "Replayed" ? [{ kind: "ReplayRefused", ...addressOf(shard), opId, answer }] : [];
  }
  const at = now > shard.lastTime ? now : shard.lastTime;
  const isHeldByIt = isLeasedAt(shard, at) && shard.lease?.opId === opId;
  return isHeldByIt && answer !== "Repeated" ? [{ kind: "ReplayRefused", ...addressOf(shard), opId, answer }] : [];
}

function grantedLease(outcome: AcquireOutcome): Lease | undefined {
  if (outcome.kind === "Parked") return undefined;
  const { tenant, run, shard, fenceEpoch, lease } = outcome.shard;
  assert(lease !== undefined, "an acquired shard has a holder");
  return Lease.of({ tenant, run, shard, owner: lease.owner, fence: fenceEpoch, deadline: lease.deadline });
}

function acceptedOf(message: ShardMessage, lease: Lease | undefined): AcceptedMutation | undefined {
  if (isLeasedMessage(message)) return { fence: message.lease.fence, owner: message.lease.owner, isGrant: false };
  return lease === undefined ? undefined : { fence: lease.fence, owner: lease.owner, isGrant: true };
}
