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

/** What every operation is carried out with. */
export interface OpRun {
  readonly world: SimWorld;
  /** The operation's own: nothing that happens elsewhere changes what it draws. */
  readonly random: Random;
}

/** Whatever a coordinator can refuse a worker. */
export type Refusal = AnyCoordError | SessionError;

type Logged<T = unknown> = Promise<Result<IdempotentOutcome<T>, Refusal>>;

/** What the holder of a shard can ask for: by its session, or by its bare lease. */
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

/** Remembers the moment of a question, to tell afterwards whether anything came between it and its answer. */
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

  /** Whether the answer came in the same step, and nothing went wrong on the way. Then it must be the right one. */
  get isUndisturbed(): boolean {
    return this.#world.scheduler.step === this.#step && this.#worker.actor.connection.faultCount === this.#faultCount;
  }

  /** Number of writes of any actor accepted since: one that was lost earlier may arrive at any time. */
  get acceptedCount(): number {
    return this.#world.watch.acceptedCount - this.#acceptedCount;
  }

  /** Continues only if the actor has not crashed in between: a crashed actor never receives the answer. */
  async hear<T>(answer: Promise<T>): Promise<T> {
    const heard = await answer;
    return this.#worker.lives === this.#life ? heard : new Promise<T>(() => {});
  }
}

export interface LoggedQuestion<T> {
  readonly worker: SimWorker;
  readonly lease: Lease;
  readonly opId: OpId;
  /** The op id was used before, and for something else. */
  readonly isOtherPayload?: boolean;
  readonly ask: () => Logged<T>;
}

/**
 * Ask for an operation that a log remembers, and hold the answer to what the store knows.
 *
 * What is said to be done must have been accepted. What the log had was to be answered as a replay, or as a conflict
 * where it was something else, whatever had become of the lease.
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
    world.wrong("logged operation", "it is said to be done, and the store never accepted it");
  // A closed session answers by itself, without a call to the store.
  if (!moment.isUndisturbed || (!answer.ok && answer.error.kind === "SessionClosed")) return answer;
  if (!answer.ok && isAccepted && !wasAccepted)
    world.wrong("logged operation", "it is refused, and the store has just accepted it");
  if (wasLogged && answer.ok === isOtherPayload) reportReplay(world, question, answer);
  if (wasLogged && answer.ok && answer.value.kind !== "Replayed") reportReplay(world, question, answer);
  return answer;
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

/** What a worker makes of a refusal, and how it would ask again. */
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
  // Some workers go on believing in a lease that has run out.
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
