import { MAX_SPLIT_CHILDREN, ParkReason, type LogicalTime } from "@gossip/contracts";
import type {
  AcquireError,
  BackendError,
  CheckpointError,
  CompleteError,
  IdempotentOutcome,
  ParkError,
  ReleaseError,
  RenewError,
  SplitError,
  UnparkError,
} from "@gossip/coordination-errors";
import { assert, ok, type Result } from "@gossip/stdx";
import type { AcquireCommand, AcquireOutcome } from "../kernel/acquire.ts";
import type { CheckpointOutcome } from "../kernel/checkpoint.ts";
import type { LoadedShard } from "../kernel/find-shard.ts";
import { kernel } from "../kernel/kernel.ts";
import type { RenewOutcome } from "../kernel/renew.ts";
import type { SplitReplaceOutcome } from "../kernel/split-replace.ts";
import type { SplitResidualOutcome } from "../kernel/split-residual.ts";
import type { SplitShard, Transition, UpdateShard } from "../kernel/transition.ts";
import { Lease } from "../records/lease.ts";
import { findOp } from "../records/op-log.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { Attempts, Engine } from "./engine.ts";
import type { Operation } from "./operation.ts";
import type { UnparkRequest } from "./run-operations.ts";
import type {
  CheckpointRequest,
  CompleteRequest,
  LeasedRequest,
  LoggedRequest,
  ParkRequest,
  SplitReplaceRequest,
  SplitResidualRequest,
} from "./shard-requests.ts";
import { ShardTarget, type ShardSituation, type ShardTargetOptions } from "./shard-target.ts";
import { noRoom, refuseForRoom, refuseSplit, type WriteRefusal } from "./write-refusals.ts";

type ShardOperation<Outcome, Failure> = Operation<ShardSituation, UpdateShard | SplitShard, Outcome, Failure>;
type Decide<Command, Outcome, Failure> = (
  loaded: LoadedShard,
  command: Command,
  now: LogicalTime,
) => Result<Transition<Outcome, UpdateShard | SplitShard>, Failure>;

/** The operations on a shard: each names the kernel's function, and what a store's refusal means to its caller. */
export const shardOperations = {
  acquire(
    engine: Engine,
    command: AcquireCommand,
    readShard?: ShardTargetOptions["readShard"],
  ): ShardOperation<AcquireOutcome, AcquireError> {
    const { tenant, key } = command;
    const target = new ShardTarget(engine, { tenant, key, readShard, wantsHint: true });
    return { name: "acquire", target, decide: deciding(kernel.acquire, command), refuse: () => noRoom("acquire") };
  },

  renew(engine: Engine, command: LeasedRequest): ShardOperation<RenewOutcome, RenewError> {
    const target = targetOf(engine, command, true);
    return { name: "renew", target, decide: deciding(kernel.renew, command), refuse: () => noRoom("renew") };
  },

  checkpoint(
    engine: Engine,
    command: CheckpointRequest,
  ): ShardOperation<IdempotentOutcome<CheckpointOutcome>, CheckpointError> {
    engine.assertFailureCount(command.failures);
    const target = targetOf(engine, command, true);
    return { name: "checkpoint", target, decide: deciding(kernel.checkpoint, command), refuse: refuseCheckpoint };
  },

  complete(engine: Engine, command: CompleteRequest): ShardOperation<IdempotentOutcome<ShardRecord>, CompleteError> {
    engine.assertFailureCount(command.failures);
    const target = targetOf(engine, command);
    const decide = deciding(kernel.complete, command);
    return { name: "complete", target, decide, refuse: (refusal) => refuseForRoom("complete", refusal) };
  },

  park(engine: Engine, command: ParkRequest): ShardOperation<IdempotentOutcome<ShardRecord>, ParkError> {
    assert(ParkReason.is(command.reason), "park reason must be one of ParkReason.values");
    const target = targetOf(engine, command);
    return { name: "park", target, decide: deciding(kernel.park, command), refuse: () => noRoom("park") };
  },

  release(engine: Engine, command: LoggedRequest): ShardOperation<IdempotentOutcome<ShardRecord>, ReleaseError> {
    const target = targetOf(engine, command);
    return { name: "release", target, decide: deciding(kernel.release, command), refuse: () => noRoom("release") };
  },

  splitReplace(
    engine: Engine,
    request: SplitReplaceRequest,
  ): ShardOperation<IdempotentOutcome<SplitReplaceOutcome>, SplitError> {
    const count = request.plan?.children?.length;
    assert(
      count >= 2 && count <= MAX_SPLIT_CHILDREN,
      () => `a split-replace plan must have 2 to ${MAX_SPLIT_CHILDREN} children, got ${count}`,
    );
    const decide = deciding(kernel.splitReplace, { ...request, maxChildren: engine.maxSplitChildren });
    return { name: "split", target: targetOf(engine, request), decide, refuse: refuseSplit };
  },

  splitResidual(
    engine: Engine,
    command: SplitResidualRequest,
  ): ShardOperation<IdempotentOutcome<SplitResidualOutcome>, SplitError> {
    return {
      name: "split",
      target: targetOf(engine, command),
      decide: ({ run, shard, other }, now) =>
        kernel.splitResidual({ run: run?.record, shard: shard?.record, residual: other }, command, now),
      refuse: refuseSplit,
      readMore: (read, _now, attempts) => readResidual(engine, command, read, attempts),
    };
  },

  unpark(engine: Engine, command: UnparkRequest): ShardOperation<IdempotentOutcome<ShardRecord>, UnparkError> {
    const target = new ShardTarget(engine, command);
    return { name: "unpark", target, decide: deciding(kernel.unpark, command), refuse: () => noRoom("unpark") };
  },
};

function refuseCheckpoint(refusal: WriteRefusal): ReturnType<typeof refuseForRoom> {
  return refuseForRoom("checkpoint", refusal);
}

function deciding<Command, Outcome, Failure>(
  decide: Decide<Command, Outcome, Failure>,
  command: Command,
): ShardOperation<Outcome, Failure>["decide"] {
  return ({ run, shard }, now) => decide({ run: run?.record, shard: shard?.record }, command, now);
}

function targetOf(engine: Engine, { tenant, lease }: LeasedRequest, wantsHint = false): ShardTarget {
  return new ShardTarget(engine, { tenant, key: Lease.shardKey(lease), wantsHint });
}

/** Once the log has forgotten a residual split, the shard that it created is all there is to compare a repetition with. */
async function readResidual(
  engine: Engine,
  { tenant, opId }: SplitResidualRequest,
  read: ShardSituation,
  attempts: Attempts,
): Promise<Result<ShardSituation, BackendError>> {
  const parent = read.shard?.record;
  if (parent === undefined || findOp(parent.opLog, opId) !== undefined) return ok(read);
  const residual = kernel.findSpawnedResidual(parent, opId);
  if (residual === undefined) return ok(read);
  const other = await engine.read(attempts, () => engine.store.readShard(tenant, { run: parent.run, shard: residual }));
  return other.ok ? ok({ ...read, other: other.value.shard?.record }) : other;
}
