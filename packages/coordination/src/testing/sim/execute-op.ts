import type { FaultConfig } from "./fault-level.ts";
import type { ShardAddress } from "./invariants/violation.ts";
import type { OpRun } from "./ops/ask.ts";
import { acquire, claimNext, release, renew } from "./ops/lease-ops.ts";
import {
  checkpoint,
  complete,
  conflictCheckpoint,
  foreignTenant,
  malformedCheckpoint,
  park,
  replayCheckpoint,
  zombieCheckpoint,
} from "./ops/progress-ops.ts";
import { createRun, deleteRun, terminateRun, unpark } from "./ops/run-ops.ts";
import { sessionLifecycle } from "./ops/session-ops.ts";
import { malformedSplit, splitReplace, splitResidual } from "./ops/split-ops.ts";
import { rejected, type SimEvent } from "./sim-event.ts";
import type { HeldShardOpKind, SimOp } from "./sim-op.ts";
import type { HeldShard, SimWorker } from "./sim-worker.ts";
import type { SimWorld } from "./sim-world.ts";

/** The longest sleep. Without a limit, all actors would soon be asleep. */
const MAX_PAUSE_STEPS = 12;

type HeldShardOp = (run: OpRun, worker: SimWorker, held: HeldShard) => Promise<SimEvent>;

const HELD_SHARD_OPS: Readonly<Record<HeldShardOpKind, HeldShardOp>> = {
  Renew: renew,
  Checkpoint: checkpoint,
  Complete: complete,
  Park: park,
  SplitReplace: splitReplace,
  SplitResidual: splitResidual,
  ReplayCheckpoint: replayCheckpoint,
  ConflictCheckpoint: conflictCheckpoint,
  Release: release,
  MalformedCheckpoint: malformedCheckpoint,
  MalformedSplit: malformedSplit,
  ForeignTenant: foreignTenant,
};

type HeldShardSimOp = Extract<SimOp, { readonly kind: HeldShardOpKind }>;
type WorkerOp =
  | HeldShardSimOp
  | Extract<SimOp, { readonly kind: "Acquire" | "SessionLifecycle" | "ClaimNext" | "Retry" }>;

function isHeldShardOp(op: SimOp): op is HeldShardSimOp {
  return op.kind in HELD_SHARD_OPS;
}

/** Whether the operation needs a worker that is awake. */
function isWorkerOp(op: SimOp): op is WorkerOp {
  return (
    isHeldShardOp(op) ||
    op.kind === "Acquire" ||
    op.kind === "SessionLifecycle" ||
    op.kind === "ClaimNext" ||
    op.kind === "Retry"
  );
}

/** The actor of an operation; `undefined` if it needs none or the worker does not exist. */
export function callerOf(world: SimWorld, op: SimOp): SimWorker | undefined {
  if (isWorkerOp(op) || op.kind === "ZombieCheckpoint") return world.workers[op.worker];
  const isOperators =
    op.kind === "Unpark" || op.kind === "TerminateRun" || op.kind === "CreateRun" || op.kind === "DeleteRun";
  return isOperators ? world.operator : undefined;
}

/** Executes an operation. It may take longer than the step in which it starts. */
export async function executeOp(run: OpRun, op: SimOp, faults: FaultConfig): Promise<SimEvent> {
  const { world, random } = run;
  if (isWorkerOp(op)) return executeForWorker(run, op);
  switch (op.kind) {
    case "AdvanceTime":
      world.time.advance(op.ticks);
      return { kind: "TimeAdvanced" };
    case "ZombieCheckpoint":
      return op.lease === undefined
        ? rejected("NoStaleLease")
        : zombieCheckpoint(run, world.workers[op.worker]!, op.lease);
    case "Unpark":
      return unpark(run, op.shard);
    case "TerminateRun":
      return terminateRun(run, op.run, op.ending);
    case "CreateRun":
      return createRun(run);
    case "DeleteRun":
      return deleteRun(run, op.run);
    case "PauseWorker":
      world.workers[op.worker]!.pausedUntilStep = world.scheduler.step + random.between(1, MAX_PAUSE_STEPS);
      return { kind: "WorkerPaused" };
    case "ResumeWorker":
      world.workers[op.worker]!.pausedUntilStep = 0;
      return { kind: "WorkerResumed" };
    case "CrashWorker":
      return crash(run, world.workers[op.worker]!);
    case "SkewClock":
      return skewClock(world.workers[op.worker]!, run, random.between(-faults.maxSkewTicks, faults.maxSkewTicks));
  }
}

async function executeForWorker(run: OpRun, op: WorkerOp): Promise<SimEvent> {
  const { world } = run;
  const worker = world.workers[op.worker];
  if (worker === undefined) return rejected("WorkerNotFound");
  if (world.isPaused(worker)) return rejected("WorkerPaused");
  if (isHeldShardOp(op)) return withHeld(worker, op.shard, (held) => HELD_SHARD_OPS[op.kind](run, worker, held));
  switch (op.kind) {
    case "Acquire":
      return acquire(run, worker, op.shard);
    case "SessionLifecycle":
      return sessionLifecycle(run, worker, op.shard);
    case "ClaimNext":
      return claimNext(run, worker, op.run);
    case "Retry":
      return retry(worker);
  }
}

async function withHeld(
  worker: SimWorker,
  shard: ShardAddress | undefined,
  act: (held: HeldShard) => Promise<SimEvent>,
): Promise<SimEvent> {
  if (shard === undefined) return rejected("NoShardsHeld");
  const held = worker.held(shard);
  return held === undefined ? rejected("NotLeased") : act(held);
}

/** Repeats a request whose outcome is unknown. */
async function retry(worker: SimWorker): Promise<SimEvent> {
  const again = worker.unresolved;
  worker.unresolved = undefined;
  return again === undefined ? rejected("NothingToRetry") : again();
}

function crash({ world, random }: OpRun, worker: SimWorker): SimEvent {
  for (const { lease } of worker.heldShards) world.addStaleLease(lease, random);
  worker.crash();
  world.checker.forgetClaims(worker.actor.id);
  return { kind: "WorkerCrashed" };
}

function skewClock(worker: SimWorker, { world }: OpRun, ticks: number): SimEvent {
  worker.actor.clock.skewTicks = ticks;
  world.hasSkewedClocks ||= ticks !== 0;
  return { kind: "ClockSkewed", detail: `by ${ticks}` };
}
