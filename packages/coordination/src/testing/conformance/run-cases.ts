import { OpId, RunId, type RunStatus } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { Coordinator } from "../../coordinator/coordinator.ts";
import type { Lease } from "../../records/lease.ts";
import type { ConformanceCase } from "./conformance-case.ts";
import {
  at,
  initial,
  KEY,
  LEASE_DURATION,
  op,
  replaceAt,
  residualAt,
  RUN,
  TENANT,
  worker,
  type World,
} from "./world.ts";

const config = { leaseDuration: LEASE_DURATION };

const ENDINGS = [
  { end: "completeRun", status: "Done" },
  { end: "failRun", status: "Failed" },
  { end: "cancelRun", status: "Cancelled" },
] as const satisfies readonly { end: "completeRun" | "failRun" | "cancelRun"; status: RunStatus }[];

/** Ends a run. Completing is forced, because these cases are not about shards. */
async function endRun(world: World, end: (typeof ENDINGS)[number]["end"], opId: number, run = RUN): Promise<void> {
  const request = { tenant: TENANT, run, opId: op(opId) };
  unwrap(
    end === "completeRun"
      ? await world.coordinator.completeRun({ ...request, force: true })
      : await world.coordinator[end](request),
  );
}

async function terminalIrreversible(world: World): Promise<void> {
  for (const [index, { end, status }] of ENDINGS.entries()) {
    const run = RunId.fromRaw(BigInt(index + 1));
    await world.seed({ run });
    await world.acquire(1, { key: { ...KEY, run } });
    await endRun(world, end, 1, run);
    for (const other of ENDINGS) world.expectRefusal(await world.endRun(other.end, 2, run), "RunTerminal", { status });
    world.expectOutcome(await world.endRun(end, 1, run), "Replayed");
    const register = { tenant: TENANT, run, shards: [initial(1, "a", "b")], opId: op(3) };
    world.expectRefusal(await world.coordinator.registerShards(register), "WrongStatus", { status });
  }
}

async function completedAt(world: World): Promise<void> {
  await world.seed();
  world.expect(await world.run()).toMatchObject({ status: "Active", createdAt: 1n, completedAt: undefined });
  world.clock.set(77n);
  await endRun(world, "failRun", 1);
  world.expect(await world.run()).toMatchObject({ status: "Failed", completedAt: 77n });
  world.clock.set(99n);
  world.expectOutcome(await world.endRun("failRun", 1), "Replayed");
  world.expect((await world.run()).completedAt).toBe(77n);
}

async function unparkAfterEnd(world: World): Promise<void> {
  const { coordinator } = world;
  for (const [index, { end, status }] of ENDINGS.entries()) {
    const run = RunId.fromRaw(BigInt(index + 1));
    await world.seed({ run });
    const key = { ...KEY, run };
    const { lease } = await world.acquire(1, { key });
    unwrap(await coordinator.park({ tenant: TENANT, lease, reason: "Other", opId: op(1) }));
    await endRun(world, end, 1, run);
    world.expectRefusal(await coordinator.unpark({ tenant: TENANT, key, opId: op(2) }), "RunTerminal", { status });
    world.expect((await world.shard(key)).status).toBe("Parked");
  }
}

