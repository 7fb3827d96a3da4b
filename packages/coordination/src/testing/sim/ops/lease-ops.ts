import { Cursor, ShardKey, type OpId } from "@gossip/contracts";
import { ok, type Result } from "@gossip/stdx";
import type { CapacityHint } from "../../../records/capacity-hint.ts";
import { isLeasedAt } from "../../../records/shard-record.ts";
import type { WorkerSession } from "../../../coordinator/coordinator-api.ts";
import { equalSpecs } from "../invariants/equal-records.ts";
import type { RunAddress, ShardAddress } from "../invariants/violation.ts";
import { refused, type SimEvent } from "../sim-event.ts";
import type { HeldShard, SimWorker } from "../sim-worker.ts";
import { callsOf, giveUp, Moment, takeRefusal, type OpRun, type Refusal } from "./ask.ts";

/** The result of an acquire or a claim. */
interface Given extends HeldShard {
  readonly capacity: CapacityHint;
  readonly isReplay: boolean;
}

/** Half of the workers' holds are sessions, which write from a copy of the record; the others read it each time. */
const SESSION_PPM = 500_000;

export function acquire(run: OpRun, worker: SimWorker, address: ShardAddress): Promise<SimEvent> {
  const opId = worker.actor.nextOpId();
  return acquireAs(run, worker, { address, opId, bySession: run.random.chance(SESSION_PPM) });
}

interface Acquire {
  readonly address: ShardAddress;
  readonly opId: OpId;
  readonly bySession: boolean;
}

async function acquireAs(run: OpRun, worker: SimWorker, request: Acquire): Promise<SimEvent> {
  const { world } = run;
  const before = world.mirror.shard(request.address);
  const wasHeldByIt = before?.lease?.opId === request.opId && isLeasedAt(before, worker.actor.clock.now());
  const moment = new Moment(world, worker);
  const answer = await moment.hear(askFor(worker, request));
  if (!answer.ok) {
    if (wasHeldByIt && moment.isUndisturbed)
      world.report({ kind: "ReplayRefused", ...request.address, opId: request.opId, answer: answer.error.kind });
    if (answer.error.kind === "BackendError") worker.unresolved = () => acquireAs(run, worker, request);
    return refused(answer.error);
  }
  const given = answer.value;
  if (moment.isUndisturbed)
    checkGiven(run, worker, { given, hasCapacity: moment.acceptedCount === (given.isReplay ? 0 : 1) });
  take(run, worker, given);
  return { kind: given.isReplay ? "ReplayedOk" : "AcquireOk", detail: `fence ${given.lease.fence}` };
}

async function askFor(
  { actor: { coordinator, id: worker } }: SimWorker,
  { address, opId, bySession }: Acquire,
): Promise<Result<Given, Refusal>> {
  const request = { tenant: address.tenant, key: ShardKey.of(address.run, address.shard), worker, opId };
  if (bySession) {
    const opened = await coordinator.openSession(request);
    return opened.ok ? ok(givenBy(opened.value)) : opened;
  }
  const acquired = await coordinator.acquire(request);
  if (!acquired.ok) return acquired;
  const { lease, snapshot, capacity } = acquired.value.value;
  const { spec, cursor } = snapshot;
  return ok({ lease, session: undefined, spec, cursor, capacity, isReplay: acquired.value.kind === "Replayed" });
}

function givenBy(session: WorkerSession): Given {
  const { lease, spec, cursor, capacity } = session;
  return { lease, session, spec, cursor, capacity, isReplay: false };
}

/** Compares a granted lease and its snapshot with what the store holds. */
function checkGiven(
  { world }: OpRun,
  worker: SimWorker,
  { given, hasCapacity }: { readonly given: Given; readonly hasCapacity: boolean },
): void {
  const { lease, spec, cursor, capacity } = given;
  const record = world.mirror.shard(lease);
  if (record === undefined || record.fenceEpoch !== lease.fence || record.lease?.deadline !== lease.deadline) {
    return world.wrong("acquire", "the lease is not the one that the store holds");
  }
  if (!equalSpecs(record.spec, spec) || !Cursor.equals(record.cursor, cursor))
    world.wrong("acquire", "the snapshot is not what the store holds");
  // D1: the capacity is exact if every clock is right and nothing else was written.
  if (world.hasSkewedClocks || !hasCapacity) return;
  world.capacitySamples += 1;
  if (capacity.availableCount !== world.countAvailable(lease, worker.actor.clock.now())) {
    world.wrong("acquire", "the capacity is not the number of shards without a lease");
  }
}

/** Records that a worker was granted a shard. */
function take({ world, random }: OpRun, worker: SimWorker, { lease, session, spec, cursor }: Given): void {
  if (world.watch.granteeOf(lease) !== worker.actor.id)
    world.wrong("acquire", "a lease was returned that the store never granted");
  world.dispossess(worker, lease, random);
  worker.hold({ lease, session, spec, cursor });
}

/** Claims one shard of a run, sometimes several. */
export async function claimNext(run: OpRun, worker: SimWorker, address: RunAddress): Promise<SimEvent> {
  const { world, random } = run;
  const { coordinator, id, clock } = worker.actor;
  const count = random.chance(200_000) ? random.between(2, 4) : 1;
  const at = clock.now();
  const moment = new Moment(world, worker);
  const answer = await moment.hear(
    coordinator.claimMany({ ...address, worker: id, count, markStarved: random.chance(500_000) }),
  );
  if (!answer.ok) {
    const { error } = answer;
    if (error.kind === "NoneAvailable") return { kind: "ClaimNoneAvailable" };
    return error.kind === "Throttled"
      ? { kind: "ClaimThrottled", detail: `until ${error.retryAfter}` }
      : refused(error);
  }
  world.checker.noteClaim(id, at);
  const given = answer.value.map(givenBy);
  for (const shard of given) take(run, worker, shard);
  const [first] = given;
  if (moment.isUndisturbed && given.length === 1)
    checkGiven(run, worker, { given: first!, hasCapacity: moment.acceptedCount === 1 });
  return {
    kind: "ClaimOk",
    detail: given.map(({ lease }) => `${lease.shard.toString(16)} fence ${lease.fence}`).join(" "),
  };
}

export async function renew(run: OpRun, worker: SimWorker, held: HeldShard): Promise<SimEvent> {
  const { world } = run;
  const { lease } = held;
  world.watch.present(lease);
  const moment = new Moment(world, worker);
  const answer = await moment.hear(callsOf(worker, held).renew());
  if (!answer.ok) return takeRefusal(run, { worker, lease, again: undefined }, answer.error);
  const { newDeadline } = answer.value;
  if (moment.isUndisturbed && world.mirror.shard(lease)?.lease?.deadline !== newDeadline) {
    world.wrong("renew", "the deadline is not the one that the store holds");
  }
  return { kind: "RenewOk", detail: `until ${newDeadline}` };
}

export function release(run: OpRun, worker: SimWorker, held: HeldShard): Promise<SimEvent> {
  const opId = worker.actor.nextOpId();
  return giveUp(run, worker, { held, opId, kind: "ReleaseOk", ask: (calls) => calls.release({ opId }) });
}
