import type { LogicalTime, RunId, TenantId } from "@gossip/contracts";
import {
  coordError,
  InfraError,
  type BackendError,
  type ErrorOfKind,
  type Operation,
} from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import type { UnsettledCounts } from "../kernel/end-run.ts";
import type { PutRun, RemoveRun, Transition } from "../kernel/transition.ts";
import type { RunRead } from "../store/store-reads.ts";
import type { ShardLimits, WriteSet } from "../store/write-set.ts";
import type { Attempts, Engine } from "./engine.ts";
import type { WriteRefusal } from "./write-refusals.ts";
import type { RunWrite } from "./unresolved-writes.ts";

/** What a decision about a run rests on. */
export interface RunSituation {
  readonly loaded: RunRead;
  /** Both zero where the operation does not look at them. */
  readonly counts: UnsettledCounts;
}

/** An operation on a run: what the kernel decides, and what its caller hears where a store has no room. */
export interface RunOperation<Outcome, Failure> {
  readonly name: Operation;
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly decide: (
    situation: RunSituation,
    now: LogicalTime,
  ) => Result<Transition<Outcome, PutRun | RemoveRun>, Failure>;
  /** Whether the decision looks at the states of the run's shards. */
  readonly needsCounts?: boolean;
  readonly refuse?: (refusal: WriteRefusal) => Failure;
  /** The answer where a write of unknown fate turns out to have been made and no log tells so. */
  readonly resolve?: (loaded: RunRead) => Result<Outcome, Failure> | undefined;
}

const NO_COUNTS: UnsettledCounts = /* @__PURE__ */ Object.freeze({ active: 0, parked: 0 });

/**
 * Carry an operation on a run out: read, decide, write, and again where another's write came
 * between. As `runShardOperation`, without copies: nobody holds a run.
 */
export async function runRunOperation<Outcome, Failure>(
  engine: Engine,
  operation: RunOperation<Outcome, Failure>,
): Promise<Result<Outcome, Failure | BackendError>> {
  const { name, tenant, run } = operation;
  const attempts: Attempts = { operation: name, count: 0 };
  let isUnknown = false;
  for (;;) {
    const now = await engine.readClock(name);
    if (!now.ok) return now;
    const { addedCount } = engine.unresolvedRuns;
    const situation = await loadRun(engine, operation, { attempts, now: now.value });
    if (!situation.ok) return situation;
    const { loaded } = situation.value;
    engine.emit(engine.unresolvedRuns.settle({ tenant, run }, loaded, { addedCount }));
    const resolved = isUnknown ? operation.resolve?.(loaded) : undefined;
    if (resolved !== undefined) return resolved;

    const decided = operation.decide(situation.value, now.value);
    if (!decided.ok) return decided;
    const { outcome, writes, events } = decided.value;
    if (writes === undefined) return ok(outcome);
    const answer = await engine.commit(toWriteSet({ tenant, run }, { loaded, writes, limits: engine.limits }));
    switch (answer.kind) {
      case "Committed":
        engine.unresolvedRuns.forget({ tenant, run }, loaded.kind === "Found" ? loaded.version : undefined);
        engine.emit(events);
        return ok(outcome);
      case "LimitExceeded":
      case "Exists":
      case "Exhausted":
        return err(operation.refuse?.(answer) ?? cannotWrite(name));
      case "Conflict":
      case "Failed":
      case "Unknown": {
        if (answer.kind === "Unknown") {
          isUnknown = true;
          engine.unresolvedRuns.add({ tenant, run }, { write: toRunWrite(loaded, writes), events });
        }
        const again =
          answer.kind === "Conflict"
            ? await engine.retryAfterConflict(attempts)
            : await engine.retryAfter(attempts, answer.error);
        if (!again.ok) return again;
      }
    }
  }
}

async function loadRun<Outcome, Failure>(
  engine: Engine,
  { tenant, run, needsCounts = false }: RunOperation<Outcome, Failure>,
  { attempts, now }: { readonly attempts: Attempts; readonly now: LogicalTime },
): Promise<Result<RunSituation, BackendError>> {
  const loaded = await engine.read(attempts, () => engine.store.readRun(tenant, run));
  if (!loaded.ok) return loaded;
  if (!needsCounts) return ok({ loaded: loaded.value, counts: NO_COUNTS });
  const counts = await engine.read(attempts, () => engine.store.readProgress({ tenant, run, now }));
  return counts.ok ? ok({ loaded: loaded.value, counts: counts.value }) : counts;
}

function toWriteSet(
  base: { readonly tenant: TenantId; readonly run: RunId },
  {
    loaded,
    writes,
    limits,
  }: { readonly loaded: RunRead; readonly writes: PutRun | RemoveRun; readonly limits: ShardLimits },
): WriteSet {
  const guard = loaded.kind === "Found" ? loaded.version : undefined;
  if (writes.kind === "PutRun") {
    const { run: after, created, noShardsIn } = writes;
    return { kind: "PutRun", ...base, guard, after, created, limits, noShardsIn };
  }
  // Whatever the kernel decided to remove, it had found.
  return { kind: "RemoveRun", ...base, guard: guard! };
}

function toRunWrite(loaded: RunRead, writes: PutRun | RemoveRun): RunWrite {
  const { version: guard, record: before } =
    loaded.kind === "Found" ? loaded : { version: undefined, record: undefined };
  return { guard, before, after: writes.kind === "PutRun" ? writes.run : undefined };
}

/** How registering shards tells what a store finds only when it writes. */
export function refuseRegistration(
  refusal: WriteRefusal,
): ErrorOfKind<"ShardLimitExceeded" | "ResourceExhausted" | "BackendError"> {
  switch (refusal.kind) {
    case "LimitExceeded": {
      const { current, additional, max, scope } = refusal;
      return coordError("ShardLimitExceeded", { current, additional, max, scope });
    }
    case "Exhausted":
      return coordError("ResourceExhausted", { resource: refusal.resource, slab: refusal.slab });
    case "Exists":
      return cannotWrite("registerShards");
  }
}

/** A run that is new to a store and yet has shards there: what is stored contradicts itself. */
function cannotWrite(operation: Operation): BackendError {
  const reason = InfraError.corruption({
    operation: `${operation}.commit`,
    message: "the store cannot hold what a run without shards asks for",
  });
  return coordError("BackendError", { reason });
}
