import {
  OpId,
  type Cursor,
  type LogicalTime,
  type ParkReason,
  type ShardId,
  type ShardKey,
  type ShardSpec,
  type SplitReplacePlan,
  type SplitResidualPlan,
  type TenantId,
  type WorkerId,
} from "@gossip/contracts";
import {
  coordError,
  IdempotentOutcome,
  type BackendError,
  type CheckpointError,
  type CompleteError,
  type ParkError,
  type ReleaseError,
  type RenewError,
  type SessionError,
  type SplitError,
} from "@gossip/coordination-errors";
import { assert, err, ok, type Result } from "@gossip/stdx";
import type { Engine } from "../coordinator/engine.ts";
import { executeFromCopy } from "../coordinator/execute-from-copy.ts";
import type { Executed } from "../coordinator/execute.ts";
import type { Operation } from "../coordinator/operation.ts";
import { shardOperations } from "../coordinator/shard-operations.ts";
import type {
  CheckpointResult,
  LoggedRequest,
  RenewResult,
  SplitReplaceResult,
  SplitResidualResult,
} from "../coordinator/shard-requests.ts";
import type { ShardCopy, ShardSituation } from "../coordinator/shard-target.ts";
import type { CompletionPoint } from "../hashing/payload-hash.ts";
import type { SplitShard, UpdateShard } from "../kernel/transition.ts";
import type { CapacityHint } from "../records/capacity-hint.ts";
import type { FailureInput } from "../records/item-failure.ts";
import { Lease } from "../records/lease.ts";
import type { ParkDetailInput } from "../records/parked-detail.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import { snapshotOf, type ShardSnapshot } from "../views/shard-snapshot.ts";
import { isLeaseGone } from "./lease-gone.ts";
import { Turns } from "./turns.ts";

/** What a session begins with: a lease that was just granted, and the shard as it was then. */
export interface SessionStart {
  readonly lease: Lease;
  readonly shard: ShardRecord;
  readonly copy: ShardCopy;
  readonly capacity: CapacityHint;
  /** Whether the acquire was a replay. */
  readonly isReplay: boolean;
}

/** The options of every logged call of a session. */
export interface SessionOptions {
  /** Pass the same one again to repeat the call. A fresh one is drawn by default. */
  readonly opId?: OpId;
}

/** The options of a call that moves past items. */
export interface CompleteOptions extends SessionOptions {
  /** Items that failed and are skipped by this call. They are recorded in the same write. See `CheckpointRequest`. */
  readonly failures?: readonly FailureInput[] | undefined;
}

export interface CheckpointOptions extends CompleteOptions {
  /** Also move the lease's deadline. */
  readonly renew?: boolean;
}

export interface ParkOptions extends SessionOptions {
  /** What went wrong, for operators. */
  readonly detail?: ParkDetailInput | undefined;
}

/** One call of a session. */
interface SessionCall<Outcome, Told, Failure> {
  /** Made when it is the call's turn, so that it presents the lease as it is then. */
  readonly make: () => Operation<ShardSituation, UpdateShard | SplitShard, Outcome, Failure>;
  /** The caller's result. */
  readonly tell: (outcome: Outcome) => Told;
  /** Whether the call closes the session if it succeeds, or if the lease is gone. */
  readonly isLast?: boolean;
}

type ResultOf<Value, Failure> = Result<Value, Failure | BackendError | SessionError>;
type ExecutedCall<Outcome, Failure> = ResultOf<Executed<ShardSituation, Outcome>, Failure>;

/**
 * One worker's hold on one shard, from the acquire to the call that ends it.
 *
 * A session is in one of two states:
 *
 * - *open*   — every call may be made. `renew`, `checkpoint` and `splitResidual` never close it.
 * - *closed* — `complete`, `park`, `release` or `splitReplace` succeeded, or reported that the lease is gone. Every
 *   call returns `SessionClosed`.
 *
 * A call that fails for another reason, such as an unreachable store, leaves the session open, and may be repeated.
 *
 * Calls take effect in the order in which they are made; a caller need not wait for the previous one.
 *
 * `await using` releases the shard at the end of its block if the session is still open.
 */
export class WorkerSession implements AsyncDisposable {
  readonly initialSnapshot: ShardSnapshot;
  /** Whether the acquire that opened the session was a replay: the worker held this lease already, by the same op id. */
  readonly isReplay: boolean;
  readonly #engine: Engine;
  readonly #copy: ShardCopy;
  readonly #turns = new Turns();
  /** The shard as of the last successful call. */
  #shard: ShardRecord;
  #lease: Lease;
  #capacity: CapacityHint;
  #isClosed = false;
  #isLeaseLost = false;

