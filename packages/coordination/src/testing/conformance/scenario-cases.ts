import { planSplitResidualAtPoint } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import type { ConformanceCase } from "./conformance-case.ts";
import { at, initial, KEY, op, range, replaceAt, RUN, TENANT, text, worker, type World } from "./world.ts";

async function fullLifecycle(world: World): Promise<void> {
  await world.seed();
  const session = await world.open(1);
  for (const key of ["c", "h", "q"]) world.expectOutcome(await session.checkpoint(at(key, `token-${key}`)), "Executed");
  unwrap(await session.renew());
  world.expectOutcome(await session.complete(at("y")), "Executed");
  world.expectOutcome(await world.endRun("completeRun", 1), "Executed");
  world.expect(unwrap(await world.coordinator.getRunProgress({ tenant: TENANT, run: RUN }))).toEqual({
    total: 1,
    active: 0,
    done: 1,
    split: 0,
    parked: 0,
    leased: 0,
    watermark: undefined,
  });
}

async function takeOver(world: World): Promise<void> {
  await world.seed();
  const first = await world.open(1);
  unwrap(await first.checkpoint(at("h", "token")));
  world.clock.advance(100n);
  const second = await world.open(2);
  world.expect(second.cursor).toEqual(at("h", "token"));
  world.expectRefusal(await first.checkpoint(at("i")), "StaleFence", { presented: 2n, current: 3n });
  world.expect(first.isLeaseLost).toBe(true);
  world.expectRefusal(await first.complete(at("i")), "StaleFence");
  world.expectRefusal(await first.renew(), "SessionClosed", { shard: KEY });
  world.expectOutcome(await second.complete(at("y")), "Executed");
  world.expect((await world.shard()).cursor).toEqual(at("y"));
}

async function splitAndFinish(world: World): Promise<void> {
  await world.seed();
  const parent = await world.open(1);
  unwrap(await parent.checkpoint(at("c")));
  const { children } = unwrap(await parent.splitReplace(replaceAt("a", ["h", "p"], "z", at("c")))).value;
  world.expectRefusal(await world.endRun("completeRun", 1), "RunUnsettled", { active: 3, parked: 0 });
  for (const [index, shard] of children.entries()) {
    const session = await world.open(index + 1, { run: RUN, shard });
    world.expectOutcome(await session.complete(at(["g", "o", "y"][index]!)), "Executed");
  }
  world.expectOutcome(await world.endRun("completeRun", 1), "Executed");
  world
    .expect(unwrap(await world.coordinator.getRunProgress({ tenant: TENANT, run: RUN })))
    .toMatchObject({ total: 4, done: 3, split: 1 });
}

async function twoResiduals(world: World): Promise<void> {
  await world.seed();
  const session = await world.open(1);
  for (const point of ["m", "j"]) {
    const plan = unwrap(planSplitResidualAtPoint(session.spec, session.cursor, text(point)));
    unwrap(await session.splitResidual(plan));
  }
  world.expect(session.spec).toEqual(range("a", "j"));
  world.expect(session.spawned.length).toBe(2);
  const specs = await Promise.all(session.spawned.map(async (shard) => (await world.shard({ run: RUN, shard })).spec));
  world.expect(specs).toEqual([range("m", "z"), range("j", "m")]);
  world.expectOutcome(await session.complete(at("i")), "Executed");
}

async function forgottenOperations(world: World): Promise<void> {
  await world.seed();
  const session = await world.open(1);
  for (let index = 0; index < 20; index++) {
    unwrap(await session.checkpoint(at(`b${String.fromCharCode(97 + index)}`), { opId: op(100 + index) }));
  }
  const { opLog } = await world.shard();
  world.expect(opLog.map((entry) => entry.opId)).toEqual(Array.from({ length: 16 }, (_, index) => BigInt(104 + index)));
  world.expectOutcome(await session.checkpoint(at("bt"), { opId: op(119) }), "Replayed");
  world.expectRefusal(await session.checkpoint(at("ba"), { opId: op(100) }), "CursorRegression");
}

async function cancelEarly(world: World): Promise<void> {
  const { coordinator } = world;
  unwrap(await coordinator.createRun({ tenant: TENANT, run: RUN, config: { leaseDuration: 100n } }));
  world.expectOutcome(await world.endRun("cancelRun", 1), "Executed");
  world.expect(await world.run()).toMatchObject({ status: "Cancelled", rootShards: [] });
  const register = { tenant: TENANT, run: RUN, shards: [initial(10, "a", "z")], opId: op(2) };
  world.expectRefusal(await coordinator.registerShards(register), "WrongStatus", { status: "Cancelled" });
  unwrap(await coordinator.deleteRun({ tenant: TENANT, run: RUN }));
}

async function workerRecovers(world: World): Promise<void> {
  await world.seed();
  const before = await world.open(1);
  unwrap(await before.checkpoint(at("h"), { opId: op(1) }));
  // It crashes and restarts before its lease has expired, and again afterwards.
  world.expectRefusal(
    await world.coordinator.openSession({ tenant: TENANT, key: KEY, worker: worker(1) }),
    "AlreadyLeased",
  );
  world.clock.advance(100n);
  const after = await world.open(1);
  world.expect(after.cursor).toEqual(at("h"));
  world.expectOutcome(await after.checkpoint(at("h"), { opId: op(1) }), "Replayed");
  world.expectOutcome(await after.complete(at("y")), "Executed");
}

async function threeForTwo(world: World): Promise<void> {
  await world.seed({ shards: [initial(10, "a", "m"), initial(11, "m", "z")] });
  const claim = (by: number) => world.coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(by) });
  const [first, second] = [unwrap(await claim(1)), unwrap(await claim(2))];
  world.expectRefusal(await claim(3), "NoneAvailable", { earliestDeadline: first.lease.deadline });
  unwrap(await first.complete(at(first.shardKey.shard === 10n ? "b" : "n")));
  world.expectRefusal(await claim(3), "NoneAvailable", { earliestDeadline: second.lease.deadline });
  unwrap(await second.release());
  const third = unwrap(await claim(3));
  world.expect(third.shardKey).toEqual(second.shardKey);
}

/** Complete scenarios: section 9.2 of the specification. */
export const scenarioCases: readonly ConformanceCase[] = [
  { name: "S1: a shard is processed from start to end", run: fullLifecycle },
  { name: "S2: a lease expires and another worker takes over", run: takeOver },
  { name: "S3: a shard is replaced and its children finished", run: splitAndFinish },
  { name: "S4: two residual splits, one after the other", run: twoResiduals },
  { name: "S5: operations are evicted, oldest first", run: forgottenOperations },
  { name: "S6: a run is canceled before it has shards", run: cancelEarly },
  { name: "S7: a worker returns to its own shard", run: workerRecovers },
  { name: "S8: three workers share two shards", run: threeForTwo },
];
