import { RunId, type OpId, type ShardId, type TenantId } from "@gossip/contracts";
import {
  AcquireScratch,
  RunConfig,
  type AcquireRequest,
  type AcquireResult,
  type AcquireResultView,
  type CapacityHint,
  type CheckpointRequest,
  type CheckpointResult,
  type ClaimCandidates,
  type ClaimManyRequest,
  type ClaimRequest,
  type CompleteRequest,
  type CompleteRunRequest,
  type CoordinatorApi,
  type CreateRunRequest,
  type CreateRunWithShardsRequest,
  type EndRunRequest,
  type EventListener,
  type EventStream,
  type EventStreamOptions,
  type LeasedRequest,
  type ListRunsRequest,
  type ListShardsRequest,
  type ListTenantsRequest,
  type LoggedRequest,
  type Page,
  type ParkRequest,
  type ProgressEstimate,
  type RegisterShardsRequest,
  type RenewResult,
  type RunProgress,
  type RunRecord,
  type RunRequest,
  type ShardPosition,
  type ShardRecord,
  type ShardRequest,
  type ShardSummary,
  type SplitReplaceRequest,
  type SplitReplaceResult,
  type SplitResidualRequest,
  type SplitResidualResult,
  type UnparkRequest,
  type WorkerSession,
} from "@gossip/coordination";
import {
  coordError,
  type AcquireError,
  type AnyCoordError,
  type BackendError,
  type CheckpointError,
  type ClaimError,
  type CompleteError,
  type CreateRunError,
  type DeleteRunError,
  type ErrorOf,
  type GetRunError,
  type IdempotentOutcome,
  type ParkError,
  type RegisterShardsError,
  type ReleaseError,
  type RenewError,
  type SplitError,
  type UnparkError,
} from "@gossip/coordination-errors";
import { assertCommand, assertFlags, assertListing } from "@gossip/coordination/internal";
import {
  optionalTime,
  readCapacity,
  readPosition,
  readProgress,
  readRun,
  readShard,
  readSummary,
  writeConfig,
  writeCursor,
  writeId,
  writePosition,
  writeRange,
} from "@gossip/protocol";
import { assert, assertCount, err, ok, type Result } from "@gossip/stdx";
import { Caller } from "./calls/caller.ts";
import { failed, LeasedCalls, readSession, value } from "./calls/leased-calls.ts";
import { unreachable } from "./calls/read-error.ts";
import { makeSettings, type ClientOptions, type ClientSettings } from "./client-options.ts";
import { OwnEvents } from "./events/own-events.ts";
import { Transport } from "./http/transport.ts";
import { RemoteSession } from "./session/remote-session.ts";

const LEASED = { lease: true } as const;
const LOGGED = { lease: true, opId: true } as const;
const OF_RUN = { run: true } as const;
const LOGGED_OF_RUN = { run: true, opId: true } as const;
const WITH_LOG = { log: "true" } as const;

/**
 * A coordinator at the other end of a network.
 *
 * It does what `Coordinator` does, so that workers and commands can use either. Calls of one turn of the event loop travel
 * in one request. A call whose answer was lost is repeated with the same op id until there is an answer or `patienceMs`
 * have passed; it then returns a transient `BackendError`.
 *
 * A call rejects with `ServiceRefused` if the server refuses the program: no valid token, a missing role.
 */
export class GossipClient implements CoordinatorApi {
  readonly #settings: ClientSettings;
  readonly #transport: Transport;
  readonly #caller: Caller;
  readonly #leased: LeasedCalls;
  readonly #events: OwnEvents;

  constructor(options: ClientOptions) {
    this.#settings = makeSettings(options);
    this.#transport = new Transport(this.#settings);
    this.#caller = new Caller(this.#transport, this.#settings);
    this.#leased = new LeasedCalls(this.#caller);
    this.#events = new OwnEvents();
  }

  /** The server's address, without credentials. */
  get origin(): string {
    return this.#transport.origin;
  }

