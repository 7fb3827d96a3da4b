import { Cursor, LogicalTime, RunId, TenantId, U64_MAX, type InitialShardInput } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { RANGE_EXHAUSTED } from "../../hashing/payload-hash.ts";
import type { CoordinationEvent } from "../../records/coordination-event.ts";
import { AcquireScratch } from "../../views/acquire-scratch.ts";
import type { ConformanceCase } from "./conformance-case.ts";
import {
  at,
  initial,
  KEY,
  op,
  OTHER_TENANT,
  range,
  replaceAt,
  residualAt,
  RUN,
  TENANT,
  text,
  worker,
  type World,
} from "./world.ts";

async function oneTripForTheHolder(world: World): Promise<void> {
  await world.seed();
  const session = await world.open(1);
  world.probe.reset();
  unwrap(await session.checkpoint(at("c")));
  unwrap(await session.renew());
  unwrap(await session.checkpoint(at("d"), { renew: true }));
  unwrap(await session.complete(at("e")));
  world.expect({ reads: world.probe.reads, commits: world.probe.commits.length }).toEqual({ reads: 0, commits: 4 });
}

async function oneCommitForMany(world: World): Promise<void> {
  const count = Math.min(world.store.traits?.maxSetsPerCommit ?? 64, 64);
  const shards: InitialShardInput[] = Array.from({ length: count }, (_, index) => {
    const start = `k${String(index).padStart(2, "0")}`;
    return initial(100 + index, start, `${start}~`);
  });
  await world.seed({ shards });
  const sessions = unwrap(await world.coordinator.claimMany({ tenant: TENANT, run: RUN, worker: worker(1), count }));
  world.expect(sessions.length).toBe(count);
  // One of them has lost its lease without knowing.
  const lost = sessions[0]!;
  unwrap(await world.coordinator.release({ tenant: TENANT, lease: lost.lease, opId: op(1) }));
  world.probe.reset();
  const start = (session: (typeof sessions)[number]) => Cursor.withLastKey(session.spec.keyRangeStart);
  const answers = await Promise.all(sessions.map((session) => session.checkpoint(start(session))));
  // A synchronous store gains nothing from batches.
  world.expect(world.probe.commits.length).toBe(world.store.traits?.answersAtOnce === true ? count : 1);
  world.expectRefusal(answers[0]!, "StaleFence");
  for (const answer of answers.slice(1)) world.expectOutcome(answer, "Executed");
}

async function timeNeverGoesBack(world: World): Promise<void> {
  await world.seed();
  world.clock.set(500n);
  const first = await world.acquire(1);
  unwrap(await world.checkpoint(first.lease, "c", 1));
  world.clock.set(20n);
  world.expectOutcome(await world.checkpoint(first.lease, "d", 2), "Executed");
  const record = await world.shard();
  world.expect(record.lastTime).toBe(500n);
  world.expect(record.opLog.map((entry) => entry.executedAt)).toEqual([500n, 500n]);
  world.expect(unwrap(await world.coordinator.renew({ tenant: TENANT, lease: first.lease })).newDeadline).toBe(600n);

  world.clock.set(600n);
  const second = await world.acquire(2);
  world.clock.set(550n);
  // By this clock the first lease would still be valid. It does not become valid again.
  world.expectRefusal(await world.checkpoint(first.lease, "e", 3), "StaleFence");
  world.expectOutcome(await world.checkpoint(second.lease, "e", 4), "Executed");
  // The time of a run never goes back either.
  world.clock.set(3n);
  unwrap(await world.coordinator.cancelRun({ tenant: TENANT, run: RUN, opId: op(1) }));
  world.clock.set(1n);
  const later = RunId.fromRaw(2n);
  world.clock.set(9n);
  await world.seed({ run: later });
  world.clock.set(4n);
  unwrap(await world.coordinator.failRun({ tenant: TENANT, run: later, opId: op(1) }));
  world.expect(await world.run(later)).toMatchObject({ createdAt: 9n, completedAt: 9n });
}

async function impossibleTimes(world: World): Promise<void> {
  await world.seed();
  for (const impossible of [LogicalTime.ZERO, LogicalTime.MAX]) {
    world.clock.set(impossible);
    await world.expectViolation(() => world.coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(1) }));
    await world.expectViolation(() => world.coordinator.cancelRun({ tenant: TENANT, run: RUN, opId: op(1) }));
    await world.expectViolation(() =>
      world.coordinator.claim({ tenant: TENANT, run: RunId.fromRaw(9n), worker: worker(1) }),
    );
  }
  world.clock.set(U64_MAX - 1n);
  world.expect((await world.acquire(1)).lease.deadline).toBe(U64_MAX);
}