  /** @internal Sessions come from a coordinator. */
  constructor(engine: Engine, { lease, shard, copy, capacity, isReplay }: SessionStart) {
    this.initialSnapshot = snapshotOf(shard);
    this.isReplay = isReplay;
    this.#engine = engine;
    this.#copy = copy;
    this.#shard = shard;
    this.#lease = lease;
    this.#capacity = capacity;
  }

  /** The lease as of the last call. See `Lease` for what its fence can and cannot order. */
  get lease(): Lease {
    return this.#lease;
  }

  get tenant(): TenantId {
    return this.#lease.tenant;
  }

  get worker(): WorkerId {
    return this.#lease.owner;
  }

  get shardKey(): ShardKey {
    return Lease.shardKey(this.#lease);
  }

  /** The range that is left: a residual split narrows it. */
  get spec(): ShardSpec {
    return this.#shard.spec;
  }

  /** The cursor of the last checkpoint. */
  get cursor(): Cursor {
    return this.#shard.cursor;
  }

  /**
   * How often the shard was acquired since its cursor last advanced, this time included. More than one means that earlier
   * holders left without progress. *Addition.*
   */
  get attempts(): number {
    return this.#shard.attempts;
  }

  get spawned(): readonly ShardId[] {
    return this.#shard.spawned;
  }

  /** The run's capacity as of the last call that returned it. */
  get capacity(): CapacityHint {
    return this.#capacity;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether a call reported that this worker no longer holds the shard. Stop working on it. */
  get isLeaseLost(): boolean {
    return this.#isLeaseLost;
  }

  renew(): Promise<Result<RenewResult, RenewError | SessionError>> {
    return this.#run({
      make: () => shardOperations.renew(this.#engine, { tenant: this.tenant, lease: this.#lease }),
      tell: ({ newDeadline }) => ({ newDeadline, capacity: this.#capacity }),
    });
  }

  /** Store how far the work has come. */
  checkpoint(
    cursor: Cursor,
    options: CheckpointOptions = {},
  ): Promise<Result<IdempotentOutcome<CheckpointResult>, CheckpointError | SessionError>> {
    let renew = false;
    return this.#run({
      make: () => {
        const opId = this.#opIdOf(options);
        ({ renew = false } = options);
        assert(typeof renew === "boolean", () => `renew must be true or false, got ${typeof renew}`);
        const lease = this.#lease;
        const { failures } = options;
        return shardOperations.checkpoint(this.#engine, { tenant: lease.tenant, lease, opId, cursor, renew, failures });
      },
      tell: (outcome) =>
        IdempotentOutcome.map(outcome, ({ newDeadline }) => ({
          newDeadline: newDeadline ?? this.#deadlineOfReplay(outcome.kind, renew),
          capacity: this.#capacity,
        })),
    });
  }

  /** Cut a part off the range's upper end, for other workers. */
  splitResidual(
    plan: SplitResidualPlan,
    options: SessionOptions = {},
  ): Promise<Result<IdempotentOutcome<SplitResidualResult>, SplitError | SessionError>> {
    return this.#run({
      make: () => shardOperations.splitResidual(this.#engine, { ...this.#request(options), plan }),
      tell: (outcome) => IdempotentOutcome.map(outcome, ({ residual }) => ({ residual })),
    });
  }

  /** Mark the shard as done, at a cursor or with `RANGE_EXHAUSTED`. */
  complete(
    point: CompletionPoint,
    options: CompleteOptions = {},
  ): Promise<Result<IdempotentOutcome<void>, CompleteError | SessionError>> {
    return this.#run({
      isLast: true,
      make: () =>
        shardOperations.complete(this.#engine, { ...this.#request(options), point, failures: options.failures }),
      tell: (outcome) => IdempotentOutcome.map(outcome, () => undefined),
    });
  }