  /** Close the connections. Calls in progress fail. */
  close(): void {
    this.#transport.close();
  }

  newOpId(): OpId {
    return this.#settings.newOpId();
  }

  // Workers.

  async claim(request: ClaimRequest): Promise<Result<WorkerSession, ClaimError>> {
    const claimed = await this.claimMany({ ...request, count: 1 });
    return claimed.ok ? ok(claimed.value[0]!) : claimed;
  }

  async claimMany(request: ClaimManyRequest): Promise<Result<readonly WorkerSession[], ClaimError>> {
    assertCommand(request, { run: true, worker: true });
    assertFlags({ markStarved: request.markStarved, isRepeat: request.isRepeat });
    const { tenant, run, worker, count, markStarved = false, isRepeat = false, opId = this.newOpId() } = request;
    assertCount(count, "number of shards to claim", { min: 1, max: 256 });
    const element = {
      tenant,
      run: writeId(run),
      worker: writeId(worker),
      opId: writeId(opId),
      count,
      ...(markStarved ? { markStarved } : {}),
      ...(isRepeat ? { isRepeat } : {}),
    };
    const got = await this.#caller.element("claim", element, this.#settings.claimWaitMs);
    if (!got.ok) return failed("claim", got.error);
    const sessions = got.value.sessions.map((session) => new RemoteSession(this, readSession(session)));
    for (const { lease } of sessions) this.#events.acquired(lease);
    return ok(sessions);
  }

  async acquire(request: AcquireRequest): Promise<Result<IdempotentOutcome<AcquireResult>, AcquireError>> {
    assertCommand(request, { key: true, worker: true });
    const got = await this.#acquire(request);
    if (!got.ok) return got;
    const { isReplay, ...result } = got.value;
    return ok({ kind: isReplay ? "Replayed" : "Executed", value: result });
  }

  async acquireInto(
    request: AcquireRequest,
    scratch: AcquireScratch,
  ): Promise<Result<IdempotentOutcome<AcquireResultView>, AcquireError>> {
    assertCommand(request, { key: true, worker: true });
    assert(scratch instanceof AcquireScratch, "scratch must be an AcquireScratch");
    scratch.beginUse();
    try {
      const got = await this.#acquire(request);
      if (!got.ok) return got;
      const { lease, snapshot, capacity, isReplay } = got.value;
      scratch.writeSpec(snapshot.spec);
      scratch.writeCursor(snapshot.cursor);
      scratch.writeSpawned(snapshot.spawned);
      const view = { lease, snapshot: scratch.view(snapshot), capacity };
      return ok({ kind: isReplay ? "Replayed" : "Executed", value: view });
    } finally {
      scratch.endUse();
    }
  }

  async openSession(request: AcquireRequest): Promise<Result<WorkerSession, AcquireError>> {
    assertCommand(request, { key: true, worker: true });
    const got = await this.#acquire(request);
    return got.ok ? ok(new RemoteSession(this, got.value)) : got;
  }

