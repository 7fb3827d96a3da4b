import { RunId, RunStatus, ShardId, ShardStatus } from "@gossip/contracts";
import type { RunAddress, ShardAddress } from "./invariants/violation.ts";
import type { Random } from "./random.ts";
import { RUN_ENDINGS, type HeldShardOpKind, type SimOp, type SimOpKind } from "./sim-op.ts";
import type { SimWorld } from "./sim-world.ts";
import { MISCHIEF_PPM, MISCHIEF_WEIGHTS, rolled, type Weights } from "./weights.ts";

const MAX_ROLLS = 10;
/** With fewer shards to work on than this, runs are created, and ended ones deleted, this often in a million steps. */
const FEW_SHARDS = 3;
const REFILL_PPM = 400_000;
/** How often, in a million, a request names something that does not exist. */
const MISTAKE_PPM = 30_000;

/**
 * Draws the next operation. If it has no target, draws again, up to ten times; after that, time passes.
 */
export function chooseOp(
  world: SimWorld,
  random: Random,
  { weights, hasMischief }: { readonly weights: Weights; readonly hasMischief: boolean },
): SimOp {
  // Without work nothing can go wrong, and long runs would mostly be idle.
  if (hasMischief && world.openShards().length < FEW_SHARDS && random.chance(REFILL_PPM)) return refill(world, random);
  const table = hasMischief && random.chance(MISCHIEF_PPM) ? MISCHIEF_WEIGHTS : weights;
  for (let roll = 0; roll < MAX_ROLLS; roll++) {
    const op = aim(world, random, rolled(table, random.below(100)));
    if (op !== undefined) return op;
  }
  return { kind: "AdvanceTime", ticks: random.between(1, 50) };
}

/** Makes work, or room for it: ends runs that are settled and deletes runs that have ended. */
function refill(world: SimWorld, random: Random): SimOp {
  const ops: SimOp[] = [{ kind: "CreateRun" }];
  const ended = endedRuns(world);
  if (ended.length > 0) ops.push({ kind: "DeleteRun", run: random.pick(ended) });
  const settled = settledRuns(world);
  if (settled.length > 0)
    ops.push({ kind: "TerminateRun", run: random.pick(settled), ending: random.pick(RUN_ENDINGS) });
  return random.pick(ops);
}

function settledRuns({ mirror }: SimWorld): RunAddress[] {
  const settled = [...mirror.runs].filter(
    ({ run, shards }) => run.status === "Active" && ![...shards.values()].some(({ status }) => status === "Active"),
  );
  return settled.map(({ run: { tenant, run } }) => ({ tenant, run }));
}

function endedRuns({ mirror }: SimWorld): RunAddress[] {
  return [...mirror.runs]
    .filter(({ run }) => RunStatus.isTerminal(run.status))
    .map(({ run: { tenant, run } }) => ({ tenant, run }));
}

function aim(world: SimWorld, random: Random, kind: SimOpKind): SimOp | undefined {
  switch (kind) {
    case "Acquire":
    case "SessionLifecycle": {
      const shard = aimAtShard(world, random);
      return shard && { kind, worker: aimAtWorker(world, random), shard };
    }
    case "ClaimNext": {
      const run = aimAtRun(world, random, isMistake(random));
      return run && { kind, worker: aimAtWorker(world, random), run };
    }
    case "AdvanceTime":
      return { kind, ticks: random.between(1, 50) };
    case "Unpark": {
      const parked = world.shards(({ status }) => isMistake(random) || status === "Parked");
      return parked.length === 0 ? undefined : { kind, shard: addressOf(random.pick(parked)) };
    }
    case "TerminateRun": {
      const run = aimAtRun(world, random, isMistake(random));
      // Most endings are refused as unsettled, so that the runs do not all end at once.
      const ending = random.chance(800_000) ? "Complete" : random.pick(RUN_ENDINGS);
      return run && { kind, run, ending };
    }
    case "DeleteRun": {
      const ended = endedRuns(world);
      const run =
        ended.length > 0 && random.chance(700_000) ? random.pick(ended) : aimAtRun(world, random, isMistake(random));
      return run && { kind, run };
    }
    case "CreateRun":
      return { kind };
    case "ZombieCheckpoint":
      return aimAtStale(world, random);
    case "PauseWorker":
    case "ResumeWorker":
      return aimAtRest(world, random, kind);
    case "CrashWorker":
      return { kind, worker: aimAtBusy(world, random) };
    case "Retry":
      return { kind, worker: aimAtUnresolved(world, random) };
    case "SkewClock":
      return { kind, worker: random.below(world.workers.length) };
    case "Renew":
    case "Checkpoint":
    case "Complete":
    case "Park":
    case "SplitReplace":
    case "SplitResidual":
    case "ReplayCheckpoint":
    case "ConflictCheckpoint":
    case "Release":
    case "MalformedCheckpoint":
    case "MalformedSplit":
    case "ForeignTenant":
      return aimAtHeld(world, random, kind);
  }
}

