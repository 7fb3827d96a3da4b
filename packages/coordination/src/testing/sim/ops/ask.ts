import type { Cursor, OpId, ParkReason, SplitReplacePlan, SplitResidualPlan } from "@gossip/contracts";
import type { AnyCoordError, IdempotentOutcome, SessionError } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import type { RenewResult } from "../../../coordinator/shard-requests.ts";
import { RANGE_EXHAUSTED, type CompletionPoint } from "../../../hashing/payload-hash.ts";
import type { Lease } from "../../../records/lease.ts";
import { findOp } from "../../../records/op-log.ts";
import type { WorkerSession } from "../../../coordinator/coordinator-api.ts";
import { failuresAt, PARK_DETAIL } from "../failing-items.ts";
import type { Random } from "../random.ts";
import { refused, type SimEvent } from "../sim-event.ts";
import type { SimWorker, HeldShard } from "../sim-worker.ts";
import type { SimWorld } from "../sim-world.ts";

/** What every operation needs. */
export interface OpRun {
  readonly world: SimWorld;
  /** The operation's own stream: nothing else changes what it draws. */
  readonly random: Random;
}

/** Any error that a coordinator returns to a worker. */
export type Refusal = AnyCoordError | SessionError;

type Logged<T = unknown> = Promise<Result<IdempotentOutcome<T>, Refusal>>;

/** The calls of a shard's holder, through its session or with a bare lease. */
export interface HolderCalls {
  renew(): Promise<Result<RenewResult, Refusal>>;
  checkpoint(cursor: Cursor, options: { readonly opId: OpId; readonly renew: boolean }): Logged;
  complete(point: CompletionPoint, options: { readonly opId: OpId }): Logged;
  park(reason: ParkReason, options: { readonly opId: OpId }): Logged;
  release(options: { readonly opId: OpId }): Logged;
  splitReplace(
    plan: SplitReplacePlan,
    options: { readonly opId: OpId },
  ): Logged<{ readonly children: readonly bigint[] }>;
  splitResidual(plan: SplitResidualPlan, options: { readonly opId: OpId }): Logged<{ readonly residual: bigint }>;
}

export function callsOf(
  { actor: { coordinator } }: SimWorker,
  { lease, session }: Pick<HeldShard, "lease" | "session">,
): HolderCalls {
  if (session !== undefined) return sessionCalls(session);
  const { tenant } = lease;
  return {
    renew: () => coordinator.renew({ tenant, lease }),
    checkpoint: (cursor, options) =>
      coordinator.checkpoint({ tenant, lease, cursor, ...options, failures: failuresAt(cursor) }),
    complete: (point, options) =>
      coordinator.complete({ tenant, lease, point, ...options, failures: failuresOf(point) }),
    park: (reason, options) => coordinator.park({ tenant, lease, reason, ...options, detail: PARK_DETAIL }),
    release: (options) => coordinator.release({ tenant, lease, ...options }),
    splitReplace: (plan, options) => coordinator.splitReplace({ tenant, lease, plan, ...options }),
    splitResidual: (plan, options) => coordinator.splitResidual({ tenant, lease, plan, ...options }),
  };
}

/** The calls of a session, with the failures of the items that they move past. */
export function sessionCalls(session: WorkerSession): HolderCalls {
  return {
    renew: () => session.renew(),
    checkpoint: (cursor, options) => session.checkpoint(cursor, { ...options, failures: failuresAt(cursor) }),
    complete: (point, options) => session.complete(point, { ...options, failures: failuresOf(point) }),
    park: (reason, options) => session.park(reason, { ...options, detail: PARK_DETAIL }),
    release: (options) => session.release(options),
    splitReplace: (plan, options) => session.splitReplace(plan, options),
    splitResidual: (plan, options) => session.splitResidual(plan, options),
  };
}

function failuresOf(point: CompletionPoint): ReturnType<typeof failuresAt> {
  return point === RANGE_EXHAUSTED ? undefined : failuresAt(point);
}

/** Remembers when a request was made, to know afterwards whether anything happened before its response. */
export class Moment {
  readonly #world: SimWorld;
  readonly #worker: SimWorker;
  readonly #step: number;
  readonly #faultCount: number;
  readonly #life: number;
  readonly #acceptedCount: number;

  constructor(world: SimWorld, worker: SimWorker) {
    this.#world = world;
    this.#worker = worker;
    this.#step = world.scheduler.step;
    this.#faultCount = worker.actor.connection.faultCount;
    this.#life = worker.lives;
    this.#acceptedCount = world.watch.acceptedCount;
  }

  /** Whether the response came in the same step and without a fault. It must then be the expected one. */
  get isUndisturbed(): boolean {
    return this.#world.scheduler.step === this.#step && this.#worker.actor.connection.faultCount === this.#faultCount;
  }

  /** The number of writes accepted since, of any actor: a delayed one may arrive at any time. */
  get acceptedCount(): number {
    return this.#world.watch.acceptedCount - this.#acceptedCount;
  }

