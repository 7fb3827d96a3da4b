import type {
  Cursor,
  ParkReason,
  ShardId,
  ShardKey,
  ShardSpec,
  SplitReplacePlan,
  SplitResidualPlan,
  TenantId,
  WorkerId,
} from "@gossip/contracts";
import {
  IdempotentOutcome,
  type CheckpointError,
  type CompleteError,
  type ParkError,
  type ReleaseError,
  type RenewError,
  type SessionError,
  type SplitError,
} from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import type { Engine } from "../coordinator/engine.ts";
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
import { snapshotOf, type ShardSnapshot } from "../views/shard-snapshot.ts";
import { CheckpointCall, type CheckpointOptions } from "./checkpoint-call.ts";
import { CompleteCall } from "./complete-call.ts";
import { Hold, NO_OPTIONS, type SessionOptions, type SessionStart } from "./hold.ts";
import { withoutValue } from "../coordinator/without-value.ts";

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
  /** Whether the acquire that opened the session was a replay: the worker held this lease already, by the same op id. */
  readonly isReplay: boolean;
  readonly #engine: Engine;
  readonly #hold: Hold;

  /** @internal Sessions come from a coordinator. */
  constructor(engine: Engine, start: SessionStart) {
    this.#engine = engine;
    this.#hold = new Hold(engine, start);
    this.isReplay = start.isReplay;
    this.initialSnapshot = snapshotOf(this.#hold.shard);
  }

  /** The lease as of the last call. See `Lease` for what its fence can and cannot order. */
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
    return this.#hold.isClosed;
  }

  /** Whether a call has answered that the shard is another's by now, or nobody's. Stop working on it. */
  get isLeaseLost(): boolean {
    return this.#hold.isLeaseLost;
  }

  renew(): Promise<Result<RenewResult, RenewError | SessionError>> {
    return this.#hold.run({
      make: () => shardOperations.renew({ tenant: this.tenant, lease: this.lease }),
      tell: ({ newDeadline }) => {
        this.#hold.extend(newDeadline);
        return { newDeadline, capacity: this.capacity };
      },
    });
  }

  /** Store how far the work has come. */
  checkpoint(
    cursor: Cursor,
    options: CheckpointOptions = NO_OPTIONS,
  ): Promise<Result<IdempotentOutcome<CheckpointResult>, CheckpointError | SessionError>> {
    return this.#hold.run(new CheckpointCall(this.#hold, cursor, options));
  }

  /** Cut a part off the range's upper end for somebody else. */
  splitResidual(
    plan: SplitResidualPlan,
    options: SessionOptions = NO_OPTIONS,
  ): Promise<Result<IdempotentOutcome<SplitResidualResult>, SplitError | SessionError>> {
    return this.#hold.run({
      make: () =>
        shardOperations.splitResidual({
          tenant: this.tenant,
          lease: this.lease,
          opId: this.#hold.opIdOf(options),
          plan,
        }),
      tell: (outcome) => IdempotentOutcome.map(outcome, ({ residual }) => ({ residual })),
    });
  }

  /** Say that the work is finished, at a cursor or with `RANGE_EXHAUSTED`. */
  complete(
    point: CompletionPoint,
    options: SessionOptions = NO_OPTIONS,
  ): Promise<Result<IdempotentOutcome<void>, CompleteError | SessionError>> {
    return this.#hold.run(new CompleteCall(this.#hold, point, options));
  }

  /** Set the shard aside for a reason. */
  park(
    reason: ParkReason,
    options: SessionOptions = NO_OPTIONS,
  ): Promise<Result<IdempotentOutcome<void>, ParkError | SessionError>> {
    return this.#hold.run({
      isLast: true,
      make: () =>
        shardOperations.park({ tenant: this.tenant, lease: this.lease, opId: this.#hold.opIdOf(options), reason }),
      tell: withoutValue,
    });
  }

  /** Give the shard back, so that another can go on with it at once. */
  release(options: SessionOptions = NO_OPTIONS): Promise<Result<IdempotentOutcome<void>, ReleaseError | SessionError>> {
    return this.#hold.run({
      isLast: true,
      make: () => shardOperations.release({ tenant: this.tenant, lease: this.lease, opId: this.#hold.opIdOf(options) }),
      tell: withoutValue,
    });
  }

  /** Replace the shard by children that tile its range. */
  splitReplace(
    plan: SplitReplacePlan,
    options: SessionOptions = NO_OPTIONS,
  ): Promise<Result<IdempotentOutcome<SplitReplaceResult>, SplitError | SessionError>> {
    const { maxSplitChildren } = this.#engine;
    return this.#hold.run({
      isLast: true,
      make: () =>
        shardOperations.splitReplace(
          { tenant: this.tenant, lease: this.lease, opId: this.#hold.opIdOf(options), plan },
          maxSplitChildren,
        ),
      tell: (outcome) => IdempotentOutcome.map(outcome, ({ children }) => ({ children })),
    });
  }

  /** Release the shard where the session is still open. What comes of it is nobody's to hear: the lease runs out anyway. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isClosed && !this.isLeaseLost) void (await this.release());
    this.#hold.close();
  }
}