async function emptyRange(world: World): Promise<void> {
  await world.seed({ shards: [initial(10, "a", "m"), initial(11, "m", "z")] });
  const empty = await world.acquire(1);
  world.expectRefusal(await world.complete(empty.lease, Cursor.initial(), 1), "CheckpointMissingKey");
  world.expectOutcome(await world.complete(empty.lease, RANGE_EXHAUSTED, 1), "Executed");
  world.expectOutcome(await world.complete(empty.lease, RANGE_EXHAUSTED, 1), "Replayed");
  world.expectRefusal(await world.complete(empty.lease, at("b"), 1), "OpIdConflict");
  const done = await world.shard();
  world.expect(done.status).toBe("Done");
  world.expect(done.cursor).toEqual(Cursor.initial());

  const key = { ...KEY, shard: 11n as typeof KEY.shard };
  const begun = await world.acquire(1, { key });
  unwrap(
    await world.coordinator.checkpoint({ tenant: TENANT, lease: begun.lease, cursor: at("n", "token"), opId: op(1) }),
  );
  unwrap(await world.complete(begun.lease, RANGE_EXHAUSTED, 2));
  world.expect((await world.shard(key)).cursor).toEqual(at("n", "token"));
}

async function release(world: World): Promise<void> {
  const { coordinator } = world;
  await world.seed();
  const { lease } = await world.acquire(1);
  unwrap(await world.checkpoint(lease, "c", 1));
  world.expectOutcome(await coordinator.release({ tenant: TENANT, lease, opId: op(2) }), "Executed");
  world.expectOutcome(await coordinator.release({ tenant: TENANT, lease, opId: op(2) }), "Replayed");
  world.expectRefusal(await coordinator.release({ tenant: TENANT, lease, opId: op(3) }), "StaleFence", {
    presented: 2n,
    current: 2n,
  });
  world.expect(await world.shard()).toMatchObject({ status: "Active", lease: undefined, fenceEpoch: 2n });
  const next = await world.acquire(2);
  world.expect(next.lease.fence).toBe(3n);
  world.expect(next.snapshot.cursor).toEqual(at("c"));
}

async function retriesAreLimited(world: World): Promise<void> {
  await world.seed({ config: { maxShardRetries: 1 } });
  const acquire = (by: number) => world.coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(by) });
  unwrap(await acquire(1));
  world.clock.advance(100n);
  const second = unwrap(await acquire(2)).value;
  unwrap(await world.checkpoint(second.lease, "c", 1));
  world.expect((await world.shard()).attempts).toBe(0);
  // Progress resets the count; repeating the same key is no progress.
  world.clock.advance(100n);
  const third = unwrap(await acquire(3)).value;
  unwrap(
    await world.coordinator.checkpoint({ tenant: TENANT, lease: third.lease, cursor: at("c", "token"), opId: op(2) }),
  );
  world.clock.advance(100n);
  unwrap(await acquire(4));
  world.clock.advance(100n);
  world.expectRefusal(await acquire(5), "ShardTerminal", { status: "Parked" });
  const parked = await world.shard();
  world
    .expect(parked)
    .toMatchObject({ status: "Parked", parkReason: "TooManyErrors", lease: undefined, fenceEpoch: 5n });
  world.expect(parked.cursor).toEqual(at("c", "token"));
  world.expect(parked.opLog.length).toBe(2);
  unwrap(await world.coordinator.unpark({ tenant: TENANT, key: KEY, opId: op(3) }));
  world.expect(unwrap(await acquire(6)).value.lease.fence).toBe(7n);
}

async function eventsAreTold(world: World): Promise<void> {
  const { coordinator } = world;
  const heard: CoordinationEvent[] = [];
  const stop = coordinator.onEvent((event) => heard.push(event));
  coordinator.onEvent(() => {
    throw new Error("a listener that fails delays nothing");
  });
  const stream = coordinator.events({ capacity: 3 });
  await world.seed();
  const session = await world.open(1);
  unwrap(await session.checkpoint(at("c"), { renew: true, opId: op(1) }));
  unwrap(await session.checkpoint(at("c"), { opId: op(1) }));
  unwrap(await session.splitResidual(residualAt("a", "m", "z")));
  unwrap(await session.park("Other"));
  unwrap(await coordinator.unpark({ tenant: TENANT, key: KEY, opId: op(9) }));
  const again = await world.open(2);
  unwrap(await again.release());
  const third = await world.open(3);
  unwrap(await third.renew());
  unwrap(await third.splitReplace(replaceAt("a", ["g"], "m", at("c"))));
  unwrap(await coordinator.cancelRun({ tenant: TENANT, run: RUN, opId: op(1) }));
  unwrap(await coordinator.deleteRun({ tenant: TENANT, run: RUN }));
  stop();
  await world.seed({ run: RunId.fromRaw(2n) });
  const kinds =
    "RunCreated RunActivated ShardAcquired ShardCheckpointed ShardLeaseRenewed ShardResidualCreated ShardParked ShardUnparked ShardAcquired ShardReleased ShardAcquired ShardLeaseRenewed ShardSplit RunCancelled RunDeleted";
  world.expect(heard.map((event) => event.kind).join(" ")).toBe(kinds);
  world.expect(coordinator.failedListenerCalls).toBe(heard.length + 2);
  world.expect(stream.dropped).toBe(heard.length + 2 - 3);
  world.expect((await stream.next()).value?.kind).toBe("RunDeleted");
  await stream.return();
  world.expect((await stream.next()).done).toBe(true);
}