  async #acquire(request: AcquireRequest) {
    const got = await this.#leased.acquire({ ...request, opId: request.opId ?? this.newOpId() });
    if (got.ok && !got.value.isReplay) this.#events.acquired(got.value.lease);
    return got;
  }

  async renew(request: LeasedRequest): Promise<Result<RenewResult, RenewError>> {
    assertCommand(request, LEASED);
    return this.#events.renewed(request, await this.#leased.renew(request));
  }

  async checkpoint(request: CheckpointRequest): Promise<Result<IdempotentOutcome<CheckpointResult>, CheckpointError>> {
    assertCommand(request, LOGGED);
    assertFlags({ renew: request.renew });
    return this.#events.checkpointed(request, await this.#leased.checkpoint(request));
  }

  async complete(request: CompleteRequest): Promise<Result<IdempotentOutcome<void>, CompleteError>> {
    assertCommand(request, LOGGED);
    return this.#events.completed(request, await this.#leased.complete(request));
  }

  async park(request: ParkRequest): Promise<Result<IdempotentOutcome<void>, ParkError>> {
    assertCommand(request, LOGGED);
    return this.#events.parked(request, await this.#leased.park(request));
  }

  async release(request: LoggedRequest): Promise<Result<IdempotentOutcome<void>, ReleaseError>> {
    assertCommand(request, LOGGED);
    return this.#events.released(request, await this.#leased.release(request));
  }

  async splitReplace(request: SplitReplaceRequest): Promise<Result<IdempotentOutcome<SplitReplaceResult>, SplitError>> {
    assertCommand(request, LOGGED);
    return this.#events.split(request, await this.#leased.splitReplace(request));
  }

  async splitResidual(
    request: SplitResidualRequest,
  ): Promise<Result<IdempotentOutcome<SplitResidualResult>, SplitError>> {
    assertCommand(request, LOGGED);
    return this.#events.residual(request, await this.#leased.splitResidual(request));
  }

  // Runs.

  /** There is no op id, so after a lost answer a run that exists may be another caller's: that is a backend error. */
  async createRun(request: CreateRunRequest): Promise<Result<RunRecord, ErrorOf<"createRun">>> {
    assertCommand(request, OF_RUN);
    const body = newRun(request);
    if (!body.ok) return body;
    const { result, wasRepeated } = await this.#caller.callOnce("createRun", { body: body.value });
    if (result.ok) return ok(value((read) => readRun(read, result.value.run)));
    if (wasRepeated && result.error.kind === "RunAlreadyExists")
      return failed("createRun", unreachable("the service did not answer in time"));
    return failed("createRun", result.error);
  }

  async registerShards(
    request: RegisterShardsRequest,
  ): Promise<Result<IdempotentOutcome<RunRecord["rootShards"]>, RegisterShardsError>> {
    assertCommand(request, { run: true, shards: true, opId: true });
    const { tenant, run, opId, shards } = request;
    const body = { tenant, opId: writeId(opId), shards: shards.map(writeNewShard) };
    const got = await this.#caller.call("registerShards", { params: { run: writeId(run) }, body });
    if (!got.ok) return failed("registerShards", got.error);
    const { outcome, shards: ids } = got.value;
    return ok({ kind: outcome, value: value((read) => ids.map((id) => read.id<ShardId>(id))) });
  }

  async createRunWithShards(
    request: CreateRunWithShardsRequest,
  ): Promise<Result<IdempotentOutcome<RunRecord>, CreateRunError>> {
    assertCommand(request, { run: true, shards: true, opId: true });
    const body = newRun(request);
    if (!body.ok) return body;
    const got = await this.#caller.call("createRun", {
      body: { ...body.value, opId: writeId(request.opId), shards: request.shards.map(writeNewShard) },
    });
    return readRunOutcome("createRunWithShards", got);
  }

  async completeRun(
    request: CompleteRunRequest,
  ): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"completeRun">>> {
    assertCommand(request, LOGGED_OF_RUN);
    assertFlags({ acceptParked: request.acceptParked, force: request.force });
    const { tenant, run, opId, acceptParked = false, force = false } = request;
    const body = { tenant, opId: writeId(opId), acceptParked, force };
    const got = await this.#caller.call("completeRun", { params: { run: writeId(run) }, body });
    return readRunOutcome("completeRun", got);
  }

  async failRun(request: EndRunRequest): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"failRun">>> {
    assertCommand(request, LOGGED_OF_RUN);
    return readRunOutcome("failRun", await this.#caller.call("failRun", ending(request)));
  }

  async cancelRun(request: EndRunRequest): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"cancelRun">>> {
    assertCommand(request, LOGGED_OF_RUN);
    return readRunOutcome("cancelRun", await this.#caller.call("cancelRun", ending(request)));
  }

  async deleteRun(request: RunRequest): Promise<Result<void, DeleteRunError>> {
    assertCommand(request, OF_RUN);
    const { tenant, run } = request;
    const { result, wasRepeated } = await this.#caller.callOnce("deleteRun", {
      params: { run: writeId(run) },
      query: { tenant },
    });
    // Its id is never used again, so the first try removed it, or another caller did the same.
    if (result.ok || (wasRepeated && result.error.kind === "RunNotFound")) return ok();
    return failed("deleteRun", result.error);
  }

  async unpark(request: UnparkRequest): Promise<Result<IdempotentOutcome<void>, UnparkError>> {
    assertCommand(request, { key: true, opId: true });
    const { tenant, key, opId } = request;
    const got = await this.#caller.call("unpark", {
      params: { run: writeId(key.run), shard: writeId(key.shard) },
      body: { tenant, opId: writeId(opId) },
    });
    return got.ok ? ok({ kind: got.value.outcome, value: undefined }) : failed("unpark", got.error);
  }

  // Queries.

  async getRun(request: RunRequest): Promise<Result<RunRecord, GetRunError>> {
    assertCommand(request, OF_RUN);
    const { tenant, run } = request;
    const got = await this.#caller.call("getRun", { params: { run: writeId(run) }, query: { tenant, ...WITH_LOG } });
    return got.ok ? ok(value((read) => readRun(read, got.value.run))) : failed("getRun", got.error);
  }

  async getShard(request: ShardRequest): Promise<Result<ShardRecord | undefined, GetRunError>> {
    assertCommand(request, { key: true });
    const { tenant, key } = request;
    const got = await this.#caller.call("getShard", {
      params: { run: writeId(key.run), shard: writeId(key.shard) },
      query: { tenant, ...WITH_LOG },
    });
    if (!got.ok) return failed("getRun", got.error);
    const { shard } = got.value;
    return ok(shard && value((read) => readShard(read, shard)));
  }

  async getRunProgress(request: RunRequest): Promise<Result<RunProgress, GetRunError>> {
    assertCommand(request, OF_RUN);
    const got = await this.#caller.call("getProgress", querying(request));
    return got.ok ? ok(value((read) => readProgress(read, got.value.progress))) : failed("getRun", got.error);
  }

  async getCapacity(request: RunRequest): Promise<Result<CapacityHint, GetRunError>> {
    assertCommand(request, OF_RUN);
    const got = await this.#caller.call("getCapacity", querying(request));
    return got.ok ? ok(value((read) => readCapacity(read, got.value.capacity))) : failed("getRun", got.error);
  }

  async estimateProgress(request: RunRequest): Promise<Result<ProgressEstimate, GetRunError>> {
    assertCommand(request, OF_RUN);
    const got = await this.#caller.call("estimateProgress", querying(request));
    if (!got.ok) return failed("getRun", got.error);
    const { fraction, shardCount } = got.value;
    return ok({ fraction, shardCount });
  }

  async listShards(request: ListShardsRequest): Promise<Result<Page<ShardSummary, ShardPosition>, GetRunError>> {
    assertCommand(request, OF_RUN);
    assertListing(request);
    const { tenant, run, filter = {}, limit, after } = request;
    const { status, isLeased, rootOnly } = filter;
    const got = await this.#caller.call("listShards", {
      params: { run: writeId(run) },
      query: {
        tenant,
        ...(limit === undefined ? {} : { limit: String(limit) }),
        ...(after === undefined ? {} : { after: writePosition(after) }),
        ...(status === undefined ? {} : { status }),
        ...(isLeased === undefined ? {} : { isLeased: flag(isLeased) }),
        ...(rootOnly === undefined ? {} : { rootOnly: flag(rootOnly) }),
      },
    });
    if (!got.ok) return failed("getRun", got.error);
    const { shards, next } = got.value;
    return ok({
      items: value((read) => shards.map((shard) => readSummary(read, shard))),
      next: next === undefined ? undefined : readPosition(next),
    });
  }

  async collectClaimCandidates(request: RunRequest): Promise<Result<ClaimCandidates, GetRunError>> {
    assertCommand(request, OF_RUN);
    const got = await this.#caller.call("listCandidates", querying(request));
    if (!got.ok) return failed("getRun", got.error);
    const { shards, earliestDeadline } = got.value;
    return ok(
      value((read) => ({
        shards: shards.map((id) => read.id<ShardId>(id)),
        earliestDeadline: optionalTime(read, earliestDeadline),
      })),
    );
  }

  async listRuns(request: ListRunsRequest): Promise<Result<Page<RunRecord, RunId>, BackendError>> {
    assertCommand(request, {});
    const { tenant, limit, after } = request;
    if (after !== undefined) RunId.fromRaw(after);
    const got = await this.#caller.call("listRuns", {
      query: {
        tenant,
        ...(limit === undefined ? {} : { limit: String(limit) }),
        ...(after === undefined ? {} : { after: writeId(after) }),
      },
    });
    if (!got.ok) return err(got.error as BackendError);
    const { runs, next } = got.value;
    return ok({
      items: value((read) => runs.map((run) => readRun(read, run))),
      next: next === undefined ? undefined : value((read) => read.id<RunId>(next)),
    });
  }

  async listTenants(request: ListTenantsRequest = {}): Promise<Result<Page<TenantId, TenantId>, BackendError>> {
    assertCommand(request, { tenant: false });
    const { limit, after } = request;
    const got = await this.#caller.call("listTenants", {
      query: { ...(limit === undefined ? {} : { limit: String(limit) }), ...(after === undefined ? {} : { after }) },
    });
    if (!got.ok) return err(got.error as BackendError);
    const { tenants, next } = got.value;
    return ok({ items: tenants as TenantId[], next: next as TenantId | undefined });
  }

  // Events.

  /**
   * Call `listener` with what this client does from now on, each thing after the server stored it.
   *
   * Times are this machine's. To follow what others do, read `/v1/events`.
   */
  onEvent(listener: EventListener): () => void {
    assert(typeof listener === "function", () => `an event listener must be a function, got ${typeof listener}`);
    return this.#events.listen(listener);
  }

  events(options?: EventStreamOptions): EventStream {
    return this.#events.stream(options);
  }

  get failedListenerCalls(): number {
    return this.#events.failedCalls;
  }

  /** Always 0: a call whose answer was lost is repeated until there is one. */
  get uncertainEvents(): number {
    return 0;
  }
}

