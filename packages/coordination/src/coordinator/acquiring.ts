import type { OpId } from "@gossip/contracts";
import { IdempotentOutcome, type AcquireError } from "@gossip/coordination-errors";
import { assert, err, ok, type Result } from "@gossip/stdx";
import type { AcquireOutcome } from "../kernel/acquire.ts";
import { CapacityHint } from "../records/capacity-hint.ts";
import { Lease } from "../records/lease.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import { WorkerSession } from "../session/worker-session.ts";
import type { AcquireScratch, ShardSnapshotView } from "../views/acquire-scratch.ts";
import { snapshotOf, type ShardSnapshot } from "../views/shard-snapshot.ts";
import type { Engine } from "./engine.ts";
import { execute, type Executed } from "./execute.ts";
import { shardOperations } from "./shard-operations.ts";
import type { AcquireRequest } from "./shard-requests.ts";
import type { ShardCopy, ShardSituation } from "./shard-target.ts";

/** The result of an acquire. */
export interface AcquireResult {
  readonly lease: Lease;
  /** The shard as it is now, the lease included. */
  readonly snapshot: ShardSnapshot;
  readonly capacity: CapacityHint;
}

/** The same, with the shard's bytes in a scratch. */
export interface AcquireResultView {
  readonly lease: Lease;
  readonly snapshot: ShardSnapshotView;
  readonly capacity: CapacityHint;
}

/** A lease, and the record that grants it. */
interface Granted {
  readonly lease: Lease;
  readonly isReplay: boolean;
  readonly shard: ShardRecord;
  readonly capacity: CapacityHint;
}

type Request = AcquireRequest & { readonly opId: OpId };

export async function acquireShard(
  engine: Engine,
  request: Request,
): Promise<Result<IdempotentOutcome<AcquireResult>, AcquireError>> {
  const copy = engine.copies.renew(request.tenant, request.key);
  const granted = grant(await execute(engine, shardOperations.acquire(engine, request), copy));
  if (!granted.ok) return granted;
  const { lease, shard, capacity, isReplay } = granted.value;
  return ok(outcomeOf(isReplay, { lease, snapshot: snapshotOf(shard), capacity }));
}

/** Acquire a shard and hold it in a session. `copy` is the shard as it was read on the way, if it was. */
export async function openSession(
  engine: Engine,
  request: Request,
  copy: ShardCopy = engine.copies.renew(request.tenant, request.key),
): Promise<Result<WorkerSession, AcquireError>> {
  const granted = grant(await execute(engine, shardOperations.acquire(engine, request), copy));
  return granted.ok ? ok(new WorkerSession(engine, { ...granted.value, copy })) : granted;
}

/**
 * Acquire a shard into a scratch.
 *
 * A store may fill the scratch itself. The kernel never looks at a shard's bytes to decide on an acquire, so no other
 * copies are made.
 */
export async function acquireShardInto(
  engine: Engine,
  request: Request,
  scratch: AcquireScratch,
): Promise<Result<IdempotentOutcome<AcquireResultView>, AcquireError>> {
  const { store } = engine;
  const readInto = store.readShardInto?.bind(store, request.tenant, request.key, scratch);
  scratch.beginUse();
  try {
    const granted = grant(await execute(engine, shardOperations.acquire(engine, request, readInto)));
    if (!granted.ok) return granted;
    const { lease, shard, capacity, isReplay } = granted.value;
    if (readInto === undefined) {
      scratch.writeSpec(shard.spec);
      scratch.writeCursor(shard.cursor);
    }
    scratch.writeSpawned(shard.spawned);
    return ok(outcomeOf(isReplay, { lease, snapshot: scratch.view(shard), capacity }));
  } finally {
    scratch.endUse();
  }
}

/** The lease that an acquire obtained, or the reason that there is none. */
function grant(
  executed: Result<Executed<ShardSituation, AcquireOutcome>, AcquireError>,
): Result<Granted, AcquireError> {
  if (!executed.ok) return executed;
  const { outcome, hint = CapacityHint.ZERO } = executed.value;
  if (outcome.kind === "Parked") return err(outcome.refusal);
  const { shard } = outcome;
  return ok({ lease: leaseOf(shard), isReplay: outcome.kind === "Repeated", shard, capacity: hint });
}

function outcomeOf<Value>(isReplay: boolean, value: Value): IdempotentOutcome<Value> {
  return isReplay ? IdempotentOutcome.replayed(value) : IdempotentOutcome.executed(value);
}

function leaseOf({ tenant, run, shard, fenceEpoch, lease }: ShardRecord): Lease {
  assert(lease !== undefined, "a shard that was acquired has a holder");
  return Lease.of({ tenant, run, shard, owner: lease.owner, fence: fenceEpoch, deadline: lease.deadline });
}
