// A process of the fault run: claims shards of one run after the other, works on several at once, and writes down every answer
// that it gets before it goes on. It is killed at any moment and does nothing to be ready for that.

import { openSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Cursor, OpId, RunId, ShardId, ShardSpec, SplitReplacePlan, SplitResidualPlan, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, systemClock, type WorkerSession } from "@gossip/coordination";
import { unwrap, type Result } from "@gossip/stdx";
import { FAULT_LEASE_MS, FAULT_TENANT, key, makeRoots, placeOf, rootWidth, type FaultLine, type FaultWorkerConfig } from "./fault-log.fixture.ts";
import type { Durability } from "./durability.ts";
import { openLmdbStore } from "./open-lmdb-store.ts";

const config = JSON.parse(process.argv[2]!) as FaultWorkerConfig;
const log = openSync(config.logPath, "a");
const store = unwrap(await openLmdbStore({ path: config.path, durability: config.durability as Durability }));
const retry = { sleep: (ms: number) => sleep(ms), random: Math.random };
const coordinator = new Coordinator({ store, clock: systemClock(Date.now), retry });
const tenant = TenantId.fromBytes(FAULT_TENANT);
const worker = WorkerId.fromRaw(BigInt(config.incarnation));
const runConfig = { leaseDuration: BigInt(FAULT_LEASE_MS) };
// A test run that is itself killed must not leave workers behind.
const parent = process.ppid;
let isStopping = false;
let run = 1;

process.on("SIGTERM", () => {
  isStopping = true;
});

await useAndRemoveRun();
await Promise.all(Array.from({ length: config.sessions }, work));
await store.close();

function tell(line: FaultLine): void {
  writeSync(log, `${JSON.stringify(line)}\n`);
}

function below(limit: number): number {
  return Math.floor(Math.random() * limit);
}

/** What came of a call, noted where it is no answer that the work goes on with. */
function isMade(what: string, result: Result<unknown, { readonly kind: string }>): boolean {
  if (!result.ok) tell(["Refused", what, result.error.kind]);
  return result.ok;
}

/** A run of this process's own, made and removed at once: removing is killed in the middle too. */
async function useAndRemoveRun(): Promise<void> {
  const own = RunId.fromRaw(1_000_000n + BigInt(config.incarnation));
  const opId = OpId.fromRaw(1n);
  const created = await coordinator.createRunWithShards({ tenant, run: own, config: runConfig, shards: makeRoots(60), opId });
  if (!isMade("create own", created)) return;
  if (!isMade("cancel own", await coordinator.cancelRun({ tenant, run: own, opId: OpId.fromRaw(2n) }))) return;
  if (isMade("delete own", await coordinator.deleteRun({ tenant, run: own }))) tell(["Deleted", Number(own)]);
}

async function work(): Promise<void> {
  while (!isStopping && process.ppid === parent) {
    const claimed = await coordinator.claim({ tenant, run: RunId.fromRaw(BigInt(run)), worker, markStarved: below(4) === 0 });
    if (claimed.ok) {
      await scan(claimed.value);
      continue;
    }
    const { error } = claimed;
    if (error.kind === "RunNotFound" || (error.kind === "NoneAvailable" && error.earliestDeadline === undefined)) await nextRun(error.kind === "RunNotFound");
    else await sleep(5 + below(20));
  }
}

/** Make the run that is to be worked on, or go on to the one behind it. */
async function nextRun(isMissing: boolean): Promise<void> {
  const current = run;
  if (!isMissing) {
    run = current + 1;
    return;
  }
  const shards = makeRoots(config.roots);
  const created = await coordinator.createRunWithShards({ tenant, run: RunId.fromRaw(BigInt(current)), config: runConfig, shards, opId: OpId.random() });
  if (isMade("create", created)) tell(["Created", current]);
}

async function scan(session: WorkerSession): Promise<void> {
  const shard = session.shardKey.shard;
  const runNumber = Number(session.shardKey.run);
  const fence = Number(session.lease.fence);
  const lastKey = session.cursor.lastKey;
  tell(["Acquired", runNumber, ShardId.format(shard), fence, lastKey === undefined ? -1 : placeOf(lastKey), config.incarnation]);
  let at = lastKey === undefined ? placeOf(session.spec.keyRangeStart) : placeOf(lastKey) + 1;
  // A shard takes about a dozen checkpoints, or is split until one takes so many.
  const stepSize = Math.ceil(rootWidth(config.roots) / 6);
  while (!isStopping) {
    const end = placeOf(session.spec.keyRangeEnd);
    if (at >= end - 1) return complete(session, end - 1);
    const point = at + 1 + below(Math.max(1, Math.ceil((end - at) / 2) - 1));
    const chance = below(100);
    if (chance < 3 && point > at && point < end - 1) {
      const parentNewSpec = specOf(placeOf(session.spec.keyRangeStart), point);
      const plan = unwrap(SplitResidualPlan.tryNew({ parentNewSpec, residualSpec: specOf(point, end) }));
      if (isMade("splitResidual", await session.splitResidual(plan))) tell(["Split", runNumber, ShardId.format(shard), fence]);
    } else if (chance < 4 && point > at && point < end - 1) {
      const children = [
        { spec: specOf(placeOf(session.spec.keyRangeStart), point), cursor: session.cursor },
        { spec: specOf(point, end), cursor: Cursor.initial() },
      ];
      if (isMade("splitReplace", await session.splitReplace(unwrap(SplitReplacePlan.tryNew(children))))) tell(["Split", runNumber, ShardId.format(shard), fence]);
    } else if (chance < 5) {
      isMade("release", await session.release());
    } else {
      const made = await session.checkpoint(Cursor.fromParts({ lastKey: key(at), token: Buffer.alloc(40, at) }), { renew: true });
      if (isMade("checkpoint", made)) tell(["Checkpointed", runNumber, ShardId.format(shard), fence, at, config.incarnation]);
      at += 1 + below(stepSize);
    }
    if (session.isClosed || session.isLeaseLost) return;
  }
}

async function complete(session: WorkerSession, at: number): Promise<void> {
  const completed = await session.complete(Cursor.fromParts({ lastKey: key(at) }));
  if (!isMade("complete", completed)) return;
  const { run: runId, shard } = session.shardKey;
  tell(["Completed", Number(runId), ShardId.format(shard), Number(session.lease.fence), at, config.incarnation]);
}

function specOf(start: number, end: number): ShardSpec {
  return ShardSpec.withRangeAndMetadata({ start: key(start), end: key(end), metadata: Buffer.from(`${start}-${end}`) });
}
