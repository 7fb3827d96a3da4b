import { unwrap } from "@gossip/stdx";
import type { ConformanceCase } from "./conformance-case.ts";
import { at, KEY, op, replaceAt, residualAt, TENANT, worker, type World } from "./world.ts";

async function fenceMonotonicity(world: World): Promise<void> {
  const { coordinator, clock, expect } = world;
  await world.seed();
  const first = await world.acquire(1);
  expect(first.lease.fence).toBe(2n);
  unwrap(await coordinator.renew({ tenant: TENANT, lease: first.lease }));
  unwrap(await world.checkpoint(first.lease, "c", 1));
  unwrap(
    await coordinator.splitResidual({
      tenant: TENANT,
      lease: first.lease,
      plan: residualAt("a", "m", "z"),
      opId: op(2),
    }),
  );
  expect((await world.shard()).fenceEpoch).toBe(2n);

  clock.advance(100n);
  const second = await world.acquire(2);
  expect(second.lease.fence).toBe(3n);
  unwrap(await coordinator.park({ tenant: TENANT, lease: second.lease, reason: "Other", opId: op(3) }));
  expect((await world.shard()).fenceEpoch).toBe(3n);
  unwrap(await coordinator.unpark({ tenant: TENANT, key: KEY, opId: op(4) }));
  expect((await world.shard()).fenceEpoch).toBe(4n);
  expect((await world.acquire(1)).lease.fence).toBe(5n);
}

async function cursorMonotonicity(world: World): Promise<void> {
  await world.seed();
  const { lease } = await world.acquire(1);
  unwrap(await world.checkpoint(lease, "f", 1));
  world.expectRefusal(await world.checkpoint(lease, "e", 2), "CursorRegression", { oldKey: 1, newKey: 1 });
  unwrap(
    await world.coordinator.splitResidual({ tenant: TENANT, lease, plan: residualAt("a", "m", "z"), opId: op(3) }),
  );
  world.expectRefusal(await world.checkpoint(lease, "m", 4), "CursorOutOfBounds", {
    lastKey: 1,
    specStart: 1,
    specEnd: 1,
  });
  world.expectRefusal(await world.checkpoint(lease, "e", 5), "CursorRegression");
  world.expectOutcome(await world.checkpoint(lease, "l", 6), "Executed");
  world.expect((await world.shard()).cursor).toEqual(at("l"));
}

async function idempotencyBeforeTerminal(world: World): Promise<void> {
  await world.seed();
  const { lease } = await world.acquire(1);
  world.expectOutcome(await world.complete(lease, at("y"), 9), "Executed");
  world.expectOutcome(await world.complete(lease, at("y"), 9), "Replayed");
  world.clock.advance(1_000n);
  world.expectOutcome(await world.complete(lease, at("y"), 9), "Replayed");
  world.expectRefusal(await world.complete(lease, at("y"), 10), "ShardTerminal", { status: "Done", shard: KEY });
  world.expectRefusal(await world.complete(lease, at("x"), 9), "OpIdConflict", { opId: 9n });
}

async function residualThroughPark(world: World): Promise<void> {
  const { coordinator } = world;
  await world.seed();
  const { lease } = await world.acquire(1);
  unwrap(await world.checkpoint(lease, "c", 1));
  const split = unwrap(
    await coordinator.splitResidual({
      tenant: TENANT,
      lease,
      plan: residualAt("a", "m", "z", ["p", "r"]),
      opId: op(2),
    }),
  );
  unwrap(await coordinator.park({ tenant: TENANT, lease, reason: "NotFound", opId: op(3) }));
  const parked = await world.shard();
  world.expect(parked.parkReason).toBe("NotFound");
  unwrap(await coordinator.unpark({ tenant: TENANT, key: KEY, opId: op(4) }));
  const { snapshot } = await world.acquire(2);
  world.expect(snapshot.spec).toEqual(parked.spec);
  world.expect(snapshot.spec.metadata).toEqual(new TextEncoder().encode("p"));
  world.expect(snapshot.cursor).toEqual(at("c"));
  world.expect(snapshot.spawned).toEqual([split.value.residual]);
}

