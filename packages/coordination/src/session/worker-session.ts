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
import { runShardOperation, type Settled, type ShardOperation } from "../coordinator/shard-operation.ts";
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

  async renew(): Promise<Result<RenewResult, RenewError | SessionError>> {
    const settled = await this.#run(() => shardOperations.renew({ tenant: this.tenant, lease: this.#lease }));
    if (!settled.ok) return settled;
    const { outcome } = settled.value;
    this.#lease = Lease.withDeadline(this.#lease, outcome.newDeadline);
    return ok({ newDeadline: outcome.newDeadline, capacity: this.#capacity });
  }

  /** Store how far the work has come. */
  async checkpoint(cursor: Cursor, options: CheckpointOptions = {}): Promise<Result<IdempotentOutcome<CheckpointResult>, CheckpointError | SessionError>> {
    const { renew = false } = optionsOf(options);
    assert(typeof renew === "boolean", () => `renew must be true or false, got ${typeof renew}`);
    const settled = await this.#run(() => shardOperations.checkpoint({ tenant: this.tenant, lease: this.#lease, opId: this.#opId(options), cursor, renew }));
    if (!settled.ok) return settled;
    const { outcome } = settled.value;
    // A replay moves no deadline, but the first execution may have.
    const isUnsaid = outcome.kind === "Replayed" && renew && this.#shard.lease !== undefined;
    const newDeadline = isUnsaid ? this.#lease.deadline : outcome.value.newDeadline;
    return ok({ kind: outcome.kind, value: { newDeadline, capacity: this.#capacity } });
  }

  /** Cut a part off the range's upper end for somebody else. */
  async splitResidual(plan: SplitResidualPlan, options: SessionOptions = {}): Promise<Result<IdempotentOutcome<SplitResidualResult>, SplitError | SessionError>> {
    const settled = await this.#run(() => shardOperations.splitResidual({ tenant: this.tenant, lease: this.#lease, opId: this.#opId(options), plan }));
    if (!settled.ok) return settled;
    return ok(IdempotentOutcome.map(settled.value.outcome, ({ residual }) => ({ residual })));
  }

  /** Say that the work is finished, at a cursor or with `RANGE_EXHAUSTED`. */
  async complete(point: CompletionPoint, options: SessionOptions = {}): Promise<Result<IdempotentOutcome<void>, CompleteError | SessionError>> {
    const settled = await this.#runLast(() => shardOperations.complete({ tenant: this.tenant, lease: this.#lease, opId: this.#opId(options), point }));
    return settled.ok ? ok(IdempotentOutcome.map(settled.value.outcome, () => undefined)) : settled;
  }

  /** Set the shard aside for a reason. */
  async park(reason: ParkReason, options: SessionOptions = {}): Promise<Result<IdempotentOutcome<void>, ParkError | SessionError>> {
    const settled = await this.#runLast(() => shardOperations.park({ tenant: this.tenant, lease: this.#lease, opId: this.#opId(options), reason }));
    return settled.ok ? ok(IdempotentOutcome.map(settled.value.outcome, () => undefined)) : settled;
  }

  /** Give the shard back, so that another can go on with it at once. */
  async release(options: SessionOptions = {}): Promise<Result<IdempotentOutcome<void>, ReleaseError | SessionError>> {
    const settled = await this.#runLast(() => shardOperations.release({ tenant: this.tenant, lease: this.#lease, opId: this.#opId(options) }));
    return settled.ok ? ok(IdempotentOutcome.map(settled.value.outcome, () => undefined)) : settled;
  }

  /** Replace the shard by children that tile its range. */
  async splitReplace(plan: SplitReplacePlan, options: SessionOptions = {}): Promise<Result<IdempotentOutcome<SplitReplaceResult>, SplitError | SessionError>> {
    const { maxSplitChildren } = this.#engine;
    const settled = await this.#runLast(() =>
      shardOperations.splitReplace({ tenant: this.tenant, lease: this.#lease, opId: this.#opId(options), plan }, maxSplitChildren),
    );
    if (!settled.ok) return settled;
    return ok(IdempotentOutcome.map(settled.value.outcome, ({ children }) => ({ children })));
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
  async #run<Outcome, Failure extends { readonly kind: string }>(
    makeOperation: () => ShardOperation<Outcome, Failure>,
    { isLast = false } = {},
  ): Promise<Result<Settled<Outcome>, Failure | SessionError>> {
    if (this.#isBusy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isBusy = true;
    try {
      if (this.#isClosed) return err(coordError("SessionClosed", { shard: this.shardKey }));
      const running = runShardOperation(this.#engine, makeOperation(), this.#copy);
      const settled = running instanceof Promise ? await running : running;
      const isGone = !settled.ok && isLeaseGone(settled.error);
      if (settled.ok) this.#keep(settled.value);
      if (isGone) this.#isLeaseLost = true;
      // Before the next in line is let in, so that it finds the session closed. What an earlier call learnt does not count: a store
      // that cannot be reached says nothing of this one, and its repeat may still be answered from the log.
      if (isLast && (settled.ok || isGone)) this.#isClosed = true;
      return settled as Result<Settled<Outcome>, Failure>;
    } finally {
      // The next in line takes over as it is: nobody who comes now can slip in between.
      const next = this.#waiting.shift();
      if (next === undefined) this.#isBusy = false;
      else next();
    }
  }

  /** The same for an operation that ends the session where it succeeds, or where there is no lease to end. */
  #runLast<Outcome, Failure extends { readonly kind: string }>(
    makeOperation: () => ShardOperation<Outcome, Failure>,
  ): Promise<Result<Settled<Outcome>, Failure | SessionError>> {
    return this.#run(makeOperation, { isLast: true });
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

/** The options, unless a caller without a compiler passed something else. */
function optionsOf<Options extends SessionOptions>(options: Options): Options {
  assert(typeof options === "object" && options !== null, () => `options must be an object, got ${options === null ? "null" : typeof options}`);
  return options;
}
