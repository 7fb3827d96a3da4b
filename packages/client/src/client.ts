import type { OpId } from "@gossip/contracts";
import {
  AcquireScratch,
  MAX_CLAIM_COUNT,
  type AcquireRequest,
  type AcquireResult,
  type AcquireResultView,
  type CheckpointRequest,
  type CheckpointResult,
  type ClaimManyRequest,
  type ClaimRequest,
  type CompleteRequest,
  type CoordinatorApi,
  type EventListener,
  type EventStream,
  type EventStreamOptions,
  type LeasedRequest,
  type LoggedRequest,
  type ParkRequest,
  type RenewResult,
  type SplitReplaceRequest,
  type SplitReplaceResult,
  type SplitResidualRequest,
  type SplitResidualResult,
  type WorkerSession,
} from "@gossip/coordination";
import type {
  AcquireError,
  BackendError,
  CheckpointError,
  ClaimError,
  CompleteError,
  IdempotentOutcome,
  ParkError,
  ReleaseError,
  RenewError,
  SplitError,
} from "@gossip/coordination-errors";
import { assertCommand, assertFlags } from "@gossip/coordination/internal";
import { writeId } from "@gossip/protocol";
import { assert, assertCount, err, ok, type Result } from "@gossip/stdx";
import { Caller, type RequestListener } from "./calls/caller.ts";
import { LeasedCalls, readSession } from "./calls/leased-calls.ts";
import { OwnerBook } from "./calls/owners.ts";
import { notAService } from "./calls/read-error.ts";
import { failed, value as readResponse } from "./calls/read-response.ts";
import { RunCalls } from "./calls/run-calls.ts";
import { makeSettings, type GossipClientOptions, type ClientSettings } from "./client-options.ts";
import { OwnEvents } from "./events/own-events.ts";
import { RemoteSession, type SessionHost } from "./session/remote-session.ts";

const LEASED = { lease: true } as const;
const LOGGED = { lease: true, opId: true } as const;

/**
 * A coordinator at the other end of a network.
 *
 * It does what `Coordinator` does, so that workers and commands can use either. Calls of one turn of the event loop travel
 * in one request. A call whose answer was lost is repeated with the same op id until there is an answer or `patienceMs`
 * have passed; it then returns a transient `BackendError`. In a cluster, a call goes to the node that owns its run, and
 * waits while the run moves to another node.
 *
 * A call rejects with `ServiceRefused` if the server refuses the program: no valid token, a missing role.
 */
export class GossipClient extends RunCalls implements CoordinatorApi {
  readonly #settings: ClientSettings;
  readonly #owners: OwnerBook;
  readonly #caller: Caller;
  readonly #leased: LeasedCalls;
  readonly #events: OwnEvents;
  readonly #host: SessionHost;

  constructor(options: GossipClientOptions) {
    const settings = makeSettings(options);
    const owners = new OwnerBook(settings, settings.otherUrls);
    const caller = new Caller(owners, settings);
    const events = new OwnEvents();
    super(caller, events);
    this.#events = events;
    this.#settings = settings;
    this.#owners = owners;
    this.#caller = caller;
    this.#leased = new LeasedCalls(caller, events);
    this.#host = { calls: this.#leased, newOpId: settings.newOpId };
  }

  /** The address of the node that is asked first, without credentials. */
  get origin(): string {
    return this.#owners.origin;
  }

  /** Close the connections. Calls in progress fail. */
  close(): void {
    this.#owners.close();
  }

  newOpId(): OpId {
    return this.#settings.newOpId();
  }

  /**
   * Call `listener` after every request with the operation and how long it took, whether it succeeded or not. Returns a
   * function that stops it.
   */
  onRequest(listener: RequestListener): () => void {
    return this.#caller.onRequest(listener);
  }

  /** The first of `count` timestamps of the cluster's clock that follow each other. */
  async timestamp(count = 1): Promise<Result<bigint, BackendError>> {
    assertCount(count, "number of timestamps", { min: 1, max: 100_000 });
    const got = await this.#caller.call("timestamp", { query: { count: String(count) } });
    if (!got.ok) return err(got.error as BackendError);
    // Often the first call of a process, which may have the address of something else.
    const { timestamp } = (got.value ?? {}) as { readonly timestamp?: unknown };
    if (typeof timestamp !== "string" || !/^\d+$/.test(timestamp)) return err(notAService());
    return ok(readResponse((read) => read.u64<bigint>(timestamp, "timestamp")));
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
    assertCount(count, "number of shards to claim", { min: 1, max: MAX_CLAIM_COUNT });
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
    const sessions = got.value.sessions.map((wire) => {
      const granted = readSession(wire);
      this.learnMaxFailures(granted);
      return new RemoteSession(this.#host, granted);
    });
    for (const { lease } of sessions) this.#events.acquired(lease);
    return ok(sessions);
  }

  async acquire(request: AcquireRequest): Promise<Result<IdempotentOutcome<AcquireResult>, AcquireError>> {
    assertCommand(request, { key: true, worker: true });
    const got = await this.#acquire(request);
    if (!got.ok) return got;
    const { lease, snapshot, capacity, isReplay } = got.value;
    return ok({ kind: isReplay ? "Replayed" : "Executed", value: { lease, snapshot, capacity } });
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
    return got.ok ? ok(new RemoteSession(this.#host, got.value)) : got;
  }

  async #acquire(request: AcquireRequest) {
    const got = await this.#leased.acquire({ ...request, opId: request.opId ?? this.newOpId() });
    if (!got.ok) return got;
    this.learnMaxFailures(got.value);
    if (!got.value.isReplay) this.#events.acquired(got.value.lease);
    return got;
  }

  async renew(request: LeasedRequest): Promise<Result<RenewResult, RenewError>> {
    assertCommand(request, LEASED);
    return this.#leased.renew(request);
  }

  async checkpoint(request: CheckpointRequest): Promise<Result<IdempotentOutcome<CheckpointResult>, CheckpointError>> {
    assertCommand(request, LOGGED);
    assertFlags({ renew: request.renew });
    return this.#leased.checkpoint(request);
  }

  async complete(request: CompleteRequest): Promise<Result<IdempotentOutcome<void>, CompleteError>> {
    assertCommand(request, LOGGED);
    return this.#leased.complete(request);
  }

  async park(request: ParkRequest): Promise<Result<IdempotentOutcome<void>, ParkError>> {
    assertCommand(request, LOGGED);
    return this.#leased.park(request);
  }

  async release(request: LoggedRequest): Promise<Result<IdempotentOutcome<void>, ReleaseError>> {
    assertCommand(request, LOGGED);
    return this.#leased.release(request);
  }

  async splitReplace(request: SplitReplaceRequest): Promise<Result<IdempotentOutcome<SplitReplaceResult>, SplitError>> {
    assertCommand(request, LOGGED);
    return this.#leased.splitReplace(request);
  }

  async splitResidual(
    request: SplitResidualRequest,
  ): Promise<Result<IdempotentOutcome<SplitResidualResult>, SplitError>> {
    assertCommand(request, LOGGED);
    return this.#leased.splitResidual(request);
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
