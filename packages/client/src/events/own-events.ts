import { LogicalTime } from "@gossip/contracts";
import type {
  CheckpointRequest,
  CheckpointResult,
  CoordinationEvent,
  EventListener,
  EventStream,
  EventStreamOptions,
  Lease,
  LeasedRequest,
  ParkRequest,
  RenewResult,
  RunRecord,
  RunRequest,
  SplitReplaceResult,
  SplitResidualResult,
} from "@gossip/coordination";
import { EventHub } from "@gossip/coordination/internal";
import type { IdempotentOutcome } from "@gossip/coordination-errors";
import { Redacted, type Result } from "@gossip/stdx";

type Outcome<T, E> = Result<IdempotentOutcome<T>, E>;

/**
 * What this client did, as events.
 *
 * They are made here from the results, so that a worker learns at once of the shards that its own process frees. A stream
 * of everything from the server would send every worker what all of them do.
 */
export class OwnEvents {
  readonly #hub = new EventHub();

  listen(listener: EventListener): () => void {
    return this.#hub.listen(listener);
  }

  stream(options?: EventStreamOptions): EventStream {
    return this.#hub.stream(options);
  }

  get isHeard(): boolean {
    return this.#hub.isHeard;
  }

  get failedCalls(): number {
    return this.#hub.failedCalls;
  }

  acquired(lease: Lease): void {
    this.#emit(lease, (at) => ({
      ...at,
      kind: "ShardAcquired",
      shard: lease.shard,
      worker: lease.owner,
      fenceEpoch: lease.fence,
    }));
  }

  renewed<E>({ lease }: LeasedRequest, result: Result<RenewResult, E>): Result<RenewResult, E> {
    if (result.ok) {
      const { newDeadline } = result.value;
      this.#emit(lease, (at) => ({ ...at, kind: "ShardLeaseRenewed", shard: lease.shard, newDeadline }));
    }
    return result;
  }

  checkpointed<E>({ lease, cursor }: CheckpointRequest, result: Outcome<CheckpointResult, E>): typeof result {
    const { lastKey } = cursor;
    if (isExecuted(result) && lastKey !== undefined)
      this.#emit(lease, (at) => ({
        ...at,
        kind: "ShardCheckpointed",
        shard: lease.shard,
        lastKey: new Redacted(lastKey),
        lastKeySize: lastKey.length,
      }));
    return result;
  }

  completed<E>({ lease }: LeasedRequest, result: Outcome<void, E>): typeof result {
    if (isExecuted(result)) this.#emit(lease, (at) => ({ ...at, kind: "ShardCompleted", shard: lease.shard }));
    return result;
  }

  parked<E>({ lease, reason }: ParkRequest, result: Outcome<void, E>): typeof result {
    if (isExecuted(result)) this.#emit(lease, (at) => ({ ...at, kind: "ShardParked", shard: lease.shard, reason }));
    return result;
  }

  released<E>({ lease }: LeasedRequest, result: Outcome<void, E>): typeof result {
    if (isExecuted(result)) this.#emit(lease, (at) => ({ ...at, kind: "ShardReleased", shard: lease.shard }));
    return result;
  }

  split<E>({ lease }: LeasedRequest, result: Outcome<SplitReplaceResult, E>): typeof result {
    if (isExecuted(result)) {
      const { children } = result.value.value;
      this.#emit(lease, (at) => ({ ...at, kind: "ShardSplit", parent: lease.shard, children }));
    }
    return result;
  }

  residual<E>({ lease }: LeasedRequest, result: Outcome<SplitResidualResult, E>): typeof result {
    if (isExecuted(result)) {
      const { residual } = result.value.value;
      this.#emit(lease, (at) => ({ ...at, kind: "ShardResidualCreated", parent: lease.shard, residual }));
    }
    return result;
  }

  created(request: RunRequest): void {
    this.#emit(request, (at) => ({ ...at, kind: "RunCreated" }));
  }

  activated(request: RunRequest, shardCount: number): void {
    this.#emit(request, (at) => ({ ...at, kind: "RunActivated", shardCount }));
  }

  /** A run was created with its shards, or got them after it was created. */
  registered<E>(result: Outcome<RunRecord, E>): typeof result {
    if (isExecuted(result)) {
      const record = result.value.value;
      // A run that was created before was written at an earlier time.
      if (record.createdAt === record.lastTime) this.created(record);
      this.activated(record, record.rootShards.length);
    }
    return result;
  }

  ended<E>(kind: "RunCompleted" | "RunFailed" | "RunCancelled", result: Outcome<RunRecord, E>): typeof result {
    if (isExecuted(result)) this.#emit(result.value.value, (at) => ({ ...at, kind }));
    return result;
  }

  deleted(request: RunRequest): void {
    this.#emit(request, (at) => ({ ...at, kind: "RunDeleted" }));
  }

  #emit(
    { tenant, run }: RunRequest,
    make: (envelope: Pick<CoordinationEvent, "tenant" | "run" | "at">) => CoordinationEvent,
  ): void {
    if (!this.#hub.isHeard) return;
    this.#hub.emit([make({ tenant, run, at: LogicalTime.fromRaw(BigInt(Date.now())) })]);
  }
}

function isExecuted<T, E>(
  result: Outcome<T, E>,
): result is { readonly ok: true; readonly value: { kind: "Executed"; value: T } } {
  return result.ok && result.value.kind === "Executed";
}
