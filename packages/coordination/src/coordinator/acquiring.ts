import { type OpId } from "@gossip/contracts";
import { IdempotentOutcome, type AcquireError } from "@gossip/coordination-errors";
import { assert, err, ok, type Result } from "@gossip/stdx";
import { CapacityHint } from "../records/capacity-hint.ts";
import { Lease } from "../records/lease.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import { WorkerSession } from "../session/worker-session.ts";
import type { AcquireScratch, ShardSnapshotView } from "../views/acquire-scratch.ts";
import { snapshotOf, type ShardSnapshot } from "../views/shard-snapshot.ts";
import { AcquireOperation } from "./acquire-operation.ts";
import { runShardOperation } from "./carry-out.ts";
import type { Engine } from "./engine.ts";
import type { ShardCopy } from "./shard-copy.ts";
import type { Settled } from "./shard-operation.ts";
import type { AcquireRequest } from "./shard-operations.ts";
import type { AcquireOutcome } from "../kernel/acquire.ts";

/** What an acquire hands out. */
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
  readonly outcome: IdempotentOutcome<Lease>;
  readonly shard: ShardRecord;
  readonly capacity: CapacityHint;
}

type Request = AcquireRequest & { readonly opId: OpId };

export async function acquireShard(
  engine: Engine,
  request: Request,
): Promise<Result<IdempotentOutcome<AcquireResult>, AcquireError>> {
  const granted = grant(await runShardOperation(engine, new AcquireOperation(request)));
  if (!granted.ok) return granted;
  const { outcome, shard, capacity } = granted.value;
  return ok(IdempotentOutcome.map(outcome, (lease) => ({ lease, snapshot: snapshotOf(shard), capacity })));
}

/** Acquire a shard and hold it in a session. `copy` is the shard as it was read on the way, where it was. */
export async function openSession(
  engine: Engine,
  request: Request,
  copy: ShardCopy,
): Promise<Result<WorkerSession, AcquireError>> {
  return toSession(engine, await runShardOperation(engine, new AcquireOperation(request), copy), copy);
}

/** A session that holds what an acquire got. `copy` is the one that it started from. */
export function toSession(
  engine: Engine,
  settled: Result<Settled<AcquireOutcome>, AcquireError>,
  copy: ShardCopy,
): Result<WorkerSession, AcquireError> {
  if (!settled.ok) return settled;
  const { outcome, hint = CapacityHint.ZERO } = settled.value;
  if (outcome.kind === "Parked") return err(outcome.refusal);
  const isReplay = outcome.kind === "Repeated";
  return ok(new WorkerSession(engine, { lease: leaseOf(outcome.shard), copy, capacity: hint, isReplay }));
}

/**
 * Acquire a shard into a scratch.
 *
 * A store that can fills the scratch itself. The kernel never looks at the bytes to
 * decide on an acquire, and nothing is written of them, so none are copied but those.
 */
export async function acquireShardInto(
  engine: Engine,
  request: Request,
  scratch: AcquireScratch,
): Promise<Result<IdempotentOutcome<AcquireResultView>, AcquireError>> {
  const { store } = engine;
  const { tenant, key } = request;
  const readInto = store.readShardInto?.bind(store, tenant, key, scratch);
  scratch.beginUse();
  try {
    const granted = grant(await runShardOperation(engine, new AcquireOperation(request, readInto)));
    if (!granted.ok) return granted;
    const { outcome, shard, capacity } = granted.value;
    if (readInto === undefined) fill(scratch, shard);
    else scratch.writeSpawned(shard.spawned);
    const snapshot = scratch.view(shard);
    return ok(IdempotentOutcome.map(outcome, (lease) => ({ lease, snapshot, capacity })));
  } finally {
    scratch.endUse();
  }
}

/** What an acquire came to: a lease, or why there is none. */
function grant(settled: Result<Settled<AcquireOutcome>, AcquireError>): Result<Granted, AcquireError> {
  if (!settled.ok) return settled;
  const { outcome, hint = CapacityHint.ZERO } = settled.value;
  if (outcome.kind === "Parked") return err(outcome.refusal);
  const { shard } = outcome;
  const lease = leaseOf(shard);
  return ok({
    outcome: outcome.kind === "Granted" ? IdempotentOutcome.executed(lease) : IdempotentOutcome.replayed(lease),
    shard,
    capacity: hint,
  });
}

function leaseOf({ tenant, run, shard, fenceEpoch, lease }: ShardRecord): Lease {
  assert(lease !== undefined, "a shard that was acquired has a holder");
  return Lease.of({ tenant, run, shard, owner: lease.owner, fence: fenceEpoch, deadline: lease.deadline });
}

function fill(scratch: AcquireScratch, shard: ShardRecord): void {
  scratch.writeSpec(shard.spec);
  scratch.writeCursor(shard.cursor);
  scratch.writeSpawned(shard.spawned);
}
