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
  Lease,
  type CapacityHint,
  type CheckpointOptions,
  type CheckpointResult,
  type CompleteOptions,
  type CompletionPoint,
  type LoggedRequest,
  type ParkOptions,
  type RenewResult,
  type SessionOptions,
  type ShardSnapshot,
  type SplitReplaceResult,
  type SplitResidualResult,
  type WorkerSession,
} from "@gossip/coordination";
import {
  coordError,
  type CheckpointError,
  type CompleteError,
  type IdempotentOutcome,
  type ParkError,
  type ReleaseError,
  type RenewError,
  type SessionError,
  type SplitError,
} from "@gossip/coordination-errors";
import { isLeaseGone, Turns } from "@gossip/coordination/internal";
import { assert, compareBytes, err, ok, type Result } from "@gossip/stdx";
import type { Granted, LeasedCalls } from "../calls/leased-calls.ts";

/** What a session needs of its client. */
export interface SessionHost {
  readonly calls: Pick<
    LeasedCalls,
    "renew" | "submitCheckpoint" | "complete" | "park" | "release" | "splitReplace" | "splitResidual"
  >;
  readonly newOpId: () => OpId;
}

/** A session whose coordinator is at the other end of a network. It behaves as one in this process. */
export class RemoteSession implements WorkerSession {
  readonly initialSnapshot: ShardSnapshot;
  readonly isReplay: boolean;
  readonly #host: SessionHost;
  readonly #turns = new Turns();
  #lease: Lease;
  #spec: ShardSpec;
  #cursor: Cursor;
  #spawned: readonly ShardId[];
  #capacity: CapacityHint;
  #attempts: number;
  #isClosed = false;
  #isLeaseLost = false;

  constructor(host: SessionHost, { lease, snapshot, capacity, isReplay, attempts }: Granted) {
    this.#host = host;
    this.initialSnapshot = snapshot;
    this.isReplay = isReplay;
    this.#lease = lease;
    this.#spec = snapshot.spec;
    this.#cursor = snapshot.cursor;
    this.#spawned = snapshot.spawned;
    this.#capacity = capacity;
    this.#attempts = attempts;
  }

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

  get spec(): ShardSpec {
    return this.#spec;
  }

  get cursor(): Cursor {
    return this.#cursor;
  }

  get attempts(): number {
    return this.#attempts;
  }

  get spawned(): readonly ShardId[] {
    return this.#spawned;
  }

  get capacity(): CapacityHint {
    return this.#capacity;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isLeaseLost(): boolean {
    return this.#isLeaseLost;
  }

