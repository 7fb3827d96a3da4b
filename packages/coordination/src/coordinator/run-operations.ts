import type { InitialShardInput, OpId, ShardId, ShardKey, TenantId } from "@gossip/contracts";
import {
  coordError,
  IdempotentOutcome,
  InfraError,
  type BackendError,
  type CreateRunError,
  type DeleteRunError,
  type ErrorOf,
  type Operation as OperationName,
  type RegisterShardsError,
} from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import type { CompleteRunOptions } from "../kernel/end-run.ts";
import { kernel } from "../kernel/kernel.ts";
import { lastRegistered, type RegisterShardsOutcome } from "../kernel/register-shards.ts";
import type { PutRun, RemoveRun } from "../kernel/transition.ts";
import type { RunConfigInput } from "../records/run-config.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { Engine } from "./engine.ts";
import { execute } from "./execute.ts";
import type { Operation } from "./operation.ts";
import type { RunRequest } from "./queries.ts";
import { RunTarget, type RunSituation } from "./run-target.ts";
import { contradiction, refuseRegistration } from "./write-refusals.ts";

export interface CreateRunRequest extends RunRequest {
  readonly config: RunConfigInput;
}

export interface RegisterShardsRequest extends RunRequest {
  readonly shards: readonly InitialShardInput[];
  readonly opId: OpId;
  /**
   * More pages follow: store these shards and leave the run initializing. Pages come in the order of their keys, and no
   * caller sees a shard before the last page, which comes without this. *Addition.*
   */
  readonly more?: boolean;
}

export interface CreateRunWithShardsRequest extends CreateRunRequest {
  readonly shards: readonly InitialShardInput[];
  readonly opId: OpId;
}

export interface EndRunRequest extends RunRequest {
  readonly opId: OpId;
}

export interface CompleteRunRequest extends EndRunRequest, CompleteRunOptions {}

export interface UnparkRequest {
  readonly tenant: TenantId;
  readonly key: ShardKey;
  readonly opId: OpId;
}

type RunOperation<Outcome, Failure> = Operation<RunSituation, PutRun | RemoveRun, Outcome, Failure>;

/**
 * Create a run. There is no op id, so a run that exists after a write with an unknown outcome may be this one or another
 * caller's. The result is then a backend error: the caller must look.
 */
export function createRun(engine: Engine, request: CreateRunRequest): Promise<Result<RunRecord, ErrorOf<"createRun">>> {
  return executeOnRun<RunRecord, ErrorOf<"createRun">>(engine, "createRun", request, {
    decide: ({ loaded }, now) => kernel.createRun(loaded, request, now),
    resolve: ({ loaded }) =>
      loaded.kind === "Missing" ? undefined : err(coordError("BackendError", { reason: UNKNOWN_CREATION })),
  });
}

export async function registerShards(
  engine: Engine,
  request: RegisterShardsRequest,
): Promise<Result<IdempotentOutcome<readonly ShardId[]>, RegisterShardsError>> {
  const registered = await executeOnRun<IdempotentOutcome<RegisterShardsOutcome>, RegisterShardsError>(
    engine,
    "registerShards",
    request,
    {
      decide: (read, now) => kernel.registerShards({ ...read.pages, run: recordOf(read) }, request, now),
      readMore: readPages(engine, request),
      refuse: refuseRegistration,
    },
  );
  return registered.ok ? ok(IdempotentOutcome.map(registered.value, ({ shards }) => shards)) : registered;
}

export function createRunWithShards(
  engine: Engine,
  request: CreateRunWithShardsRequest,
): Promise<Result<IdempotentOutcome<RunRecord>, CreateRunError>> {
  return executeOnRun<IdempotentOutcome<RunRecord>, CreateRunError>(engine, "createRunWithShards", request, {
    decide: ({ loaded, pages }, now) => kernel.createRunWithShards({ ...pages, loaded }, request, now),
    readMore: readPages(engine, request),
    refuse: (refusal) => coordError("RegisterShardsFailed", { reason: refuseRegistration(refusal) }),
  });
}

