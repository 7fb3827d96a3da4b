import {
  OpId,
  type Cursor,
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
import type { ShardCopy } from "../coordinator/shard-copy.ts";
import { carryOut, type Ending } from "../coordinator/carry-out.ts";
import type { Settled, ShardOperation } from "../coordinator/shard-operation.ts";
import {
  shardOperations,
  type CheckpointResult,
  type RenewResult,
  type SplitReplaceResult,
  type SplitResidualResult,
} from "../coordinator/shard-operations.ts";
import type { CompletionPoint } from "../hashing/payload-hash.ts";
import type { CapacityHint } from "../records/capacity-hint.ts";
import { Lease } from "../records/lease.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import { snapshotOf, type ShardSnapshot } from "../views/shard-snapshot.ts";
import { isLeaseGone } from "./lease-gone.ts";

/** What every logged call of a session may be given. */
export interface SessionOptions {
  /** Give the same one again to repeat the call; a fresh one is drawn where it is left out. */
  readonly opId?: OpId;
}

export interface CheckpointOptions extends SessionOptions {
  /** Also move the lease's deadline. */
  readonly renew?: boolean;
}

/** What a session begins with: a lease that was just given, and the shard as it was then. */
export interface SessionStart {
  readonly lease: Lease;
  readonly copy: ShardCopy;
  readonly capacity: CapacityHint;
}

interface ErrorLike {
  readonly kind: string;
}

/** A call of a session: what it does, and what its caller is told of what came of it. */
interface SessionCall<Outcome, Told, Failure> {
  /** Made when it is the call's turn. */
  readonly make: () => ShardOperation<Outcome, Failure>;
  readonly tell: (outcome: Outcome) => Told;
  /** Whether it ends the session where it succeeds, or where there is no lease to end. */
  readonly isLast?: boolean;
}

/**
 * One worker's hold on one shard, from the acquire to whatever ends it.
 *
 * It is always in one of these:
 *
 * - *open*   — every call may be made. `renew`, `checkpoint` and `splitResidual` keep it so, whatever they answer.
 * - *closed* — the hold is over: `complete`, `park`, `release` or `splitReplace` succeeded, or
 *   answered that the lease is gone. Every call answers `SessionClosed`.
 *
 * A call that fails for another reason, such as a store that cannot be reached, leaves the
 * session open, to be made again. Calls take effect in the order in which they
 * are made; nothing has to wait for the one before.
 *
 * `await using` releases the shard at the end of its block, where nothing ended it before.
 */
export class WorkerSession implements AsyncDisposable {
  readonly initialSnapshot: ShardSnapshot;
  readonly #engine: Engine;
  readonly #copy: ShardCopy;
  readonly #waiting: (() => void)[] = [];
  #lease: Lease;
  #capacity: CapacityHint;
  /** The shard as of the last call that succeeded, kept also when the copy is no longer good enough to start from. */
  #shard: ShardRecord;
  #isBusy = false;
  /** Let the next in line take over, as it is: nobody who comes now can slip in between. */
  readonly #passOn = (): void => {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isBusy = false;
    else next();
  };
  #isClosed = false;
  #isLeaseLost = false;

  /** @internal Sessions come from a coordinator. */
  constructor(engine: Engine, { lease, copy, capacity }: SessionStart) {
    const shard = copy.read?.shard?.record;
    assert(shard !== undefined, "a session begins with the shard that was acquired");
    assert(shard.tenant === lease.tenant && shard.shard === lease.shard && shard.run === lease.run, "a session's lease is for its shard");
    this.#engine = engine;
    this.#copy = copy;
    this.#lease = lease;
    this.#capacity = capacity;
    this.#shard = shard;
    this.initialSnapshot = snapshotOf(shard);
  }

  /** Pass its `fence` on to whatever the worker writes to. */
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

  /** Where the last checkpoint stands. */
  get cursor(): Cursor {
    return this.#shard.cursor;
  }

  get spawned(): readonly ShardId[] {
    return this.#shard.spawned;
  }

  /** What the last answer told of the rest of the run. */
  get capacity(): CapacityHint {
    return this.#capacity;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether a call has answered that the shard is another's by now, or nobody's. Stop working on it. */
  get isLeaseLost(): boolean {
    return this.#isLeaseLost;
  }

  renew(): Promise<Result<RenewResult, RenewError | SessionError>> {
    return this.#run({
      make: () => shardOperations.renew({ tenant: this.tenant, lease: this.#lease }),
      tell: ({ newDeadline }) => {
        this.#lease = Lease.withDeadline(this.#lease, newDeadline);
        return { newDeadline, capacity: this.#capacity };
      },
    });
  }

  /** Store how far the work has come. */
  checkpoint(cursor: Cursor, options: CheckpointOptions = {}): Promise<Result<IdempotentOutcome<CheckpointResult>, CheckpointError | SessionError>> {
    return this.#run({
      make: () => shardOperations.checkpoint({ tenant: this.tenant, lease: this.#lease, opId: this.#opId(options), cursor, renew: isRenewal(options) }),
      tell: ({ kind, value }) => {
        // A replay moves no deadline, but the first execution may have.
        const isUnsaid = kind === "Replayed" && isRenewal(options) && this.#shard.lease !== undefined;
        return { kind, value: { newDeadline: isUnsaid ? this.#lease.deadline : value.newDeadline, capacity: this.#capacity } };
      },
    });
  }

  /** Cut a part off the range's upper end for somebody else. */
  splitResidual(plan: SplitResidualPlan, options: SessionOptions = {}): Promise<Result<IdempotentOutcome<SplitResidualResult>, SplitError | SessionError>> {
    return this.#run({
      make: () => shardOperations.splitResidual({ tenant: this.tenant, lease: this.#lease, opId: this.#opId(options), plan }),
      tell: (outcome) => IdempotentOutcome.map(outcome, ({ residual }) => ({ residual })),
    });
  }

  /** Say that the work is finished, at a cursor or with `RANGE_EXHAUSTED`. */
  complete(point: CompletionPoint, options: SessionOptions = {}): Promise<Result<IdempotentOutcome<void>, CompleteError | SessionError>> {
    return this.#run({
      isLast: true,
      make: () => shardOperations.complete({ tenant: this.tenant, lease: this.#lease, opId: this.#opId(options), point }),
      tell: withoutValue,
    });
  }

  /** Set the shard aside for a reason. */
  park(reason: ParkReason, options: SessionOptions = {}): Promise<Result<IdempotentOutcome<void>, ParkError | SessionError>> {
    return this.#run({
      isLast: true,
      make: () => shardOperations.park({ tenant: this.tenant, lease: this.#lease, opId: this.#opId(options), reason }),
      tell: withoutValue,
    });
  }

  /** Give the shard back, so that another can go on with it at once. */
  release(options: SessionOptions = {}): Promise<Result<IdempotentOutcome<void>, ReleaseError | SessionError>> {
    return this.#run({
      isLast: true,
      make: () => shardOperations.release({ tenant: this.tenant, lease: this.#lease, opId: this.#opId(options) }),
      tell: withoutValue,
    });
  }

  /** Replace the shard by children that tile its range. */
  splitReplace(plan: SplitReplacePlan, options: SessionOptions = {}): Promise<Result<IdempotentOutcome<SplitReplaceResult>, SplitError | SessionError>> {
    const { maxSplitChildren } = this.#engine;
    return this.#run({
      isLast: true,
      make: () => shardOperations.splitReplace({ tenant: this.tenant, lease: this.#lease, opId: this.#opId(options), plan }, maxSplitChildren),
      tell: (outcome) => IdempotentOutcome.map(outcome, ({ children }) => ({ children })),
    });
  }

  /** Release the shard where the session is still open. What comes of it is nobody's to hear: the lease runs out anyway. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isClosed && !this.#isLeaseLost) void (await this.release());
    this.#isClosed = true;
  }

  #opId(options: SessionOptions): OpId {
    const { opId } = optionsOf(options);
    return opId === undefined ? this.#engine.newOpId() : OpId.fromRaw(opId);
  }

  /** Run an operation in its turn: one at a time, in the order of the calls. */
  #run<Outcome, Told, Failure extends ErrorLike>(call: SessionCall<Outcome, Told, Failure>): Promise<Result<Told, Failure | BackendError | SessionError>> {
    if (!this.#isBusy) return this.#begin(call);
    return new Promise<void>((resolve) => this.#waiting.push(resolve)).then(() => this.#begin(call));
  }

  /** No async function, which would cost every checkpoint one more promise and turn. Nothing is thrown all the same. */
  #begin<Outcome, Told, Failure extends ErrorLike>(call: SessionCall<Outcome, Told, Failure>): Promise<Result<Told, Failure | BackendError | SessionError>> {
    this.#isBusy = true;
    try {
      if (this.#isClosed) {
        this.#passOn();
        return Promise.resolve(err(coordError("SessionClosed", { shard: this.shardKey })));
      }
      const ending: Ending<Outcome, Failure, Result<Told, Failure | BackendError>> = { told: (result) => this.#end(call, result), broken: this.#passOn };
      return Promise.resolve(carryOut(this.#engine, call.make(), { copy: this.#copy, ending }));
    } catch (reason) {
      this.#passOn();
      return Promise.reject(reason);
    }
  }

  #end<Outcome, Told, Failure extends ErrorLike>(
    call: SessionCall<Outcome, Told, Failure>,
    result: Result<Settled<Outcome>, Failure | BackendError>,
  ): Result<Told, Failure | BackendError> {
    const isGone = !result.ok && isLeaseGone(result.error);
    if (result.ok) this.#keep(result.value);
    if (isGone) this.#isLeaseLost = true;
    // Before the next in line is let in, so that it finds the session closed. What an earlier call learnt does not count: a store
    // that cannot be reached says nothing of this one, and its repeat may still be answered from the log.
    if (call.isLast === true && (result.ok || isGone)) this.#isClosed = true;
    const told = result.ok ? ok(call.tell(result.value.outcome)) : result;
    this.#passOn();
    return told;
  }

  /** The record's deadline is the one that counts: a renewal whose answer was lost has moved it all the same. */
  #followDeadline({ fenceEpoch, lease }: ShardRecord): void {
    const isOurs = fenceEpoch === this.#lease.fence && lease?.owner === this.#lease.owner;
    if (isOurs && lease.deadline > this.#lease.deadline) this.#lease = Lease.withDeadline(this.#lease, lease.deadline);
  }

  #keep({ read, hint }: Settled<unknown>): void {
    if (read.shard !== undefined) {
      this.#shard = read.shard.record;
      this.#followDeadline(read.shard.record);
    }
    if (hint !== undefined) this.#capacity = hint;
  }
}

function isRenewal(options: CheckpointOptions): boolean {
  const { renew = false } = optionsOf(options);
  assert(typeof renew === "boolean", () => `renew must be true or false, got ${typeof renew}`);
  return renew;
}

function withoutValue(outcome: IdempotentOutcome<unknown>): IdempotentOutcome<void> {
  return IdempotentOutcome.map(outcome, () => undefined);
}

/** The options, unless a caller without a compiler passed something else. */
function optionsOf<Options extends SessionOptions>(options: Options): Options {
  assert(typeof options === "object" && options !== null, () => `options must be an object, got ${options === null ? "null" : typeof options}`);
  return options;
}