function isMistake(random: Random): boolean {
  return random.chance(MISTAKE_PPM);
}

/** A worker, or by mistake one that does not exist. */
function aimAtWorker({ workers }: SimWorld, random: Random): number {
  return isMistake(random) ? workers.length : random.below(workers.length);
}

/** A worker with an operation in flight, for a crash to interrupt. */
function aimAtBusy({ workers }: SimWorld, random: Random): number {
  const busy = [...workers.keys()].filter((index) => workers[index]!.isBusy);
  return busy.length === 0 ? random.below(workers.length) : random.pick(busy);
}

function aimAtUnresolved({ workers }: SimWorld, random: Random): number {
  const unresolved = [...workers.keys()].filter((index) => workers[index]!.unresolved !== undefined);
  return unresolved.length === 0 ? random.below(workers.length) : random.pick(unresolved);
}

function aimAtRest(world: SimWorld, random: Random, kind: "PauseWorker" | "ResumeWorker"): SimOp | undefined {
  const { workers } = world;
  const wanted = [...workers.keys()].filter((index) => world.isPaused(workers[index]!) === (kind === "ResumeWorker"));
  return wanted.length === 0 ? undefined : { kind, worker: random.pick(wanted) };
}

/** A shard that can be acquired, or by mistake one that cannot. */
function aimAtShard(world: SimWorld, random: Random): ShardAddress | undefined {
  const open = world.openShards();
  if (isMistake(random)) {
    const ended = world.shards(({ status }) => ShardStatus.isTerminal(status));
    if (ended.length > 0) return addressOf(random.pick(ended));
    return { tenant: random.pick(world.tenants), run: RunId.fromRaw(1n), shard: ShardId.fromRaw(999n) };
  }
  return open.length === 0 ? undefined : addressOf(random.pick(open));
}

function aimAtRun(world: SimWorld, random: Random, isAbsent: boolean): RunAddress | undefined {
  if (isAbsent) return { tenant: random.pick(world.tenants), run: RunId.fromRaw(99n) };
  const { runs } = world;
  return runs.length === 0 ? undefined : random.pick(runs);
}

/** A shard that a worker believes it holds, or by mistake another shard or none. */
function aimAtHeld(world: SimWorld, random: Random, kind: HeldShardOpKind): SimOp | undefined {
  const worker = aimAtWorker(world, random);
  if (isMistake(random)) return { kind, worker, shard: aimAtShard(world, random) };
  const held = world.workers[worker]?.heldShards ?? [];
  if (held.length > 0) return { kind, worker, shard: addressOf(random.pick(held).lease) };
  return isMistake(random) ? { kind, worker, shard: undefined } : undefined;
}

/** A lease that another worker has taken over, or whose shard is gone, with its former holder. */
function aimAtStale({ mirror, staleLeases, workers }: SimWorld, random: Random): SimOp {
  const stale = staleLeases.filter((lease) => mirror.shard(lease)?.fenceEpoch !== lease.fence);
  if (stale.length === 0) return { kind: "ZombieCheckpoint", worker: 0, lease: undefined };
  const lease = random.pick(stale);
  return { kind: "ZombieCheckpoint", worker: workers.findIndex(({ actor }) => actor.id === lease.owner), lease };
}

function addressOf({ tenant, run, shard }: ShardAddress): ShardAddress {
  return { tenant, run, shard };
}
