import { RunId, TenantId, type OpId } from "@gossip/contracts";
import {
  IdempotentOutcome,
  type AcquireError,
  type BackendError,
  type CheckpointError,
  type ClaimError,
  type CompleteError,
  type CreateRunError,
  type DeleteRunError,
  type ErrorOf,
  type GetRunError,
  type ParkError,
  type RegisterShardsError,
  type ReleaseError,
  type RenewError,
  type SplitError,
  type UnparkError,
} from "@gossip/coordination-errors";
import { assert, ok, type Result } from "@gossip/stdx";
import type { CheckpointOutcome } from "../kernel/checkpoint.ts";
import { CapacityHint } from "../records/capacity-hint.ts";
import { Lease } from "../records/lease.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { WorkerSession } from "../session/worker-session.ts";
import type { Page, ShardPosition } from "../store/store-reads.ts";
import { AcquireScratch } from "../views/acquire-scratch.ts";
import type { ProgressEstimate } from "../views/progress-estimate.ts";
import type { RunProgress } from "../views/run-progress.ts";
import type { ShardSummary } from "../views/shard-summary.ts";
import {
  acquireShard,
  acquireShardInto,
  openSession,
  type AcquireResult,
  type AcquireResultView,
} from "./acquiring.ts";
import { assertCheckpoints, assertCommand, assertFlags, assertListing } from "./assert-command.ts";
import { ClaimCooldown } from "./claim-cooldown.ts";
import { claimShards, type ClaimManyRequest, type ClaimRequest } from "./claiming.ts";
import { makeSettings, type CoordinatorOptions } from "./coordinator-options.ts";
import { Engine } from "./engine.ts";
import { execute, type Executed } from "./execute.ts";
import { executeMany } from "./execute-many.ts";
import type { EventListener, EventStream, EventStreamOptions } from "./event-hub.ts";
import { NoteCalls } from "./note-calls.ts";
import * as queries from "./queries.ts";
import * as runs from "./run-operations.ts";
import { shardOperations } from "./shard-operations.ts";
import type {
  AcquireRequest,
  CheckpointRequest,
  CheckpointResult,
  CompleteRequest,
  LeasedRequest,
  LoggedRequest,
  ParkRequest,
  RenewResult,
  SplitReplaceRequest,
  SplitReplaceResult,
  SplitResidualRequest,
  SplitResidualResult,
} from "./shard-requests.ts";
import type { ShardCopy, ShardSituation } from "./shard-target.ts";

const LEASED = { lease: true } as const;
const LOGGED = { lease: true, opId: true } as const;
const OF_RUN = { run: true } as const;
const LOGGED_OF_RUN = { run: true, opId: true } as const;

/**
 * Hands out leases on shards, stores their progress, and refuses writes of workers that lost theirs.
 *
 * Works the same over every store. Any number of coordinators may share one store.
 *
 * Most workers call `claim` and then use the session. The calls that take a lease are those that a session makes.
 * Expected failures are returned; a call rejects only on a programming error.
 */
export class Coordinator extends NoteCalls {
  readonly #engine: Engine;
  readonly #cooldown: ClaimCooldown;

  constructor(options: CoordinatorOptions) {
    const settings = makeSettings(options);
    const engine = new Engine(settings);
    super(engine);
    this.#engine = engine;
    this.#cooldown = new ClaimCooldown(settings.claimCooldown);
  }

  // Workers.

  /** Acquire a shard of a run that no worker holds. */
  async claim(request: ClaimRequest): Promise<Result<WorkerSession, ClaimError>> {
    const claimed = await this.claimMany({ ...request, count: 1 });
    return claimed.ok ? ok(claimed.value[0]!) : claimed;
  }

