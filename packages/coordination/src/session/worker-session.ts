import type { Cursor, ParkReason, ShardId, ShardKey, ShardSpec, SplitReplacePlan, SplitResidualPlan, TenantId, WorkerId } from "@gossip/contracts";
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
import { carryOut, type Caller } from "../coordinator/carry-out.ts";
import type { Settled } from "../coordinator/shard-operation.ts";
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
import type { Eventually } from "../store/coordination-store.ts";
import { snapshotOf, type ShardSnapshot } from "../views/shard-snapshot.ts";
import { CheckpointCall, type CheckpointOptions } from "./checkpoint-call.ts";
import { Hold, type SessionOptions } from "./hold.ts";
import { isLeaseGone } from "./lease-gone.ts";
import type { SessionCall } from "./session-call.ts";

/** What a session begins with: a lease that was just given, and the shard as it was then. */
export interface SessionStart {
  readonly lease: Lease;
  readonly copy: ShardCopy;
  readonly capacity: CapacityHint;
}

interface ErrorLike {
  readonly kind: string;
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
  readonly #hold: Hold;
  /** The same for every call: there is one at a time. */
  readonly #caller: Caller<unknown, ErrorLike, Result<unknown, ErrorLike>>;
  readonly #waiting: (() => void)[] = [];
  /** The call whose turn it is. */
  #call: SessionCall<unknown, unknown, ErrorLike> | undefined;
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
    this.#hold = new Hold(engine, { lease, capacity, shard });
    this.#caller = { copy, told: (result) => this.#end(result), broken: this.#passOn };
    this.initialSnapshot = snapshotOf(shard);
  }

  /** Pass its `fence` on to whatever the worker writes to. */
  get lease(): Lease {
    return this.#hold.lease;
  }

  get tenant(): TenantId {
    return this.#hold.lease.tenant;
  }

  get worker(): WorkerId {
    return this.#hold.lease.owner;
  }

  get shardKey(): ShardKey {
    return Lease.shardKey(this.#hold.lease);
  }

  /** The range that is left: a residual split narrows it. */
  get spec(): ShardSpec {
    return this.#hold.shard.spec;
  }

  /** Where the last checkpoint stands. */
  get cursor(): Cursor {
    return this.#hold.shard.cursor;
  }

  get spawned(): readonly ShardId[] {
    return this.#hold.shard.spawned;
  }

  /** What the last answer told of the rest of the run. */
  get capacity(): CapacityHint {
    return this.#hold.capacity;
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
      make: () => shardOperations.renew({ tenant: this.tenant, lease: this.lease }),
      tell: ({ newDeadline }) => {
        this.#hold.extend(newDeadline);
        return { newDeadline, capacity: this.capacity };
      },
    });
  }

  /** Store how far the work has come. */
  checkpoint(cursor: Cursor, options: CheckpointOptions = {}): Promise<Result<IdempotentOutcome<CheckpointResult>, CheckpointError | SessionError>> {
    return this.#run(new CheckpointCall(this.#hold, cursor, options));
  }

  /** Cut a part off the range's upper end for somebody else. */
  splitResidual(plan: SplitResidualPlan, options: SessionOptions = {}): Promise<Result<IdempotentOutcome<SplitResidualResult>, SplitError | SessionError>> {
    return this.#run({
      make: () => shardOperations.splitResidual({ tenant: this.tenant, lease: this.lease, opId: this.#hold.opIdOf(options), plan }),
      tell: (outcome) => IdempotentOutcome.map(outcome, ({ residual }) => ({ residual })),
    });
  }

  /** Say that the work is finished, at a cursor or with `RANGE_EXHAUSTED`. */
  complete(point: CompletionPoint, options: SessionOptions = {}): Promise<Result<IdempotentOutcome<void>, CompleteError | SessionError>> {
    return this.#run({
      isLast: true,
      make: () => shardOperations.complete({ tenant: this.tenant, lease: this.lease, opId: this.#hold.opIdOf(options), point }),
      tell: withoutValue,
    });
  }

  /** Set the shard aside for a reason. */
  park(reason: ParkReason, options: SessionOptions = {}): Promise<Result<IdempotentOutcome<void>, ParkError | SessionError>> {
    return this.#run({
      isLast: true,
      make: () => shardOperations.park({ tenant: this.tenant, lease: this.lease, opId: this.#hold.opIdOf(options), reason }),
      tell: withoutValue,
    });
  }

  /** Give the shard back, so that another can go on with it at once. */
  release(options: SessionOptions = {}): Promise<Result<IdempotentOutcome<void>, ReleaseError | SessionError>> {
    return this.#run({
      isLast: true,
      make: () => shardOperations.release({ tenant: this.tenant, lease: this.lease, opId: this.#hold.opIdOf(options) }),
      tell: withoutValue,
    });
  }

  /** Replace the shard by children that tile its range. */
  splitReplace(plan: SplitReplacePlan, options: SessionOptions = {}): Promise<Result<IdempotentOutcome<SplitReplaceResult>, SplitError | SessionError>> {
    const { maxSplitChildren } = this.#engine;
    return this.#run({
      isLast: true,
      make: () => shardOperations.splitReplace({ tenant: this.tenant, lease: this.lease, opId: this.#hold.opIdOf(options), plan }, maxSplitChildren),
      tell: (outcome) => IdempotentOutcome.map(outcome, ({ children }) => ({ children })),
    });
  }

  /** Release the shard where the session is still open. What comes of it is nobody's to hear: the lease runs out anyway. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isClosed && !this.#isLeaseLost) void (await this.release());
    this.#isClosed = true;
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
      this.#call = call;
      const told = carryOut(this.#engine, call.make(), this.#caller);
      // `#end` tells it by this call, for as long as it is the one whose turn it is.
      return Promise.resolve(told as Eventually<Result<Told, Failure | BackendError>>);
    } catch (reason) {
      this.#passOn();
      return Promise.reject(reason);
    }
  }

  #end(result: Result<Settled<unknown>, ErrorLike>): Result<unknown, ErrorLike> {
    const call = this.#call!;
    const isGone = !result.ok && isLeaseGone(result.error);
    if (result.ok) this.#hold.keep(result.value);
    if (isGone) this.#isLeaseLost = true;
    // Before the next in line is let in, so that it finds the session closed. What an earlier call learnt does not count: a store
    // that cannot be reached says nothing of this one, and its repeat may still be answered from the log.
    if (call.isLast === true && (result.ok || isGone)) this.#isClosed = true;
    const told = result.ok ? ok(call.tell(result.value.outcome)) : result;
    this.#passOn();
    return told;
  }
}

function withoutValue(outcome: IdempotentOutcome<unknown>): IdempotentOutcome<void> {
  return IdempotentOutcome.map(outcome, () => undefined);
}