/** Reads what a registration needs to know of the pages before it. */
function readPages(
  engine: Engine,
  { tenant, run, more = false }: RunRequest & { readonly more?: boolean },
): RunOperation<never, never>["readMore"] {
  return async (read, now, attempts) => {
    const record = recordOf(read);
    const last = record && lastRegistered(record);
    if (last === undefined) return ok(read);
    const shard = await engine.read(attempts, () => engine.store.readShard(tenant, { run, shard: last }));
    if (!shard.ok) return shard;
    const lastShard = shard.value.shard?.record;
    if (more) return ok({ ...read, pages: { lastShard } });
    const progress = await engine.read(attempts, () => engine.store.readProgress({ tenant, run, now }));
    return progress.ok ? ok({ ...read, pages: { lastShard, earlierCount: progress.value.total } }) : progress;
  };
}

export function completeRun(
  engine: Engine,
  request: CompleteRunRequest,
): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"completeRun">>> {
  const { tenant, run, acceptParked = false, force = false } = request;
  const command = { ...request, options: { acceptParked, force } };
  const readMore: RunOperation<never, never>["readMore"] = async (read, now, attempts) => {
    const counts = await engine.read(attempts, () => engine.store.readProgress({ tenant, run, now }));
    return counts.ok ? ok({ ...read, counts: counts.value }) : counts;
  };
  return executeOnRun<IdempotentOutcome<RunRecord>, ErrorOf<"completeRun">>(engine, "completeRun", request, {
    decide: (read, now) => kernel.completeRun({ run: recordOf(read), counts: read.counts ?? NO_COUNTS }, command, now),
    readMore: force ? undefined : readMore,
  });
}

export function failRun(
  engine: Engine,
  request: EndRunRequest,
): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"failRun">>> {
  return executeOnRun<IdempotentOutcome<RunRecord>, ErrorOf<"failRun">>(engine, "failRun", request, {
    decide: (read, now) => kernel.failRun({ run: recordOf(read) }, request, now),
  });
}

export function cancelRun(
  engine: Engine,
  request: EndRunRequest,
): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"cancelRun">>> {
  return executeOnRun<IdempotentOutcome<RunRecord>, ErrorOf<"cancelRun">>(engine, "cancelRun", request, {
    decide: (read, now) => kernel.cancelRun({ run: recordOf(read) }, request, now),
  });
}

export function deleteRun(engine: Engine, request: RunRequest): Promise<Result<void, DeleteRunError>> {
  return executeOnRun<void, DeleteRunError>(engine, "deleteRun", request, {
    decide: (read, now) => kernel.deleteRun(recordOf(read), request, now),
    // The run existed before and its id is never used again, so this deletion removed it, or another did the same.
    resolve: ({ loaded }) => (loaded.kind === "Deleted" ? ok() : undefined),
  });
}

const NO_COUNTS = { active: 0, parked: 0 } as const;

const UNKNOWN_CREATION = /* @__PURE__ */ InfraError.transient({
  operation: "createRun.commit",
  message: "the store did not say whether it created the run that is there now",
});

async function executeOnRun<Outcome, Failure>(
  engine: Engine,
  name: OperationName,
  request: RunRequest,
  rules: Pick<RunOperation<Outcome, Failure>, "decide" | "readMore" | "resolve"> &
    Partial<Pick<RunOperation<Outcome, Failure>, "refuse">>,
): Promise<Result<Outcome, Failure | BackendError>> {
  const target = new RunTarget(engine, request);
  const executed = await execute(engine, { name, target, refuse: () => contradiction(name), ...rules });
  return executed.ok ? ok(executed.value.outcome) : executed;
}

function recordOf({ loaded }: RunSituation): RunRecord | undefined {
  return loaded.kind === "Found" ? loaded.record : undefined;
}
