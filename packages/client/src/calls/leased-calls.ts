import type { LogicalTime, OpId, ShardId, ShardKey } from "@gossip/contracts";
import {
  RANGE_EXHAUSTED,
  type AcquireResult,
  type CheckpointRequest,
  type CheckpointResult,
  type CompleteRequest,
  type Lease,
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
  narrowCoordError,
  type AcquireError,
  type AnyCoordError,
  type CheckpointError,
  type CompleteError,
  type ErrorOf,
  type IdempotentOutcome,
  type Operation,
  type ParkError,
  type ReleaseError,
  type RenewError,
  type SplitError,
} from "@gossip/coordination-errors";
import {
  MAX_FAILURES,
  readCapacity,
  readSnapshot,
  WireReader,
  writeCursor,
  writeId,
  writeLease,
  writeNewDetail,
  writeNewFailure,
  writeRange,
  type SessionWire,
} from "@gossip/protocol";
import { assert, assertCount, compareBytes, err, ok, type Result } from "@gossip/stdx";
import type { Caller } from "./caller.ts";

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

/** The calls of a lease holder, over the network. */
export class LeasedCalls {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
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

  async renew({ tenant, lease }: LeasedRequest): Promise<Result<RenewResult, RenewError>> {
    const got = await this.#caller.element("renew", { lease: present(tenant, lease) });
    if (!got.ok) return failed("renew", got.error);
    const { deadline, capacity } = got.value;
    return ok(
      value((read) => ({
        newDeadline: read.u64<LogicalTime>(deadline, "deadline"),
        capacity: readCapacity(read, capacity),
      })),
    );
  }

  async checkpoint(request: CheckpointRequest): Promise<Result<IdempotentOutcome<CheckpointResult>, CheckpointError>> {
    const { cursor, renew = false, failures } = request;
    const got = await this.#caller.element("checkpoint", {
      ...logged(request),
      cursor: writeCursor(cursor),
      renew,
      ...skipped(failures, cursor.lastKey),
    });
    if (!got.ok) return failed("checkpoint", got.error);
    const { outcome, deadline, capacity } = got.value;
    const result = value((read) => ({
      newDeadline: deadline === undefined ? undefined : read.u64<LogicalTime>(deadline, "deadline"),
      capacity: readCapacity(read, capacity),
    }));
    return ok({ kind: outcome, value: result });
  }

  async complete(request: CompleteRequest): Promise<Result<IdempotentOutcome<void>, CompleteError>> {
    const { point } = request;
    const where = point === RANGE_EXHAUSTED ? { isExhausted: true as const } : { cursor: writeCursor(point) };
    const got = await this.#caller.element("complete", { ...logged(request), ...where, ...skipped(request.failures) });
    return got.ok ? ok({ kind: got.value.outcome, value: undefined }) : failed("complete", got.error);
  }

  async park(request: ParkRequest): Promise<Result<IdempotentOutcome<void>, ParkError>> {
    const { reason, detail } = request;
    const got = await this.#caller.element("park", {
      ...logged(request),
      reason,
      ...(detail === undefined ? {} : { detail: writeNewDetail(detail) }),
    });
    return got.ok ? ok({ kind: got.value.outcome, value: undefined }) : failed("park", got.error);
  }

  async release(request: LoggedRequest): Promise<Result<IdempotentOutcome<void>, ReleaseError>> {
    const got = await this.#caller.element("release", logged(request));
    return got.ok ? ok({ kind: got.value.outcome, value: undefined }) : failed("release", got.error);
  }

  async splitReplace(request: SplitReplaceRequest): Promise<Result<IdempotentOutcome<SplitReplaceResult>, SplitError>> {
    const children = request.plan.children.map(({ spec, cursor }) => ({
      range: writeRange(spec),
      cursor: writeCursor(cursor),
    }));
    const got = await this.#caller.element("splitReplace", { ...logged(request), children });
    if (!got.ok) return failed("split", got.error);
    const { outcome, children: ids } = got.value;
    return ok({ kind: outcome, value: value((read) => ({ children: ids.map((id) => read.id<ShardId>(id)) })) });
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
    return ok({ kind: outcome, value: value((read) => ({ residual: read.id<ShardId>(residual) })) });
  }
}

function skipped(failures: CheckpointRequest["failures"], upTo?: Uint8Array) {
  if (failures !== undefined) assertCount(failures.length, "number of failures", { min: 0, max: MAX_FAILURES });
  for (const { key } of failures ?? [])
    assert(upTo === undefined || compareBytes(key, upTo) <= 0, "the key of a failure must not lie above the cursor");
  return failures === undefined || failures.length === 0 ? {} : { failures: failures.map(writeNewFailure) };
}

/** The lease under the tenant that the caller names. */
export function present(tenant: string, lease: Lease) {
  const wire = writeLease(lease);
  return tenant === lease.tenant ? wire : { ...wire, tenant };
}

function logged({ tenant, lease, opId }: LoggedRequest) {
  return { lease: present(tenant, lease), opId: writeId(opId) };
}

export function failed<Op extends Operation>(operation: Op, error: AnyCoordError): Result<never, ErrorOf<Op>> {
  return err(narrowCoordError(operation, error));
}

/** Read a response. One that does not hold what the protocol says is a defect of the server. */
export function value<T>(read: (reader: WireReader) => T): T {
  const reader = new WireReader();
  const got = reader.done(read(reader));
  assert(got.ok, () => (got.ok ? "" : `the server's response must hold ${got.error.expected} in ${got.error.field}`));
  return got.value;
}
