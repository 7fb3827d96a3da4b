import type { LogicalTime, OpId, ShardId, ShardKey } from "@gossip/contracts";
import {
  RANGE_EXHAUSTED,
  type AcquireResult,
  type CheckpointRequest,
  type CheckpointResult,
  type CompleteRequest,
  type LeasedRequest,
  type LoggedRequest,
  type ParkRequest,
  type RenewResult,
  type SplitReplaceRequest,
  type SplitReplaceResult,
  type SplitResidualRequest,
  type SplitResidualResult,
} from "@gossip/coordination";
import {
  type AcquireError,
  type CheckpointError,
  type CompleteError,
  type IdempotentOutcome,
  type ParkError,
  type ReleaseError,
  type RenewError,
  type SplitError,
} from "@gossip/coordination-errors";
import {
  MAX_FAILURES,
  readCapacity,
  readSnapshot,
  writeCursor,
  writeId,
  writeNewDetail,
  writeNewFailure,
  writeRange,
  type ResponseOf,
  type SessionWire,
} from "@gossip/protocol";
import { assert, assertCount, compareBytes, ok, type Result } from "@gossip/stdx";
import type { OwnEvents } from "../events/own-events.ts";
import type { Caller } from "./caller.ts";
import type { CheckpointSettling } from "./checkpoint-queue.ts";
import { readCheckpoint, type Checkpointed } from "./read-checkpoint.ts";
import { failed, value } from "./read-response.ts";
import { checkpointElement, present } from "./write-element.ts";

/** A session as the server sent it. */
export interface Granted extends AcquireResult {
  readonly isReplay: boolean;
  readonly attempts: number;
  /** Most failures that one checkpoint can record, if that is fewer than the protocol allows. */
  readonly maxFailures?: number;
}

export function readSession({ lease, shard, capacity, isReplay, attempts, maxFailures }: SessionWire): Granted {
  return value((read) => ({
    lease: read.lease(lease),
    snapshot: readSnapshot(read, shard),
    capacity: readCapacity(read, capacity),
    isReplay,
    attempts,
    ...(maxFailures === undefined ? {} : { maxFailures }),
  }));
}

/**
 * The calls of a lease holder, over the network.
 *
 * Requests are not checked here: those of a session hold what the server sent, and `GossipClient` checks those of others.
 */
export class LeasedCalls {
  readonly #caller: Caller;
  readonly #events: OwnEvents;

  constructor(caller: Caller, events: OwnEvents) {
    this.#caller = caller;
    this.#events = events;
  }

  async acquire(request: {
    readonly tenant: string;
    readonly key: ShardKey;
    readonly worker: bigint;
    readonly opId: OpId;
  }): Promise<Result<Granted, AcquireError>> {
    const { tenant, key, worker, opId } = request;
    const got = await this.#caller.element("acquire", {
      tenant,
      run: writeId(key.run),
      shard: writeId(key.shard),
      worker: writeId(worker),
      opId: writeId(opId),
    });
    return got.ok ? ok(readSession(got.value)) : failed("acquire", got.error);
  }

  async renew(request: LeasedRequest): Promise<Result<RenewResult, RenewError>> {
    const { tenant, lease } = request;
    const got = await this.#caller.element("renew", { lease: present(tenant, lease) });
    if (!got.ok) return failed("renew", got.error);
    const { deadline, capacity } = got.value;
    const result = value((read) => ({
      newDeadline: read.u64<LogicalTime>(deadline, "deadline"),
      capacity: readCapacity(read, capacity),
    }));
    return this.#events.renewed(request, ok(result));
  }

  checkpoint(request: CheckpointRequest): Promise<Result<IdempotentOutcome<CheckpointResult>, CheckpointError>> {
    return new Promise((settle, reject) => this.submitCheckpoint(request, { settle, reject }));
  }

  /** As `checkpoint`, without a promise. Hot. */
  submitCheckpoint(request: CheckpointRequest, { settle, reject }: CheckpointSettling): void {
    const call = {
      settle: (result: Checkpointed): void => settle(this.#events.checkpointed(request, result)),
      reject,
    };
    if (request.failures === undefined) return this.#caller.checkpoint(request, call);
    const element = { ...checkpointElement(request), ...skipped(request.failures, request.cursor.lastKey) };
    this.#caller.submit("checkpoint", element, {
      settle: (got) => call.settle(readCheckpoint(got)),
      reject,
      waitMs: 0,
    });
  }

  async complete(request: CompleteRequest): Promise<Result<IdempotentOutcome<void>, CompleteError>> {
    const { point } = request;
    const where = point === RANGE_EXHAUSTED ? { isExhausted: true as const } : { cursor: writeCursor(point) };
    const got = await this.#caller.element("complete", { ...logged(request), ...where, ...skipped(request.failures) });
    return got.ok ? this.#events.completed(request, outcomeOf(got.value)) : failed("complete", got.error);
  }

  async park(request: ParkRequest): Promise<Result<IdempotentOutcome<void>, ParkError>> {
    const { reason, detail } = request;
    const got = await this.#caller.element("park", {
      ...logged(request),
      reason,
      ...(detail === undefined ? {} : { detail: writeNewDetail(detail) }),
    });
    return got.ok ? this.#events.parked(request, outcomeOf(got.value)) : failed("park", got.error);
  }

  async release(request: LoggedRequest): Promise<Result<IdempotentOutcome<void>, ReleaseError>> {
    const got = await this.#caller.element("release", logged(request));
    return got.ok ? this.#events.released(request, outcomeOf(got.value)) : failed("release", got.error);
  }

  async splitReplace(request: SplitReplaceRequest): Promise<Result<IdempotentOutcome<SplitReplaceResult>, SplitError>> {
    const parts = request.plan.children.map(({ spec, cursor }) => ({
      range: writeRange(spec),
      cursor: writeCursor(cursor),
    }));
    const got = await this.#caller.element("splitReplace", { ...logged(request), children: parts });
    if (!got.ok) return failed("split", got.error);
    const { outcome, children: ids } = got.value;
    const children = value((read) => ids.map((id) => read.id<ShardId>(id)));
    return this.#events.split(request, ok({ kind: outcome, value: { children } }));
  }

  async splitResidual(
    request: SplitResidualRequest,
  ): Promise<Result<IdempotentOutcome<SplitResidualResult>, SplitError>> {
    const { parentNewSpec, residualSpec } = request.plan;
    const got = await this.#caller.element("splitResidual", {
      ...logged(request),
      range: writeRange(parentNewSpec),
      residual: writeRange(residualSpec),
    });
    if (!got.ok) return failed("split", got.error);
    const { outcome, residual } = got.value;
    const id = value((read) => read.id<ShardId>(residual));
    return this.#events.residual(request, ok({ kind: outcome, value: { residual: id } }));
  }
}

function outcomeOf({ outcome }: ResponseOf<"release">) {
  return ok({ kind: outcome, value: undefined });
}

function skipped(failures: CheckpointRequest["failures"], upTo?: Uint8Array) {
  if (failures !== undefined) assertCount(failures.length, "number of failures", { min: 0, max: MAX_FAILURES });
  for (const { key } of failures ?? [])
    assert(upTo === undefined || compareBytes(key, upTo) <= 0, "the key of a failure must not lie above the cursor");
  return failures === undefined || failures.length === 0 ? {} : { failures: failures.map(writeNewFailure) };
}

function logged({ tenant, lease, opId }: LoggedRequest) {
  return { lease: present(tenant, lease), opId: writeId(opId) };
}