async function ownerDivergence(world: World): Promise<void> {
  await world.seed();
  const { lease } = await world.acquire(1);
  const forged = { ...lease, owner: worker(2) };
  world.expectRefusal(await world.checkpoint(forged, "c", 1), "StaleFence", { presented: 2n, current: 2n });
  world.expectRefusal(await world.coordinator.renew({ tenant: TENANT, lease: forged }), "StaleFence");
}

async function terminalClearsLease(world: World): Promise<void> {
  const { coordinator } = world;
  for (const [index, end] of (["complete", "park", "splitReplace"] as const).entries()) {
    const run = (await world.seed({ run: BigInt(index + 1) as typeof KEY.run })).run;
    const key = { ...KEY, run };
    const { lease } = await world.acquire(1, { key });
    const common = { tenant: TENANT, lease, opId: op(1) };
    if (end === "complete") unwrap(await coordinator.complete({ ...common, point: at("y") }));
    else if (end === "park") unwrap(await coordinator.park({ ...common, reason: "Poisoned" }));
    else unwrap(await coordinator.splitReplace({ ...common, plan: replaceAt("a", ["m"], "z") }));
    world.expect((await world.shard(key)).lease).toBe(undefined);
    world.expectRefusal(await coordinator.renew({ tenant: TENANT, lease }), "ShardTerminal");
    world.expectRefusal(await coordinator.acquire({ tenant: TENANT, key, worker: worker(2) }), "ShardTerminal");
  }
}

async function dispatchedSemantics(world: World): Promise<void> {
  await world.seed({ config: { cursorSemantics: "Dispatched" } });
  const { lease, snapshot } = await world.acquire(1);
  world.expect(snapshot.cursorSemantics).toBe("Dispatched");
  world.expectOutcome(await world.checkpoint(lease, "c", 1), "Executed");
  world.expectRefusal(await world.checkpoint(lease, "b", 2), "CursorRegression");
  unwrap(
    await world.coordinator.splitResidual({ tenant: TENANT, lease, plan: residualAt("a", "m", "z"), opId: op(3) }),
  );
  const { spawned } = await world.shard();
  world.expect((await world.shard({ ...KEY, shard: spawned[0]! })).cursorSemantics).toBe("Dispatched");
  world.expectOutcome(await world.complete(lease, at("l"), 4), "Executed");
}

async function deadlineBoundary(world: World): Promise<void> {
  await world.seed();
  world.clock.set(10n);
  const { lease } = await world.acquire(1);
  world.expect(lease.deadline).toBe(110n);
  world.clock.set(109n);
  world.expectOutcome(await world.checkpoint(lease, "c", 1), "Executed");
  world.expectRefusal(
    await world.coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(2) }),
    "AlreadyLeased",
    { leaseDeadline: 110n },
  );
  world.clock.set(110n);
  world.expectRefusal(await world.checkpoint(lease, "d", 2), "LeaseExpired", { deadline: 110n, now: 110n });
  world.expectRefusal(await world.coordinator.renew({ tenant: TENANT, lease }), "LeaseExpired");
  world.expect((await world.acquire(2)).lease.fence).toBe(3n);
}

async function opLogEviction(world: World): Promise<void> {
  await world.seed();
  const { lease } = await world.acquire(1);
  const keys = "bcdefghijklmnopqrst".split("");
  for (const [index, key] of keys.slice(0, 16).entries()) unwrap(await world.checkpoint(lease, key, index + 1));
  world.expectOutcome(await world.checkpoint(lease, "b", 1), "Replayed");
  unwrap(await world.checkpoint(lease, keys[16]!, 17));
  world.expect((await world.shard()).opLog.length).toBe(16);
  // The first is evicted: the same request now counts as a new one.
  world.expectRefusal(await world.checkpoint(lease, "b", 1), "CursorRegression");
  world.expectOutcome(await world.checkpoint(lease, keys[17]!, 1), "Executed");
  world.expectOutcome(await world.checkpoint(lease, keys[16]!, 17), "Replayed");
}

