import type { InitialShardInput, LogicalTime, OpId, RunId, ShardId, ShardKey, TenantId } from "@gossip/contracts";
import {
  coordError,
  IdempotentOutcome,
  InfraError,
  type CreateRunError,
  type DeleteRunError,
  type ErrorOf,
  type RegisterShardsError,
  type UnparkError,
} from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import type { CompleteRunOptions } from "../kernel/end-run.ts";
import { kernel } from "../kernel/kernel.ts";
import type { RegisterShardsOutcome } from "../kernel/register-shards.ts";
import type { RunConfigInput } from "../records/run-config.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { RunRead } from "../store/store-reads.ts";
import { runShardOperation } from "./carry-out.ts";
import type { Engine } from "./engine.ts";
import type { RunRequest } from "./queries.ts";
import { refuseRegistration, runRunOperation } from "./run-operation.ts";

export interface CreateRunRequest extends RunRequest {
  readonly config: RunConfigInput;
}

export interface RegisterShardsRequest extends RunRequest {
  readonly shards: readonly InitialShardInput[];
  readonly opId: OpId;
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

/**
 * Create a run. It has no op id, so a run that is there after a write of unknown fate may be this
 * one or another's. The answer then is that the store failed: who asked must look.
 */
export function createRun(engine: Engine, request: CreateRunRequest): Promise<Result<RunRecord, ErrorOf<"createRun">>> {
  return runRunOperation<RunRecord, ErrorOf<"createRun">>(engine, {
    name: "createRun",
    ...placeOf(request),
    decide: ({ loaded }, now) => kernel.createRun(loaded, request, now),
    resolve: (loaded) =>
      loaded.kind === "Missing" ? undefined : err(coordError("BackendError", { reason: UNKNOWN_CREATION })),
  });
}

export async function registerShards(
  engine: Engine,
  request: RegisterShardsRequest,
): Promise<Result<IdempotentOutcome<readonly ShardId[]>, RegisterShardsError>> {
  const registered = await runRunOperation<IdempotentOutcome<RegisterShardsOutcome>, RegisterShardsError>(engine, {
    name: "registerShards",
    ...placeOf(request),
    decide: ({ loaded }, now) => kernel.registerShards(recordOf(loaded), request, now),
    refuse: refuseRegistration,
  });
  return registered.ok ? ok(IdempotentOutcome.map(registered.value, ({ shards }) => shards)) : registered;
}

export function createRunWithShards(
  engine: Engine,
  request: CreateRunWithShardsRequest,
): Promise<Result<IdempotentOutcome<RunRecord>, CreateRunError>> {
  return runRunOperation<IdempotentOutcome<RunRecord>, CreateRunError>(engine, {
    name: "createRunWithShards",
    ...placeOf(request),
    decide: ({ loaded }, now) => kernel.createRunWithShards(loaded, request, now),
    refuse: (refusal) => coordError("RegisterShardsFailed", { reason: refuseRegistration(refusal) }),
  });
}

export function completeRun(
  engine: Engine,
  request: CompleteRunRequest,
): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"completeRun">>> {
  const { acceptParked = false, force = false } = request;
  const command = { ...request, options: { acceptParked, force } };
  return runRunOperation(engine, {
    name: "completeRun",
    ...placeOf(request),
    needsCounts: !force,
    decide: ({ loaded, counts }, now) => kernel.completeRun({ run: recordOf(loaded), counts }, command, now),
  });
}

export function failRun(
  engine: Engine,
  request: EndRunRequest,
): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"failRun">>> {
  const decide = ({ loaded }: { readonly loaded: RunRead }, now: LogicalTime) =>
    kernel.failRun({ run: recordOf(loaded) }, request, now);
  return runRunOperation(engine, { name: "failRun", ...placeOf(request), decide });
}

export function cancelRun(
  engine: Engine,
  request: EndRunRequest,
): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"cancelRun">>> {
  const decide = ({ loaded }: { readonly loaded: RunRead }, now: LogicalTime) =>
    kernel.cancelRun({ run: recordOf(loaded) }, request, now);
  return runRunOperation(engine, { name: "cancelRun", ...placeOf(request), decide });
}

export function deleteRun(engine: Engine, request: RunRequest): Promise<Result<void, DeleteRunError>> {
  return runRunOperation<void, DeleteRunError>(engine, {
    name: "deleteRun",
    ...placeOf(request),
    decide: ({ loaded }, now) => kernel.deleteRun(recordOf(loaded), request, now),
    // It was there before, and its id is never used again: that it is gone is this very deletion, or as good as it.
    resolve: (loaded) => (loaded.kind === "Deleted" ? ok() : undefined),
  });
}

export async function unpark(
  engine: Engine,
  request: UnparkRequest,
): Promise<Result<IdempotentOutcome<void>, UnparkError>> {
  const { tenant, key } = request;
  const settled = await runShardOperation(engine, {
    name: "unpark",
    tenant,
    key,
    wantsHint: false,
    decide: (loaded, now) => kernel.unpark(loaded, request, now),
  });
  return settled.ok ? ok(IdempotentOutcome.map(settled.value.outcome, () => undefined)) : settled;
}

const UNKNOWN_CREATION = /* @__PURE__ */ InfraError.transient({
  operation: "createRun.commit",
  message: "the store did not say whether it created the run that is there now",
});

function placeOf({ tenant, run }: RunRequest): { readonly tenant: TenantId; readonly run: RunId } {
  return { tenant, run };
}

function recordOf(loaded: RunRead): RunRecord | undefined {
  return loaded.kind === "Found" ? loaded.record : undefined;
}
