import { ShardKey, type OpId } from "@gossip/contracts";
import type { WorkerSession } from "../../../coordinator/coordinator-api.ts";
import { RANGE_EXHAUSTED } from "../../../hashing/payload-hash.ts";
import type { ShardAddress } from "../invariants/violation.ts";
import { refused, type SimEvent } from "../sim-event.ts";
import type { SimWorker } from "../sim-worker.ts";
import { askLogged, Moment, sessionCalls, type HolderCalls, type OpRun } from "./ask.ts";
import { nextCursor } from "./progress-ops.ts";
import { drawReplacePlan, drawResidualPlan } from "./split-ops.ts";

/**
 * Uses one session from start to end: some checkpoints, then one of the operations that end it.
 *
 * The result is partial if anything was refused. The lease then expires.
 */
export async function sessionLifecycle(run: OpRun, worker: SimWorker, address: ShardAddress): Promise<SimEvent> {
  const { world, random } = run;
  const { coordinator, id } = worker.actor;
  const moment = new Moment(world, worker);
  const opId = worker.actor.nextOpId();
  const opened = await moment.hear(
    coordinator.openSession({ tenant: address.tenant, key: ShardKey.of(address.run, address.shard), worker: id, opId }),
  );
  if (!opened.ok) return refused(opened.error);
  const session = opened.value;
  world.dispossess(worker, address, random);

  const life = new SessionLife(run, worker, session);
  const checkpoints = random.between(1, 3);
  for (let count = 0; count < checkpoints; count++) await life.checkpoint();
  const isEnded = await life.end(random.below(10));
  const isOk = isEnded && life.refusedCheckpoints === 0;
  return {
    kind: isOk ? "SessionLifecycleOk" : "SessionLifecyclePartial",
    detail: `${life.acceptedCheckpoints} of ${checkpoints} checkpoints`,
  };
}

class SessionLife {
  readonly #run: OpRun;
  readonly #worker: SimWorker;
  readonly #session: WorkerSession;
  acceptedCheckpoints = 0;
  refusedCheckpoints = 0;

  constructor(run: OpRun, worker: SimWorker, session: WorkerSession) {
    this.#run = run;
    this.#worker = worker;
    this.#session = session;
  }

  async checkpoint(): Promise<void> {
    const { random } = this.#run;
    const cursor = nextCursor(random, this.#session);
    const renew = random.chance(500_000);
    if (await this.#ask((session, opId) => session.checkpoint(cursor, { opId, renew }))) this.acceptedCheckpoints += 1;
    else this.refusedCheckpoints += 1;
  }

  /** Ends the session. A roll of 0 to 9 decides how. */
  end(roll: number): Promise<boolean> {
    if (roll < 2) return this.#ask((session, opId) => session.park("Other", { opId }));
    if (roll < 4) return this.#replace();
    return roll === 4 ? this.#cutAndComplete() : this.#complete();
  }

  #complete(): Promise<boolean> {
    return this.#ask((session, opId) => session.complete(RANGE_EXHAUSTED, { opId }));
  }

  #replace(): Promise<boolean> {
    const plan = drawReplacePlan(this.#run.random, this.#session);
    return plan === undefined ? this.#complete() : this.#ask((session, opId) => session.splitReplace(plan, { opId }));
  }

  async #cutAndComplete(): Promise<boolean> {
    const plan = drawResidualPlan(this.#run.random, this.#session);
    const isCut = plan === undefined || (await this.#ask((session, opId) => session.splitResidual(plan, { opId })));
    return (await this.#complete()) && isCut;
  }

  async #ask(call: (session: HolderCalls, opId: OpId) => ReturnType<HolderCalls["release"]>): Promise<boolean> {
    const worker = this.#worker;
    const opId = worker.actor.nextOpId();
    const { lease } = this.#session;
    const answer = await askLogged(this.#run.world, {
      worker,
      lease,
      opId,
      ask: () => call(sessionCalls(this.#session), opId),
    });
    return answer.ok;
  }
}