async function unparkLifecycle(world: World): Promise<void> {
  const { coordinator } = world;
  await world.seed();
  const { lease } = await world.acquire(1);
  unwrap(await coordinator.checkpoint({ tenant: TENANT, lease, cursor: at("c", "token"), opId: op(1) }));
  unwrap(await coordinator.park({ tenant: TENANT, lease, reason: "PermissionDenied", opId: op(2) }));
  world.expectRefusal(
    await coordinator.unpark({ tenant: TENANT, key: { ...KEY, shard: 99n as typeof KEY.shard }, opId: op(3) }),
    "ShardNotFound",
  );
  world.expectOutcome(await coordinator.unpark({ tenant: TENANT, key: KEY, opId: op(3) }), "Executed");
  world.expectOutcome(await coordinator.unpark({ tenant: TENANT, key: KEY, opId: op(3) }), "Replayed");
  world.expectRefusal(await coordinator.unpark({ tenant: TENANT, key: KEY, opId: op(4) }), "NotParked", {
    status: "Active",
  });
  const record = await world.shard();
  world.expect({ ...record, opLog: [] }).toMatchObject({ fenceEpoch: 3n, status: "Active", parkReason: undefined });
  world.expect(record.cursor).toEqual(at("c", "token"));
  world.expect((await world.acquire(2)).lease.fence).toBe(4n);
  world.expectRefusal(await world.checkpoint(lease, "d", 5), "StaleFence", { presented: 2n, current: 4n });
}

async function sameWorkerReacquires(world: World): Promise<void> {
  await world.seed();
  const first = await world.acquire(1);
  world.expectRefusal(
    await world.coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(1) }),
    "AlreadyLeased",
  );
  world.clock.advance(100n);
  const second = await world.acquire(1);
  world.expect(second.lease.fence).toBe(3n);
  world.expectRefusal(await world.checkpoint(first.lease, "c", 1), "StaleFence", { presented: 2n, current: 3n });
  world.expectOutcome(await world.checkpoint(second.lease, "c", 1), "Executed");
}

async function ordersOfChecks(world: World): Promise<void> {
  const { coordinator } = world;
  await world.seed();
  const { lease } = await world.acquire(1);
  unwrap(await world.checkpoint(lease, "k", 1));
  world.clock.advance(100n);
  // Conflict before expiry, expiry before the cursor; once another worker holds the shard, the fence before both.
  world.expectRefusal(await world.checkpoint(lease, "b", 1), "OpIdConflict");
  world.expectRefusal(await world.checkpoint(lease, "b", 2), "LeaseExpired");
  unwrap(await coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(2) }));
  world.clock.advance(100n);
  world.expectRefusal(await world.checkpoint(lease, "b", 2), "StaleFence");
  world.expectRefusal(
    await coordinator.splitReplace({ tenant: TENANT, lease, plan: replaceAt("a", ["m"], "q"), opId: op(3) }),
    "StaleFence",
  );
}

/** One shard from its first acquire to its end: groups A and B of the specification. */
export const lifecycleCases: readonly ConformanceCase[] = [
  { name: "A1: the fence grows with every acquisition, and with nothing else", run: fenceMonotonicity },
  { name: "A2: a cursor moves forward and within the range, even after it was narrowed", run: cursorMonotonicity },
  { name: "A3: a replay succeeds after the shard has ended; a new operation does not", run: idempotencyBeforeTerminal },
  { name: "A4: a narrowed range, the spawned shards and the cursor survive park and unpark", run: residualThroughPark },
  { name: "A5: the current fence of another owner is stale", run: ownerDivergence },
  { name: "A6: every operation that ends a shard ends its lease", run: terminalClearsLease },
  { name: "B1: dispatched cursors behave like completed ones", run: dispatchedSemantics },
  { name: "B2: a lease is valid before its deadline and not at it", run: deadlineBoundary },
  { name: "B4: the seventeenth operation evicts the first", run: opLogEviction },
  { name: "B5: unpark raises the fence and keeps the cursor", run: unparkLifecycle },
  { name: "B6: a worker that acquires its own shard again gets a new fence", run: sameWorkerReacquires },
  { name: "of two violated rules, the earlier is reported", run: ordersOfChecks },
];