  /** Never resolves if the actor crashes first: a crashed actor does not receive the response. */
  async hear<T>(answer: Promise<T>): Promise<T> {
    const heard = await answer;
    return this.#worker.lives === this.#life ? heard : new Promise<T>(() => {});
  }
}

export interface LoggedQuestion<T> {
  readonly worker: SimWorker;
  readonly lease: Lease;
  readonly opId: OpId;
  /** The op id was used before, with another payload. */
  readonly isOtherPayload?: boolean | undefined;
  readonly ask: () => Logged<T>;
}

/**
 * Makes a logged request and compares the response with what the store holds.
 *
 * An operation reported as executed must have been accepted. If the log has its op id, the response must be a replay,
 * or a conflict if the payload differs, regardless of the lease.
 */
export async function askLogged<T>(world: SimWorld, question: LoggedQuestion<T>): Logged<T> {
  const { worker, lease, opId, isOtherPayload = false } = question;
  const shard = world.mirror.shard(lease);
  const wasLogged = shard !== undefined && findOp(shard.opLog, opId) !== undefined;
  const wasAccepted = world.watch.wasAccepted(lease, opId);
  world.watch.present(lease, opId);
  const moment = new Moment(world, worker);
  const answer = await moment.hear(question.ask());

  const isAccepted = world.watch.wasAccepted(lease, opId);
  if (answer.ok && !isAccepted)
    world.wrong("logged operation", "reported as executed, but the store never accepted it");
  // A closed session responds without a call to the store.
  if (!moment.isUndisturbed || (!answer.ok && answer.error.kind === "SessionClosed")) return answer;
  if (!answer.ok && isAccepted && !wasAccepted)
    world.wrong("logged operation", "refused, but the store has just accepted it");
  if (wasLogged && answer.ok === isOtherPayload) reportReplay(world, question, answer);
  if (wasLogged && answer.ok && answer.value.kind !== "Replayed") reportReplay(world, question, answer);
  return answer;
}

/** An operation of a shard's holder that the shard's log records. */
export interface HolderRequest<T> {
  readonly held: HeldShard;
  readonly opId: OpId;
  readonly isOtherPayload?: boolean;
  readonly ask: (calls: HolderCalls) => Logged<T>;
  /** Applies an accepted operation to what the worker knows, and returns its event. A replay has an event of its own. */
  readonly accept: (value: T) => SimEvent;
}

/** Requests an operation. If its outcome is unknown, the worker may later request exactly the same again. */
export async function request<T>(run: OpRun, worker: SimWorker, operation: HolderRequest<T>): Promise<SimEvent> {
  const { held, opId, isOtherPayload, ask, accept } = operation;
  const { lease } = held;
  const answer = await askLogged(run.world, {
    worker,
    lease,
    opId,
    isOtherPayload,
    ask: () => ask(callsOf(worker, held)),
  });
  if (!answer.ok)
    return takeRefusal(run, { worker, lease, again: () => request(run, worker, operation) }, answer.error);
  const event = accept(answer.value.value);
  return answer.value.kind === "Replayed" ? { kind: "ReplayedOk" } : event;
}

/** Requests an operation that ends the worker's hold. */
export function giveUp(
  run: OpRun,
  worker: SimWorker,
  {
    kind,
    ...operation
  }: Omit<HolderRequest<unknown>, "accept"> & { readonly kind: "CompleteOk" | "ParkOk" | "ReleaseOk" },
): Promise<SimEvent> {
  const accept = (): SimEvent => {
    worker.drop(operation.held.lease);
    return { kind };
  };
  return request(run, worker, { ...operation, accept });
}

function reportReplay<T>(
  world: SimWorld,
  { lease, opId }: LoggedQuestion<T>,
  answer: Result<IdempotentOutcome<T>, Refusal>,
): void {
  const { tenant, run, shard } = lease;
  world.report({
    kind: "ReplayRefused",
    tenant,
    run,
    shard,
    opId,
    answer: answer.ok ? answer.value.kind : answer.error.kind,
  });
}

/** Updates what the worker knows after an error. `again` repeats the request. */
export function takeRefusal(
  { world, random }: OpRun,
  {
    worker,
    lease,
    again,
  }: { readonly worker: SimWorker; readonly lease: Lease; readonly again: (() => Promise<SimEvent>) | undefined },
  error: Refusal,
): SimEvent {
  if (error.kind === "BackendError") worker.unresolved = again;
  // Some workers keep using an expired lease.
  const isGivenUp = error.kind === "LeaseExpired" && random.chance(500_000);
  const isGone =
    isGivenUp ||
    error.kind === "StaleFence" ||
    error.kind === "ShardTerminal" ||
    error.kind === "ShardNotFound" ||
    error.kind === "SessionClosed";
  if (isGone && worker.drop(lease)) world.addStaleLease(lease, random);
  return refused(error);
}
