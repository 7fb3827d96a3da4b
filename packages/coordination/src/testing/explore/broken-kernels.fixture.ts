import { Cursor, FenceEpoch, LogicalTime, ShardId } from "@gossip/contracts";
import { coordError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import { kernel } from "../../kernel/kernel.ts";
import type { SplitShard, Transition, UpdateShard } from "../../kernel/transition.ts";
import { findOp } from "../../records/op-log.ts";
import type { ShardRecord } from "../../records/shard-record.ts";
import type { ViolationKind } from "../sim/invariants/violation.ts";
import type { Kernel } from "./deliver.ts";
import type { ExploreWorldName } from "./explore-worlds.ts";

/** A protocol that breaks one rule, and what must be said of it. */
export interface BrokenKernel {
  readonly what: string;
  readonly world: ExploreWorldName;
  readonly finds: ViolationKind;
  readonly kernel: Partial<Kernel>;
}

/** The transition with the shard that it writes changed. */
function rewrite<T, W extends UpdateShard | SplitShard, E>(
  answer: Result<Transition<T, W>, E>,
  change: (shard: ShardRecord) => Partial<ShardRecord>,
): Result<Transition<T, W>, E> {
  if (!answer.ok || answer.value.writes === undefined) return answer;
  const { writes } = answer.value;
  return ok({ ...answer.value, writes: { ...writes, shard: { ...writes.shard, ...change(writes.shard) } } });
}

/** The transition with the shards that it creates changed. */
function recreate<T, E>(
  answer: Result<Transition<T, SplitShard>, E>,
  change: (created: readonly ShardRecord[]) => readonly ShardRecord[],
): Result<Transition<T, SplitShard>, E> {
  if (!answer.ok || answer.value.writes === undefined) return answer;
  const { writes } = answer.value;
  return ok({ ...answer.value, writes: { ...writes, created: change(writes.created) } });
}

export const BROKEN_KERNELS: readonly BrokenKernel[] = [
  {
    what: "an unpark lowers the fence",
    world: "parking",
    finds: "FenceMonotonicity",
    kernel: { unpark: (...asked) => rewrite(kernel.unpark(...asked), () => ({ fenceEpoch: FenceEpoch.INITIAL })) },
  },
  {
    what: "a shard that is done can be acquired",
    world: "endings",
    finds: "TerminalIrreversibility",
    kernel: {
      acquire: ({ run, shard }, ...asked) =>
        kernel.acquire({ run, shard: shard && { ...shard, status: "Active" } }, ...asked),
    },
  },
  {
    what: "an unpark leaves the fence",
    world: "parking",
    finds: "UnparkWithoutFenceBump",
    kernel: {
      unpark: (loaded, ...asked) =>
        rewrite(kernel.unpark(loaded, ...asked), () => ({ fenceEpoch: loaded.shard!.fenceEpoch })),
    },
  },
  {
    what: "a completed shard keeps its lease",
    world: "endings",
    finds: "RecordInvariant",
    kernel: {
      complete: (loaded, ...asked) =>
        rewrite(kernel.complete(loaded, ...asked), () => ({ lease: loaded.shard!.lease })),
    },
  },
  {
    what: "a checkpoint may go back",
    world: "leases",
    finds: "CursorMonotonicity",
    kernel: {
      checkpoint: ({ run, shard }, ...asked) =>
        kernel.checkpoint({ run, shard: shard && { ...shard, cursor: Cursor.initial() } }, ...asked),
    },
  },
  {
    what: "a checkpoint may leave the range",
    world: "leases",
    finds: "CursorOutOfBounds",
    kernel: {
      checkpoint: (...asked) =>
        rewrite(kernel.checkpoint(...asked), ({ spec }) => ({ cursor: Cursor.withLastKey(spec.keyRangeEnd) })),
    },
  },
  {
    what: "a split forgets a child",
    world: "splits",
    finds: "SplitCoverage",
    kernel: { splitReplace: (...asked) => recreate(kernel.splitReplace(...asked), (created) => created.slice(1)) },
  },
  {
    what: "a split forgets how far its parent had come",
    world: "splits",
    finds: "SplitCoverage",
    kernel: {
      splitReplace: (...asked) =>
        recreate(kernel.splitReplace(...asked), (created) =>
          created.map((child) => ({ ...child, cursor: Cursor.initial() })),
        ),
    },
  },
  {
    what: "a split makes up an id",
    world: "splits",
    finds: "DerivedId",
    kernel: {
      splitResidual: (...asked) =>
        rewrite(kernel.splitResidual(...asked), ({ spawned }) => ({
          spawned: [...spawned.slice(0, -1), ShardId.fromRaw((1n << 63n) | 1n)],
        })),
    },
  },
  {
    what: "a residual split does not narrow the parent",
    world: "splits",
    finds: "CoverageConservation",
    kernel: {
      splitResidual: (loaded, ...asked) =>
        rewrite(kernel.splitResidual(loaded, ...asked), () => ({ spec: loaded.shard!.spec })),
    },
  },
  {
    what: "a canceled run can fail",
    world: "runs",
    finds: "RunTerminalIrreversibility",
    kernel: {
      failRun: ({ run }, ...asked) =>
        kernel.failRun({ run: run && { ...run, status: "Active", completedAt: undefined, opLog: [] } }, ...asked),
    },
  },
  {
    what: "a canceled run gives out shards",
    world: "runs",
    finds: "EndedRun",
    kernel: {
      acquire: ({ run, shard }, ...asked) =>
        kernel.acquire({ run: run && { ...run, status: "Active" }, shard }, ...asked),
    },
  },
  {
    what: "a run is completed while there is work",
    world: "endings",
    finds: "UnsettledRun",
    kernel: {
      completeRun: ({ run }, ...asked) => kernel.completeRun({ run, counts: { active: 0, parked: 0 } }, ...asked),
    },
  },
  {
    what: "a shard is set aside with attempts left",
    world: "parking",
    finds: "AttemptLimit",
    kernel: {
      acquire: ({ run, shard }, ...asked) =>
        kernel.acquire({ run, shard: shard && { ...shard, attempts: shard.attempts + 1 } }, ...asked),
    },
  },
  {
    what: "an acquire does not raise the fence",
    world: "leases",
    finds: "MutationStream",
    kernel: {
      acquire(loaded, ...asked) {
        const answer = rewrite(kernel.acquire(loaded, ...asked), () => ({ fenceEpoch: loaded.shard!.fenceEpoch }));
        if (!answer.ok || answer.value.outcome.kind === "Parked") return answer;
        const { outcome } = answer.value;
        return ok({
          ...answer.value,
          outcome: { ...outcome, shard: { ...outcome.shard, fenceEpoch: loaded.shard!.fenceEpoch } },
        });
      },
    },
  },
  {
    what: "a lease holds at its deadline",
    world: "leases",
    finds: "UnauthorizedMutation",
    kernel: {
      checkpoint: (loaded, command, now) =>
        kernel.checkpoint(loaded, command, LogicalTime.fromRaw(now > 1n ? now - 1n : now)),
    },
  },
  {
    what: "a replay needs a lease",
    world: "leases",
    finds: "ReplayRefused",
    kernel: {
      checkpoint(loaded, command, now) {
        const { shard } = loaded;
        const isStale =
          shard !== undefined &&
          command.lease.fence !== shard.fenceEpoch &&
          findOp(shard.opLog, command.opId) !== undefined;
        if (!isStale) return kernel.checkpoint(loaded, command, now);
        return err(coordError("StaleFence", { presented: command.lease.fence, current: shard.fenceEpoch }));
      },
    },
  },
  {
    what: "a repeated acquire is refused",
    world: "leases",
    finds: "ReplayRefused",
    kernel: {
      acquire(...asked) {
        const answer = kernel.acquire(...asked);
        if (!answer.ok || answer.value.outcome.kind !== "Repeated") return answer;
        const { owner, deadline } = answer.value.outcome.shard.lease!;
        return err(coordError("AlreadyLeased", { currentOwner: owner, leaseDeadline: deadline }));
      },
    },
  },
  {
    what: "a slow clock takes a record back in time",
    world: "everything",
    finds: "TimeRegression",
    kernel: { acquire: (...asked) => rewrite(kernel.acquire(...asked), () => ({ lastTime: asked[2] })) },
  },
  {
    what: "a record is written to in place",
    world: "leases",
    finds: "Thrown",
    kernel: {
      renew(...asked) {
        Object.assign(asked[0].shard!, { attempts: 7 });
        return kernel.renew(...asked);
      },
    },
  },
  {
    what: "something throws",
    world: "leases",
    finds: "Thrown",
    kernel: {
      renew() {
        throw new Error("broken");
      },
    },
  },
];