  renew(): Promise<Result<RenewResult, RenewError | SessionError>> {
    return this.#run(
      () => this.#host.calls.renew({ tenant: this.tenant, lease: this.#lease }),
      (result) => {
        this.#capacity = result.capacity;
        this.#extend(result.newDeadline);
        return result;
      },
    );
  }

  checkpoint(
    cursor: Cursor,
    options: CheckpointOptions = {},
  ): Promise<Result<IdempotentOutcome<CheckpointResult>, CheckpointError | SessionError>> {
    return this.#turns.isTaken
      ? this.#turns.wait().then(() => this.#checkpoint(cursor, options))
      : this.#checkpoint(cursor, options);
  }

  /** As `#run` does, with one promise: this is what sessions do all day. */
  #checkpoint(
    cursor: Cursor,
    options: CheckpointOptions,
  ): Promise<Result<IdempotentOutcome<CheckpointResult>, CheckpointError | SessionError>> {
    this.#turns.take();
    return new Promise((resolve, reject) => {
      const fail = (thrown: unknown): void => {
        this.#turns.pass();
        reject(thrown as Error);
      };
      try {
        if (this.#isClosed) {
          resolve(err(coordError("SessionClosed", { shard: this.shardKey })));
          return this.#turns.pass();
        }
        const { tenant, lease, opId } = this.#request(options);
        const { renew = false, failures } = options;
        assert(typeof renew === "boolean", () => `renew must be true or false, got ${typeof renew}`);
        const request = { tenant, lease, opId, cursor, renew, failures };
        this.#host.calls.submitCheckpoint(request, {
          settle: (got) => {
            resolve(this.#checkpointed(got, request));
            this.#turns.pass();
          },
          reject: fail,
        });
      } catch (thrown) {
        fail(thrown);
      }
    });
  }

  #checkpointed<E extends { readonly kind: string }>(
    got: Result<IdempotentOutcome<CheckpointResult>, E>,
    { cursor, renew }: { readonly cursor: Cursor; readonly renew: boolean },
  ): typeof got {
    if (!got.ok) {
      if (isLeaseGone(got.error)) this.#isLeaseLost = true;
      return got;
    }
    const { kind, value } = got.value;
    const { newDeadline, capacity } = value;
    this.#capacity = capacity;
    // A replay may repeat an older checkpoint than the last one: the cursor stays where it is.
    if (kind === "Executed") this.#advance(cursor);
    if (newDeadline !== undefined) this.#extend(newDeadline);
    if (newDeadline !== undefined || kind === "Executed" || !renew) return got;
    return ok({ kind, value: { newDeadline: this.#lease.deadline, capacity } });
  }

  splitResidual(
    plan: SplitResidualPlan,
    options: SessionOptions = {},
  ): Promise<Result<IdempotentOutcome<SplitResidualResult>, SplitError | SessionError>> {
    return this.#run(
      () => this.#host.calls.splitResidual({ ...this.#request(options), plan }),
      (outcome) => {
        const { residual } = outcome.value;
        if (!this.#spawned.includes(residual)) {
          this.#spec = plan.parentNewSpec as ShardSpec;
          this.#spawned = [...this.#spawned, residual];
        }
        return outcome;
      },
    );
  }

  complete(
    point: CompletionPoint,
    options: CompleteOptions = {},
  ): Promise<Result<IdempotentOutcome<void>, CompleteError | SessionError>> {
    return this.#run(
      () => this.#host.calls.complete({ ...this.#request(options), point, failures: options.failures }),
      (outcome) => {
        if (typeof point !== "symbol") this.#advance(point);
        return outcome;
      },
      true,
    );
  }

  park(
    reason: ParkReason,
    options: ParkOptions = {},
  ): Promise<Result<IdempotentOutcome<void>, ParkError | SessionError>> {
    return this.#run(
      () => this.#host.calls.park({ ...this.#request(options), reason, detail: options.detail }),
      asItIs,
      true,
    );
  }

  release(options: SessionOptions = {}): Promise<Result<IdempotentOutcome<void>, ReleaseError | SessionError>> {
    return this.#run(() => this.#host.calls.release(this.#request(options)), asItIs, true);
  }

  splitReplace(
    plan: SplitReplacePlan,
    options: SessionOptions = {},
  ): Promise<Result<IdempotentOutcome<SplitReplaceResult>, SplitError | SessionError>> {
    return this.#run(
      () => this.#host.calls.splitReplace({ ...this.#request(options), plan }),
      (outcome) => {
        this.#spawned = [...this.#spawned, ...outcome.value.children];
        return outcome;
      },
      true,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isClosed && !this.#isLeaseLost) void (await this.release());
    this.#isClosed = true;
  }

  /** Execute a call in its turn: one at a time, in the order of the calls. */
  async #run<Got, Told, Failure extends { readonly kind: string }>(
    ask: () => Promise<Result<Got, Failure>>,
    follow: (got: Got) => Told,
    isLast = false,
  ): Promise<Result<Told, Failure | SessionError>> {
    if (this.#turns.isTaken) await this.#turns.wait();
    this.#turns.take();
    try {
      if (this.#isClosed) return err(coordError("SessionClosed", { shard: this.shardKey }));
      const got = await ask();
      const isGone = !got.ok && isLeaseGone(got.error);
      if (isGone) this.#isLeaseLost = true;
      if (isLast && (got.ok || isGone)) this.#isClosed = true;
      return got.ok ? ok(follow(got.value)) : got;
    } finally {
      this.#turns.pass();
    }
  }

  #advance(cursor: Cursor): void {
    const { lastKey } = this.#cursor;
    // Repeating a key is no progress.
    if (cursor.lastKey !== undefined && (lastKey === undefined || compareBytes(cursor.lastKey, lastKey) > 0))
      this.#attempts = 0;
    this.#cursor = cursor;
  }

  #extend(deadline: Lease["deadline"]): void {
    if (deadline > this.#lease.deadline) this.#lease = Lease.withDeadline(this.#lease, deadline);
  }

  #request(options: SessionOptions): LoggedRequest {
    assert(
      typeof options === "object" && options !== null,
      () => `options must be an object, got ${options === null ? "null" : typeof options}`,
    );
    const opId = OpId.fromRaw(options.opId ?? this.#host.newOpId());
    return { tenant: this.tenant, lease: this.#lease, opId };
  }
}

function asItIs<T>(value: T): T {
  return value;
}