async function runStopsItsWorkers(world: World): Promise<void> {
  const { coordinator } = world;
  const shards = [initial(10, "a", "d"), initial(11, "d", "g"), initial(12, "g", "k"), initial(13, "k", "z")];
  await world.seed({ shards });
  const key = (shard: (typeof shards)[number]) => ({ run: RUN, shard: shard.shard });
  const held = await world.acquire(1, { key: key(shards[0]!), opId: op(50) });
  const other = await world.acquire(1, { key: key(shards[1]!) });
  const third = await world.acquire(1, { key: key(shards[2]!) });
  unwrap(await world.checkpoint(other.lease, "e", 7));
  await endRun(world, "cancelRun", 1);
  const terminal = { status: "Cancelled" };

  world.expectRefusal(
    await coordinator.acquire({ tenant: TENANT, key: key(shards[3]!), worker: worker(2) }),
    "RunTerminal",
    terminal,
  );
  world.expectRefusal(
    await coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(2) }),
    "RunTerminal",
    terminal,
  );
  world.expectRefusal(await coordinator.renew({ tenant: TENANT, lease: held.lease }), "RunTerminal", terminal);
  const leased = { tenant: TENANT, lease: held.lease };
  world.expectRefusal(
    await coordinator.splitReplace({ ...leased, plan: replaceAt("a", ["b"], "d"), opId: op(2) }),
    "RunTerminal",
    terminal,
  );
  world.expectRefusal(
    await coordinator.splitResidual({ ...leased, plan: residualAt("a", "b", "d"), opId: op(3) }),
    "RunTerminal",
    terminal,
  );
  // A repeated acquire still returns its lease, and finished work is still accepted.
  world.expectOutcome(
    await coordinator.acquire({ tenant: TENANT, key: key(shards[0]!), worker: worker(1), opId: op(50) }),
    "Replayed",
  );
  world.expectOutcome(await world.checkpoint(held.lease, "b", 4), "Executed");
  world.expectOutcome(await world.complete(held.lease, at("c"), 5), "Executed");
  world.expectOutcome(
    await coordinator.park({ tenant: TENANT, lease: other.lease, reason: "Other", opId: op(6) }),
    "Executed",
  );
  world.expectOutcome(await world.checkpoint(other.lease, "e", 7), "Replayed");
  world.expectOutcome(await coordinator.release({ tenant: TENANT, lease: third.lease, opId: op(8) }), "Executed");
  const candidates = unwrap(await coordinator.collectClaimCandidates({ tenant: TENANT, run: RUN }));
  world.expect(candidates.shards).toEqual([12n, 13n]);
}

async function runEndsInBetween(world: World): Promise<void> {
  world.probe.mayIntervene = true;
  const coordinator = world.makeCoordinator();
  const behind = new Coordinator({ store: world.store, clock: world.clock });
  const terminal = { status: "Cancelled" };
  let count = 0n;
  /** A run whose shard is in some state, and that ends just before the next write. */
  const prepare = async (setUp: (key: typeof KEY) => Promise<Lease>): Promise<{ key: typeof KEY; lease: Lease }> => {
    const key = { ...KEY, run: RunId.fromRaw(++count) };
    await world.seed({ run: key.run });
    const lease = await setUp(key);
    world.probe.beforeNextCommit = async () =>
      void unwrap(await behind.cancelRun({ tenant: TENANT, run: key.run, opId: op(99) }));
    return { key, lease };
  };
  const held = async (key: typeof KEY) => (await world.acquire(1, { key })).lease;
  const parked = async (key: typeof KEY) => {
    const lease = await held(key);
    unwrap(await behind.park({ tenant: TENANT, lease, reason: "Other", opId: op(1) }));
    return lease;
  };

  const lapsed = await prepare(async (key) => {
    const lease = await held(key);
    world.clock.advance(LEASE_DURATION);
    return lease;
  });
  world.expectRefusal(
    await coordinator.acquire({ tenant: TENANT, key: lapsed.key, worker: worker(2) }),
    "RunTerminal",
    terminal,
  );
  world.expectRefusal(
    await coordinator.renew({ tenant: TENANT, lease: (await prepare(held)).lease }),
    "RunTerminal",
    terminal,
  );
  const residual = { tenant: TENANT, lease: (await prepare(held)).lease, plan: residualAt("a", "m", "z"), opId: op(2) };
  world.expectRefusal(await coordinator.splitResidual(residual), "RunTerminal", terminal);
  const replace = { tenant: TENANT, lease: (await prepare(held)).lease, plan: replaceAt("a", ["m"], "z"), opId: op(2) };
  world.expectRefusal(await coordinator.splitReplace(replace), "RunTerminal", terminal);
  const { key } = await prepare(parked);
  world.expectRefusal(await coordinator.unpark({ tenant: TENANT, key, opId: op(2) }), "RunTerminal", terminal);
  // Finished work is still accepted, and the lease keeps its deadline.
  const last = await prepare(held);
  const checkpoint = { tenant: TENANT, lease: last.lease, cursor: at("c"), opId: op(2), renew: true };
  world.clock.advance(10n);
  world
    .expect(unwrap(await coordinator.checkpoint(checkpoint)))
    .toMatchObject({ kind: "Executed", value: { newDeadline: undefined } });
  world.expect((await world.shard(last.key)).lease?.deadline).toBe(last.lease.deadline);
}