function newRun({ tenant, run, config }: CreateRunRequest) {
  const made = RunConfig.tryNew(config);
  if (!made.ok) return err(coordError("InvalidConfig", { reason: made.error }));
  return ok({ tenant, run: writeId(run), config: writeConfig(made.value) });
}

function writeNewShard({ shard, spec, cursor }: RegisterShardsRequest["shards"][number]) {
  return { shard: writeId(shard), range: writeRange(spec), cursor: writeCursor(cursor) };
}

function ending({ tenant, run, opId }: EndRunRequest) {
  return { params: { run: writeId(run) }, body: { tenant, opId: writeId(opId) } };
}

function querying({ tenant, run }: RunRequest) {
  return { params: { run: writeId(run) }, query: { tenant } };
}

function flag(isSet: boolean): "true" | "false" {
  return isSet ? "true" : "false";
}

function readRunOutcome<Op extends "createRunWithShards" | "completeRun" | "failRun" | "cancelRun">(
  operation: Op,
  got: Result<
    { readonly run: Parameters<typeof readRun>[1]; readonly outcome?: "Executed" | "Replayed" },
    AnyCoordError
  >,
): Result<IdempotentOutcome<RunRecord>, ErrorOf<Op>> {
  if (!got.ok) return failed(operation, got.error);
  const { run, outcome = "Executed" } = got.value;
  return ok({ kind: outcome, value: value((read) => readRun(read, run)) });
}