async function tokens(world: World): Promise<void> {
  const { coordinator } = world;
  await world.seed();
  const { lease } = await world.acquire(1);
  const checkpoint = (cursor: Cursor, opId: number) =>
    coordinator.checkpoint({ tenant: TENANT, lease, cursor, opId: op(opId) });
  unwrap(await checkpoint(at("c", "one"), 1));
  unwrap(await checkpoint(at("c", "two"), 2));
  world.expect((await world.shard()).cursor).toEqual(at("c", "two"));
  unwrap(await checkpoint(at("c"), 3));
  world.expect((await world.shard()).cursor).toEqual(at("c"));
  world.expectRefusal(await checkpoint(at("c", "t".repeat(16_385)), 4), "CursorTokenTooLarge", {
    size: 16_385,
    max: 16_384,
  });
  world.expectRefusal(await checkpoint(at("k".repeat(4097)), 4), "CursorKeyTooLarge", { size: 4097, max: 4096 });
  unwrap(await checkpoint(at("k".repeat(4096), "t".repeat(16_384)), 4));
  world.expect((await world.shard()).cursor).toEqual(at("k".repeat(4096), "t".repeat(16_384)));
}

async function leaseDurations(world: World): Promise<void> {
  const long = RunId.fromRaw(2n);
  await world.seed();
  await world.seed({ run: long, config: { leaseDuration: 5_000n } });
  world.clock.set(10n);
  world.expect((await world.acquire(1)).lease.deadline).toBe(110n);
  const { lease } = await world.acquire(1, { key: { ...KEY, run: long } });
  world.expect(lease.deadline).toBe(5_010n);
  world.clock.set(20n);
  world.expect(unwrap(await world.coordinator.renew({ tenant: TENANT, lease })).newDeadline).toBe(5_020n);
}

async function checkpointRenews(world: World): Promise<void> {
  await world.seed();
  world.clock.set(10n);
  const session = await world.open(1);
  world.clock.set(100n);
  world.expect(unwrap(await session.checkpoint(at("c"), { renew: true, opId: op(1) })).value.newDeadline).toBe(200n);
  world.expect(session.lease.deadline).toBe(200n);
  world.expectOutcome(await session.checkpoint(at("c"), { opId: op(1) }), "Replayed");
  world.clock.set(150n);
  world.expect(unwrap(await session.checkpoint(at("d"))).value.newDeadline).toBe(undefined);
  unwrap(await world.coordinator.cancelRun({ tenant: TENANT, run: RUN, opId: op(1) }));
  // An ended run accepts finished work, but renews nothing.
  world
    .expect(unwrap(await session.checkpoint(at("e"), { renew: true })))
    .toMatchObject({ kind: "Executed", value: { newDeadline: undefined } });
  world.expect((await world.shard()).lease?.deadline).toBe(200n);
}

async function sessions(world: World): Promise<void> {
  await world.seed();
  const session = await world.open(1);
  // Calls made at once take effect in their order.
  const [first, second, third] = await Promise.all([
    session.checkpoint(at("c")),
    session.checkpoint(at("d")),
    session.checkpoint(at("b")),
  ]);
  world.expectOutcome(first, "Executed");
  world.expectOutcome(second, "Executed");
  world.expectRefusal(third, "CursorRegression");
  world.expect(session.isClosed).toBe(false);
  world.expectRefusal(await session.complete(at("b")), "CursorRegression");
  world.expect(session.isClosed).toBe(false);

  // The response to a residual split is lost, and the worker repeats it through its session.
  const plan = residualAt("a", "m", "z");
  const { residual } = unwrap(
    await world.coordinator.splitResidual({ tenant: TENANT, lease: session.lease, plan, opId: op(50) }),
  ).value;
  world.expect(session.spec).toEqual(range("a", "z"));
  world
    .expect(unwrap(await session.splitResidual(plan, { opId: op(50) })))
    .toEqual({ kind: "Replayed", value: { residual } });
  world.expect(session.spec).toEqual(range("a", "m"));
  world.expect(session.spawned).toEqual([residual]);
  {
    await using held = session;
    world.expect(held.isClosed).toBe(false);
  }
  world.expect(session.isClosed).toBe(true);
  world.expect((await world.shard()).lease).toBe(undefined);
  world.expectRefusal(await session.checkpoint(at("e")), "SessionClosed", { shard: KEY });
}