async function completionNeedsSettledShards(world: World): Promise<void> {
  const { coordinator } = world;
  const request = { tenant: TENANT, run: RUN, opId: op(1) };
  await world.seed({ shards: [initial(10, "a", "m"), initial(11, "m", "z")] });
  world.expectRefusal(await coordinator.completeRun(request), "RunUnsettled", { active: 2, parked: 0 });
  const first = await world.acquire(1);
  unwrap(await world.complete(first.lease, at("b"), 1));
  const second = await world.acquire(1, { key: { ...KEY, shard: 11n as typeof KEY.shard } });
  unwrap(await coordinator.park({ tenant: TENANT, lease: second.lease, reason: "Other", opId: op(2) }));
  world.expectRefusal(await coordinator.completeRun(request), "RunUnsettled", { active: 0, parked: 1 });
  world.expectOutcome(await coordinator.completeRun({ ...request, acceptParked: true }), "Executed");
  // The options are not part of the payload.
  world.expectOutcome(await coordinator.completeRun(request), "Replayed");

  const forced = RunId.fromRaw(2n);
  await world.seed({ run: forced });
  world.expectOutcome(await coordinator.completeRun({ ...request, run: forced, force: true }), "Executed");
}

async function deletion(world: World): Promise<void> {
  const { coordinator } = world;
  await world.seed();
  const { lease } = await world.acquire(1);
  const run = { tenant: TENANT, run: RUN };
  world.expectRefusal(await coordinator.deleteRun(run), "WrongStatus", { status: "Active" });
  await endRun(world, "cancelRun", 1);
  unwrap(await coordinator.deleteRun(run));
  world.expectRefusal(await coordinator.deleteRun(run), "RunNotFound");
  world.expectRefusal(await coordinator.getRun(run), "RunNotFound");
  world.expectRefusal(await coordinator.getRunProgress(run), "RunNotFound");
  world.expectRefusal(await coordinator.claim({ ...run, worker: worker(1) }), "RunNotFound");
  world.expectRefusal(await world.checkpoint(lease, "c", 2), "ShardNotFound", { shard: KEY });
  world.expectRefusal(await coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(1) }), "ShardNotFound");
  // The id stays used: a worker of the deleted run could pass for one of a new run with the same fences.
  world.expectRefusal(await coordinator.createRun({ ...run, config }), "RunAlreadyExists", { run: RUN });
  const again = { ...run, config, shards: [initial(10, "a", "z")], opId: OpId.fromRaw(5n) };
  world.expectRefusal(await coordinator.createRunWithShards(again), "RunAlreadyExists", { run: RUN });
}

export const runCases: readonly ConformanceCase[] = [
  { name: "C1: an ended run keeps its status", run: terminalIrreversible },
  { name: "C3: the time of the end is recorded", run: completedAt },
  { name: "C4: no shard is unparked after the run has ended", run: unparkAfterEnd },
  { name: "P2: an ended run stops its workers and accepts finished work", run: runStopsItsWorkers },
  { name: "P2: a run that ends between a decision and its write stops it too", run: runEndsInBetween },
  { name: "P3: a run completes when its shards are settled", run: completionNeedsSettledShards },
  { name: "P7: a deleted run does not exist, and its id stays used", run: deletion },
];
