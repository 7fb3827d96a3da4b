// The work of a process in a fault run: claims shards of one run after the other, works on several at once, and writes down every
// answer that it gets before it goes on. It is killed at any moment and does nothing to be ready for that.
import { openSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  Cursor,
  OpId,
  RunId,
  ShardId,
  ShardSpec,
  SplitReplacePlan,
  SplitResidualPlan,
  TenantId,
  WorkerId,
} from "../../packages/contracts/src/index.ts";
import {
  Coordinator,
  systemClock,
  type CoordinationStore,
  type WorkerSession,
} from "../../packages/coordination/src/index.ts";
import { unwrap, type Result } from "../../packages/stdx/src/index.ts";
import { seededRandom } from "../explore/effort.ts";
import {
  FAULT_LEASE_MS,
  FAULT_TENANT,
  key,
  makeRoots,
  placeOf,
  rootWidth,
  type FaultLine,
  type FaultWorkerConfig,
} from "./fault-log.ts";

const tenant = TenantId.fromBytes(FAULT_TENANT);

/** Work on the store until the process is stopped or killed. */
export async function runFaultWorker(store: CoordinationStore, config: FaultWorkerConfig): Promise<void> {
  const worker = new FaultWorker(store, config);
  process.on("SIGTERM", () => worker.stop());
  await worker.useAndRemoveRun();
  await Promise.all(Array.from({ length: config.sessions }, () => worker.work()));
}

class FaultWorker {
  readonly #config: FaultWorkerConfig;
  readonly #coordinator: Coordinator;
  readonly #log: number;
  readonly #worker: WorkerId;
  readonly #random: () => number;
  readonly #runConfig = { leaseDuration: BigInt(FAULT_LEASE_MS) };
  // A test run that is itself killed must not leave workers behind.
  readonly #parent = process.ppid;
  #isStopping = false;
  #run = 1;

  constructor(store: CoordinationStore, config: FaultWorkerConfig) {
    this.#config = config;
    this.#random = seededRandom(config.incarnation);
    this.#coordinator = new Coordinator({
      store,
      clock: systemClock(Date.now),
      retry: { random: this.#random },
    });
    this.#log = openSync(config.logPath, "a");
    this.#worker = WorkerId.fromRaw(BigInt(config.incarnation));
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** A run of this process's own, made and removed at once: removing is killed in the middle too. */
  async useAndRemoveRun(): Promise<void> {
    const run = RunId.fromRaw(1_000_000n + BigInt(this.#config.incarnation));
    const opId = OpId.fromRaw(1n);
    const created = await this.#coordinator.createRunWithShards({
      tenant,
      run,
      config: this.#runConfig,
      shards: makeRoots(60),
      opId,
    });
    if (!this.#isMade("create own", created)) return;
    if (!this.#isMade("cancel own", await this.#coordinator.cancelRun({ tenant, run, opId: OpId.fromRaw(2n) }))) return;
    if (this.#isMade("delete own", await this.#coordinator.deleteRun({ tenant, run })))
      this.#tell(["Deleted", Number(run)]);
  }

  async work(): Promise<void> {
    while (!this.#isStopping && process.ppid === this.#parent) {
      const run = RunId.fromRaw(BigInt(this.#run));
      const claimed = await this.#coordinator.claim({
        tenant,
        run,
        worker: this.#worker,
        markStarved: this.#below(4) === 0,
      });
      if (claimed.ok) {
        await this.#scan(claimed.value);
        continue;
      }
      const { error } = claimed;
      if (error.kind === "RunNotFound" || (error.kind === "NoneAvailable" && error.earliestDeadline === undefined))
        await this.#nextRun(error.kind === "RunNotFound");
      else await sleep(5 + this.#below(20));
    }
  }

  /** Make the run that is to be worked on, or go on to the one behind it. */
  async #nextRun(isMissing: boolean): Promise<void> {
    const current = this.#run;
    if (!isMissing) {
      this.#run = current + 1;
      return;
    }
    const shards = makeRoots(this.#config.roots);
    const created = await this.#coordinator.createRunWithShards({
      tenant,
      run: RunId.fromRaw(BigInt(current)),
      config: this.#runConfig,
      shards,
      opId: OpId.random(),
    });
    if (this.#isMade("create", created)) this.#tell(["Created", current]);
  }

  async #scan(session: WorkerSession): Promise<void> {
    const { lastKey } = session.cursor;
    this.#tellOf(session, "Acquired", lastKey === undefined ? -1 : placeOf(lastKey));
    let at = lastKey === undefined ? placeOf(session.spec.keyRangeStart) : placeOf(lastKey) + 1;
    // A shard takes about a dozen checkpoints, or is split until one takes so many.
    const stepSize = Math.ceil(rootWidth(this.#config.roots) / 6);
    while (!this.#isStopping && !session.isClosed && !session.isLeaseLost) {
      const end = placeOf(session.spec.keyRangeEnd);
      if (at >= end - 1) return this.#complete(session, end - 1);
      const point = at + 1 + this.#below(Math.max(1, Math.ceil((end - at) / 2) - 1));
      const chance = this.#below(100);
      if (chance < 4 && point < end - 1) await this.#split(session, point, { isResidual: chance < 3 });
      else if (chance < 5) this.#isMade("release", await session.release());
      else {
        const made = await session.checkpoint(Cursor.fromParts({ lastKey: key(at), token: Buffer.alloc(40, at) }), {
          renew: true,
        });
        if (this.#isMade("checkpoint", made)) this.#tellOf(session, "Checkpointed", at);
        at += 1 + this.#below(stepSize);
      }
    }
  }

  async #split(session: WorkerSession, point: number, { isResidual }: { readonly isResidual: boolean }): Promise<void> {
    const lower = specOf(placeOf(session.spec.keyRangeStart), point);
    const upper = specOf(point, placeOf(session.spec.keyRangeEnd));
    const children = [
      { spec: lower, cursor: session.cursor },
      { spec: upper, cursor: Cursor.initial() },
    ];
    const isMade = isResidual
      ? this.#isMade(
          "splitResidual",
          await session.splitResidual(unwrap(SplitResidualPlan.tryNew({ parentNewSpec: lower, residualSpec: upper }))),
        )
      : this.#isMade("splitReplace", await session.splitReplace(unwrap(SplitReplacePlan.tryNew(children))));
    const { run, shard } = session.shardKey;
    if (isMade) this.#tell(["Split", Number(run), ShardId.format(shard), Number(session.lease.fence)]);
  }

  async #complete(session: WorkerSession, at: number): Promise<void> {
    const completed = await session.complete(Cursor.fromParts({ lastKey: key(at) }));
    if (this.#isMade("complete", completed)) this.#tellOf(session, "Completed", at);
  }

  /** What came of a call, noted where it is no answer that the work goes on with. */
  #isMade(what: string, result: Result<unknown, { readonly kind: string }>): boolean {
    if (!result.ok) this.#tell(["Refused", what, result.error.kind]);
    return result.ok;
  }

  #tellOf({ shardKey, lease }: WorkerSession, what: "Acquired" | "Checkpointed" | "Completed", place: number): void {
    this.#tell([
      what,
      Number(shardKey.run),
      ShardId.format(shardKey.shard),
      Number(lease.fence),
      place,
      this.#config.incarnation,
    ]);
  }

  #tell(line: FaultLine): void {
    writeSync(this.#log, `${JSON.stringify(line)}\n`);
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

function specOf(start: number, end: number): ShardSpec {
  return ShardSpec.withRangeAndMetadata({ start: key(start), end: key(end), metadata: Buffer.from(`${start}-${end}`) });
}