  /** Acquire up to `count` shards of a run that no worker holds: at least one, or it fails. */
  async claimMany(request: ClaimManyRequest): Promise<Result<readonly WorkerSession[], ClaimError>> {
    assertCommand(request, { run: true, worker: true });
    assertFlags({ markStarved: request.markStarved, isRepeat: request.isRepeat });
    return claimShards(this.#engine, this.#cooldown, request);
  }

  /** Acquire one particular shard. */
  async acquire(request: AcquireRequest): Promise<Result<IdempotentOutcome<AcquireResult>, AcquireError>> {
    assertCommand(request, { key: true, worker: true });
    return acquireShard(this.#engine, this.#withOpId(request));
  }

  /** Like `acquire`, but copies the shard's bytes into `scratch` instead of allocating memory for them. */
  async acquireInto(
    request: AcquireRequest,
    scratch: AcquireScratch,
  ): Promise<Result<IdempotentOutcome<AcquireResultView>, AcquireError>> {
    assertCommand(request, { key: true, worker: true });
    assert(scratch instanceof AcquireScratch, "scratch must be an AcquireScratch");
    return acquireShardInto(this.#engine, this.#withOpId(request), scratch);
  }

  /** Acquire one particular shard and hold it in a session. */
  async openSession(request: AcquireRequest): Promise<Result<WorkerSession, AcquireError>> {
    assertCommand(request, { key: true, worker: true });
    return openSession(this.#engine, this.#withOpId(request));
  }

  async renew(request: LeasedRequest): Promise<Result<RenewResult, RenewError>> {
    assertCommand(request, LEASED);
    const executed = await execute(this.#engine, shardOperations.renew(this.#engine, request), this.#copyFor(request));
    if (!executed.ok) return executed;
    const { outcome, hint = CapacityHint.ZERO } = executed.value;
    return ok({ newDeadline: outcome.newDeadline, capacity: hint });
  }

  async checkpoint(request: CheckpointRequest): Promise<Result<IdempotentOutcome<CheckpointResult>, CheckpointError>> {
    assertCommand(request, LOGGED);
    assertFlags({ renew: request.renew });
    const executed = await execute(
      this.#engine,
      shardOperations.checkpoint(this.#engine, request),
      this.#copyFor(request),
    );
    return checkpointed(executed);
  }

  /**
   * As `checkpoint` for each request, at the same time and at less cost. Returns their results in the same order. For
   * servers that receive many at a time. *Addition.*
   */
  async checkpointMany(
    requests: readonly CheckpointRequest[],
  ): Promise<Result<IdempotentOutcome<CheckpointResult>, CheckpointError>[]> {
    assertCheckpoints(requests);
    const executed = await executeMany(
      this.#engine,
      requests.map((request) => ({
        operation: shardOperations.checkpoint(this.#engine, request),
        copy: this.#copyFor(request),
      })),
    );
    return executed.map(checkpointed);
  }

  async complete(request: CompleteRequest): Promise<Result<IdempotentOutcome<void>, CompleteError>> {
    assertCommand(request, LOGGED);
    const executed = await execute(
      this.#engine,
      shardOperations.complete(this.#engine, request),
      this.#copyFor(request),
    );
    if (executed.ok) this.#engine.copies.drop(request.tenant, Lease.shardKey(request.lease));
    return executed.ok ? ok(IdempotentOutcome.map(executed.value.outcome, () => undefined)) : executed;
  }

  async park(request: ParkRequest): Promise<Result<IdempotentOutcome<void>, ParkError>> {
    assertCommand(request, LOGGED);
    const executed = await execute(this.#engine, shardOperations.park(this.#engine, request), this.#copyFor(request));
    if (executed.ok) this.#engine.copies.drop(request.tenant, Lease.shardKey(request.lease));
    return executed.ok ? ok(IdempotentOutcome.map(executed.value.outcome, () => undefined)) : executed;
  }

  async release(request: LoggedRequest): Promise<Result<IdempotentOutcome<void>, ReleaseError>> {
    assertCommand(request, LOGGED);
    const executed = await execute(
      this.#engine,
      shardOperations.release(this.#engine, request),
      this.#copyFor(request),
    );
    if (executed.ok) this.#engine.copies.drop(request.tenant, Lease.shardKey(request.lease));
    return executed.ok ? ok(IdempotentOutcome.map(executed.value.outcome, () => undefined)) : executed;
  }

  async splitReplace(request: SplitReplaceRequest): Promise<Result<IdempotentOutcome<SplitReplaceResult>, SplitError>> {
    assertCommand(request, LOGGED);
    const executed = await execute(
      this.#engine,
      shardOperations.splitReplace(this.#engine, request),
      this.#copyFor(request),
    );
    if (executed.ok) this.#engine.copies.drop(request.tenant, Lease.shardKey(request.lease));
    return executed.ok ? ok(IdempotentOutcome.map(executed.value.outcome, ({ children }) => ({ children }))) : executed;
  }

  async splitResidual(
    request: SplitResidualRequest,
  ): Promise<Result<IdempotentOutcome<SplitResidualResult>, SplitError>> {
    assertCommand(request, LOGGED);
    const executed = await execute(
      this.#engine,
      shardOperations.splitResidual(this.#engine, request),
      this.#copyFor(request),
    );
    return executed.ok ? ok(IdempotentOutcome.map(executed.value.outcome, ({ residual }) => ({ residual }))) : executed;
  }

  #copyFor({ tenant, lease }: LeasedRequest): ShardCopy {
    return this.#engine.copies.of(tenant, Lease.shardKey(lease));
  }

  #withOpId(request: AcquireRequest): AcquireRequest & { readonly opId: OpId } {
    return { ...request, opId: request.opId ?? this.#engine.newOpId() };
  }

  // Runs.

  async createRun(request: runs.CreateRunRequest): Promise<Result<RunRecord, ErrorOf<"createRun">>> {
    assertCommand(request, OF_RUN);
    return runs.createRun(this.#engine, request);
  }

  /** Store the first shards of a run and make it active. With `more`, store a page of them: others follow. */
  async registerShards(
    request: runs.RegisterShardsRequest,
  ): Promise<Result<IdempotentOutcome<RunRecord["rootShards"]>, RegisterShardsError>> {
    assertCommand(request, { run: true, shards: true, opId: true });
    assertFlags({ more: request.more });
    return runs.registerShards(this.#engine, request);
  }

  /** Create a run with its first shards, both or neither. A call with the same op id is a replay. */
  async createRunWithShards(
    request: runs.CreateRunWithShardsRequest,
  ): Promise<Result<IdempotentOutcome<RunRecord>, CreateRunError>> {
    assertCommand(request, { run: true, shards: true, opId: true });
    return runs.createRunWithShards(this.#engine, request);
  }

  /** Mark a run as finished. Refused while a shard is active or parked, unless the options accept that. */
  async completeRun(
    request: runs.CompleteRunRequest,
  ): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"completeRun">>> {
    assertCommand(request, LOGGED_OF_RUN);
    assertFlags({ acceptParked: request.acceptParked, force: request.force });
    return runs.completeRun(this.#engine, request);
  }

  async failRun(request: runs.EndRunRequest): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"failRun">>> {
    assertCommand(request, LOGGED_OF_RUN);
    return runs.failRun(this.#engine, request);
  }

  async cancelRun(request: runs.EndRunRequest): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"cancelRun">>> {
    assertCommand(request, LOGGED_OF_RUN);
    return runs.cancelRun(this.#engine, request);
  }

  /** Remove a run that has ended, and its shards. Its id can never be used again. */
  async deleteRun(request: queries.RunRequest): Promise<Result<void, DeleteRunError>> {
    assertCommand(request, OF_RUN);
    return runs.deleteRun(this.#engine, request);
  }

  /** Let workers claim a parked shard again. */
  async unpark(request: runs.UnparkRequest): Promise<Result<IdempotentOutcome<void>, UnparkError>> {
    assertCommand(request, { key: true, opId: true });
    const executed = await execute(this.#engine, shardOperations.unpark(this.#engine, request));
    return executed.ok ? ok(IdempotentOutcome.map(executed.value.outcome, () => undefined)) : executed;
  }

  // Queries.

  async getRun(request: queries.RunRequest): Promise<Result<RunRecord, GetRunError>> {
    assertCommand(request, OF_RUN);
    return queries.getRun(this.#engine, request);
  }

  /** Whether a run exists, was deleted, or never existed. *Addition.* */
  async lookUpRun(request: queries.RunRequest): Promise<Result<queries.RunLookup, GetRunError>> {
    assertCommand(request, OF_RUN);
    return queries.lookUpRun(this.#engine, request);
  }

  /** Returns `undefined` if the run has no such shard. */
  async getShard(request: queries.ShardRequest): Promise<Result<ShardRecord | undefined, GetRunError>> {
    assertCommand(request, { key: true });
    return queries.getShard(this.#engine, request);
  }

  async getRunProgress(request: queries.RunRequest): Promise<Result<RunProgress, GetRunError>> {
    assertCommand(request, OF_RUN);
    return queries.getRunProgress(this.#engine, request);
  }

  /** Returns how much of a run can be claimed. Every claim and renewal returns the same. */
  async getCapacity(request: queries.RunRequest): Promise<Result<CapacityHint, GetRunError>> {
    assertCommand(request, OF_RUN);
    return queries.getCapacity(this.#engine, request);
  }

  /** Returns how far a run has come in key space. Reads every shard. */
  async estimateProgress(request: queries.RunRequest): Promise<Result<ProgressEstimate, GetRunError>> {
    assertCommand(request, OF_RUN);
    return queries.estimateRunProgress(this.#engine, request);
  }

  /** Lists shards by range start, then by id, a page at a time. */
  async listShards(
    request: queries.ListShardsRequest,
  ): Promise<Result<Page<ShardSummary, ShardPosition>, GetRunError>> {
    assertCommand(request, OF_RUN);
    assertListing(request);
    return queries.listShards(this.#engine, request);
  }

  /** As `listShards`, with the whole record of each shard. *Addition.* */
  async listShardRecords(
    request: queries.ListShardRecordsRequest,
  ): Promise<Result<Page<ShardRecord, ShardPosition>, GetRunError>> {
    assertCommand(request, OF_RUN);
    assertListing(request);
    assertFlags({ withLog: request.withLog });
    return queries.listShardRecords(this.#engine, request);
  }

  /** Lists every shard that could be claimed now. Reads every shard; a claim does not. */
  async collectClaimCandidates(request: queries.RunRequest): Promise<Result<queries.ClaimCandidates, GetRunError>> {
    assertCommand(request, OF_RUN);
    return queries.collectClaimCandidates(this.#engine, request);
  }

  /** Lists a tenant's runs by id, a page at a time. */
  async listRuns(request: queries.ListRunsRequest): Promise<Result<Page<RunRecord, RunId>, BackendError>> {
    assertCommand(request, {});
    if (request.after !== undefined) RunId.fromRaw(request.after);
    return queries.listRuns(this.#engine, request);
  }

  /** Lists tenants that have a run by id, a page at a time. */
  async listTenants(request: queries.ListTenantsRequest = {}): Promise<Result<Page<TenantId, TenantId>, BackendError>> {
    assertCommand(request, { tenant: false });
    assert(
      request.after === undefined || TenantId.parse(request.after).ok,
      "the position in a list of tenants must be a tenant",
    );
    return queries.listTenants(this.#engine, request);
  }

  // Events.

  /**
   * Call `listener` for everything that this coordinator does from now on, after it is stored. Returns a function that
   * stops it.
   */
  onEvent(listener: EventListener): () => void {
    assert(typeof listener === "function", () => `an event listener must be a function, got ${typeof listener}`);
    return this.#engine.events.listen(listener);
  }

  /** The same events for `for await`. A reader that is too slow loses the oldest ones; `dropped` counts them. */
  events(options?: EventStreamOptions): EventStream {
    return this.#engine.events.stream(options);
  }

  /** Number of listener calls that threw. Their errors are dropped. */
  get failedListenerCalls(): number {
    return this.#engine.events.failedCalls;
  }

  /**
   * Number of events that may be missing: those of writes with an unknown outcome that can no longer be resolved,
   * because other writes followed.
   */
  get uncertainEvents(): number {
    return this.#engine.unresolvedShards.uncertainEvents + this.#engine.unresolvedRuns.uncertainEvents;
  }
}

/** The result of a checkpoint that was executed. */
function checkpointed(
  executed: Result<Executed<ShardSituation, IdempotentOutcome<CheckpointOutcome>>, CheckpointError>,
): Result<IdempotentOutcome<CheckpointResult>, CheckpointError> {
  if (!executed.ok) return executed;
  const { outcome, hint = CapacityHint.ZERO } = executed.value;
  return ok(IdempotentOutcome.map(outcome, ({ newDeadline }) => ({ newDeadline, capacity: hint })));
}