async function scratch(world: World): Promise<void> {
  const { coordinator } = world;
  const shards = [initial(10, "a", "m", at("c", "token")), initial(11, "m", "z")];
  await world.seed({ shards });
  const memory = new AcquireScratch();
  const request = { tenant: TENANT, key: KEY, worker: worker(1), opId: op(1) };
  const first = unwrap(await coordinator.acquireInto(request, memory)).value;
  world
    .expect({ ...first.snapshot.spec, start: first.snapshot.spec.keyRangeStart, end: first.snapshot.spec.keyRangeEnd })
    .toMatchObject({ start: text("a"), end: text("m") });
  world.expect([first.snapshot.cursor.lastKey, first.snapshot.cursor.token]).toEqual([text("c"), text("token")]);
  world.expect(first.lease).toMatchObject({ fence: 2n, owner: 1n });
  world.expectOutcome(await world.checkpoint(first.lease, "d", 2), "Executed");
  const second = unwrap(
    await coordinator.acquireInto({ ...request, key: { ...KEY, shard: 11n as typeof KEY.shard } }, memory),
  ).value;
  world.expect(second.snapshot.cursor.lastKey).toBe(undefined);
  world.expect(second.snapshot.spec.keyRangeStart).toEqual(text("m"));
  await world.expectViolation(() => Promise.resolve().then(() => first.snapshot.spec.keyRangeStart));
  world.expectRefusal(await coordinator.acquireInto({ ...request, opId: op(9) }, memory), "AlreadyLeased");
}

async function tenantsAreApart(world: World): Promise<void> {
  const { coordinator } = world;
  await world.seed();
  await world.seed({ tenant: OTHER_TENANT, shards: [initial(10, "b", "c")] });
  const { lease } = await world.acquire(1);
  unwrap(await world.checkpoint(lease, "c", 1));
  world.expect((await world.shard(KEY, OTHER_TENANT)).spec).toEqual(range("b", "c"));
  world.expect((await world.shard(KEY, OTHER_TENANT)).cursor).toEqual(Cursor.initial());
  // A lease is not valid under another tenant.
  world.expectRefusal(
    await coordinator.checkpoint({ tenant: OTHER_TENANT, lease, cursor: at("b"), opId: op(2) }),
    "StaleFence",
  );
  const unknownTenant = TenantId.fromBytes(new Uint8Array(32).fill(3));
  world.expectRefusal(
    await coordinator.checkpoint({ tenant: unknownTenant, lease, cursor: at("d"), opId: op(2) }),
    "ShardNotFound",
  );
  world.expectRefusal(await coordinator.getRun({ tenant: unknownTenant, run: RUN }), "RunNotFound");
  unwrap(await coordinator.cancelRun({ tenant: OTHER_TENANT, run: RUN, opId: op(1) }));
  unwrap(await coordinator.deleteRun({ tenant: OTHER_TENANT, run: RUN }));
  world.expectOutcome(await world.checkpoint(lease, "d", 3), "Executed");
}

/** What this project adds to the original protocol, one case each. Claims, runs and splits have files of their own. */
export const decisionCases: readonly ConformanceCase[] = [
  { name: "A3: each call of the holder takes one round trip and no read", run: oneTripForTheHolder },
  { name: "A4: the writes of one turn are one commit, each with its own result", run: oneCommitForMany },
  { name: "T2: time never goes back for a record", run: timeNeverGoesBack },
  { name: "T2: zero and the maximum are not valid times", run: impossibleTimes },
  { name: "P4: a range without items can be completed", run: emptyRange },
  { name: "P5: a lease can be released", run: release },
  { name: "P6: a shard that makes no progress is parked", run: retriesAreLimited },
  { name: "P9: every change is reported once, after it is stored", run: eventsAreTold },
  { name: "P11: a token can change while its key is repeated, and is erased by a cursor without one", run: tokens },
  { name: "P12: leases last as long as their run configures", run: leaseDurations },
  { name: "P13: a checkpoint may renew", run: checkpointRenews },
  { name: "a session keeps its calls in order, and closes when its lease ends", run: sessions },
  { name: "an acquire into a scratch is an acquire", run: scratch },
  { name: "tenants do not see each other", run: tenantsAreApart },
];