  /** Set the shard aside for a reason. */
  park(
    reason: ParkReason,
    options: ParkOptions = {},
  ): Promise<Result<IdempotentOutcome<void>, ParkError | SessionError>> {
    return this.#run({
      isLast: true,
      make: () => shardOperations.park(this.#engine, { ...this.#request(options), reason, detail: options.detail }),
      tell: (outcome) => IdempotentOutcome.map(outcome, () => undefined),
    });
  }

  /** Releases the shard, so that any worker can acquire it. */
  release(options: SessionOptions = {}): Promise<Result<IdempotentOutcome<void>, ReleaseError | SessionError>> {
    return this.#run({
      isLast: true,
      make: () => shardOperations.release(this.#engine, this.#request(options)),
      tell: (outcome) => IdempotentOutcome.map(outcome, () => undefined),
    });
  }

  /** Replace the shard by children that tile its range. */
  splitReplace(
    plan: SplitReplacePlan,
    options: SessionOptions = {},
  ): Promise<Result<IdempotentOutcome<SplitReplaceResult>, SplitError | SessionError>> {
    return this.#run({
      isLast: true,
      make: () => shardOperations.splitReplace(this.#engine, { ...this.#request(options), plan }),
      tell: (outcome) => IdempotentOutcome.map(outcome, ({ children }) => ({ children })),
    });
  }

  /** Release the shard if the session is still open. Ignores a failure: the lease expires anyway. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isClosed && !this.#isLeaseLost) void (await this.release());
    this.#isClosed = true;
  }

  /** Execute a call in its turn: one at a time, in the order of the calls. */
  #run<Outcome, Told, Failure extends { readonly kind: string }>(
    call: SessionCall<Outcome, Told, Failure>,
  ): Promise<ResultOf<Told, Failure>> {
    return this.#turns.isTaken ? this.#turns.wait().then(() => this.#execute(call)) : this.#execute(call);
  }

  /** Execute a call whose turn it is. Passes the turn on when the call ends, also if it throws. */
  #execute<Outcome, Told, Failure extends { readonly kind: string }>(
    call: SessionCall<Outcome, Told, Failure>,
  ): Promise<ResultOf<Told, Failure>> {
    this.#turns.take();
    return new Promise((resolve, reject) => {
      const fail = (reason: unknown): void => {
        this.#turns.pass();
        reject(reason);
      };
      const settle = (executed: ExecutedCall<Outcome, Failure>): void => {
        try {
          resolve(this.#end(call, executed));
          this.#turns.pass();
        } catch (reason) {
          fail(reason);
        }
      };
      try {
        if (this.#isClosed) settle(err(coordError("SessionClosed", { shard: this.shardKey })));
        else executeFromCopy(this.#engine, { operation: call.make(), copy: this.#copy }, { settle, fail });
      } catch (reason) {
        fail(reason);
      }
    });
  }

  /** Note how a call ended, and return the caller's result. */
  #end<Outcome, Told, Failure extends { readonly kind: string }>(
    call: SessionCall<Outcome, Told, Failure>,
    executed: ExecutedCall<Outcome, Failure>,
  ): ResultOf<Told, Failure> {
    if (executed.ok) this.#follow(executed.value.read, executed.value.hint);
    const isGone = !executed.ok && isLeaseGone(executed.error);
    if (isGone) this.#isLeaseLost = true;
    // Before the next call begins, so that it finds the session closed.
    if (call.isLast === true && (executed.ok || isGone)) this.#isClosed = true;
    return executed.ok ? ok(call.tell(executed.value.outcome)) : executed;
  }

  /** Note what a successful call returned. */
  #follow({ shard }: ShardSituation, hint: CapacityHint | undefined): void {
    if (hint !== undefined) this.#capacity = hint;
    if (shard === undefined) return;
    this.#shard = shard.record;
    // The deadline of the record counts: a renewal whose answer was lost has moved it, too.
    const { fenceEpoch, lease } = shard.record;
    const isOurs = fenceEpoch === this.#lease.fence && lease?.owner === this.#lease.owner;
    if (isOurs && lease.deadline > this.#lease.deadline) this.#lease = Lease.withDeadline(this.#lease, lease.deadline);
  }

  /** A replay moves no deadline, but the first execution may have. */
  #deadlineOfReplay(kind: "Executed" | "Replayed", renew: boolean): LogicalTime | undefined {
    return kind === "Replayed" && renew && this.#shard.lease !== undefined ? this.#lease.deadline : undefined;
  }

  #request(options: SessionOptions): LoggedRequest {
    return { tenant: this.tenant, lease: this.#lease, opId: this.#opIdOf(options) };
  }

  #opIdOf(options: SessionOptions): OpId {
    assert(
      typeof options === "object" && options !== null,
      () => `options must be an object, got ${options === null ? "null" : typeof options}`,
    );
    return options.opId === undefined ? this.#engine.newOpId() : OpId.fromRaw(options.opId);
  }
}
