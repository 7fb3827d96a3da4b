import { RunId, type InitialShardInput } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import type { ConformanceCase } from "./conformance-case.ts";
import { at, initial, KEY, op, OTHER_TENANT, RUN, TENANT, worker, type World } from "./world.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxy".split("");

/** A number of shards, one letter each. */
function shardsOf(count: number): InitialShardInput[] {
  return Array.from({ length: count }, (_, index) => {
    const [high, low] = [LETTERS[Math.floor(index / LETTERS.length)]!, LETTERS[index % LETTERS.length]!];
    return initial(100 + index, `${high}${low}`, `${high}${low}~`);
  });
}

const claim = (by: number, run = RUN) => ({ tenant: TENANT, run, worker: worker(by) });

async function claimsUntilNothingIsLeft(world: World): Promise<void> {
  await world.seed({ shards: shardsOf(5) });
  world.clock.set(10n);
  const claimed = new Set<bigint>();
  for (const by of [1, 2, 3, 4, 5]) {
    const session = unwrap(await world.coordinator.claim(claim(by)));
    claimed.add(session.shardKey.shard);
    world.expect(session.capacity).toEqual({ availableCount: 5 - by, earliestDeadline: 110n, isStarved: false });
    world.expect(unwrap(await world.coordinator.getCapacity({ tenant: TENANT, run: RUN }))).toEqual(session.capacity);
  }
  world.expect(claimed.size).toBe(5);
  world.expectRefusal(await world.coordinator.claim(claim(6)), "NoneAvailable", { earliestDeadline: 110n });
  world.clock.set(110n);
  world.expect(unwrap(await world.coordinator.claim(claim(6))).lease.fence).toBe(3n);
}

async function nothingLeftAtAll(world: World): Promise<void> {
  await world.seed();
  const session = unwrap(await world.coordinator.claim(claim(1)));
  unwrap(await session.complete(at("y")));
  world.expectRefusal(await world.coordinator.claim(claim(2)), "NoneAvailable", { earliestDeadline: undefined });
}

async function errorsOfClaim(world: World): Promise<void> {
  await world.seed();
  world.expectRefusal(await world.coordinator.claim(claim(1, RunId.fromRaw(9n))), "RunNotFound");
  world.expectRefusal(await world.coordinator.claim({ ...claim(1), tenant: OTHER_TENANT }), "RunNotFound");
  const initializing = RunId.fromRaw(3n);
  unwrap(await world.coordinator.createRun({ tenant: TENANT, run: initializing, config: { leaseDuration: 100n } }));
  world.expectRefusal(await world.coordinator.claim(claim(1, initializing)), "NoneAvailable", {
    earliestDeadline: undefined,
  });
}

async function claimMany(world: World): Promise<void> {
  await world.seed({ shards: shardsOf(7) });
  const first = unwrap(await world.coordinator.claimMany({ ...claim(1), count: 4 }));
  const second = unwrap(await world.coordinator.claimMany({ ...claim(2), count: 4 }));
  world.expect([first.length, second.length]).toEqual([4, 3]);
  const shards = [...first, ...second].map((session) => session.shardKey.shard);
  world.expect(new Set(shards).size).toBe(7);
  world.expectRefusal(await world.coordinator.claimMany({ ...claim(3), count: 4 }), "NoneAvailable");
  for (const session of first)
    world.expectOutcome(await session.complete(at(keyIn(session.spec.keyRangeStart))), "Executed");
}

const keyIn = (start: Uint8Array) => new TextDecoder().decode(start);

async function claimersAtOnce(world: World): Promise<void> {
  await world.seed({ shards: shardsOf(6) });
  const coordinators = [world.coordinator, world.makeCoordinator(), world.makeCoordinator()];
  const claims = await Promise.all(
    Array.from({ length: 9 }, (_, index) => coordinators[index % 3]!.claim(claim(index + 1))),
  );
  const won = claims.flatMap((claimed) => (claimed.ok ? [claimed.value.shardKey.shard] : []));
  world.expect(won.length).toBe(6);
  world.expect(new Set(won).size).toBe(6);
  for (const claimed of claims) if (!claimed.ok) world.expect(claimed.error.kind).toBe("NoneAvailable");
}

async function cooldown(world: World): Promise<void> {
  const coordinator = world.makeCoordinator({ claimCooldown: 50n });
  await world.seed({ shards: shardsOf(4) });
  world.clock.set(10n);
  world.expectRefusal(await coordinator.claim(claim(1, RunId.fromRaw(9n))), "RunNotFound");
  unwrap(await coordinator.claim(claim(1)));
  world.expectRefusal(await coordinator.claim(claim(1)), "Throttled", { retryAfter: 60n });
  // The run is looked up first, and other workers do not wait.
  world.expectRefusal(await coordinator.claim(claim(1, RunId.fromRaw(9n))), "RunNotFound");
  unwrap(await coordinator.claim(claim(2)));
  world.clock.set(59n);
  world.expectRefusal(await coordinator.claim(claim(1)), "Throttled", { retryAfter: 60n });
  world.clock.set(60n);
  unwrap(await coordinator.claim(claim(1)));
  // An acquire of a particular shard is not a claim.
  const key = {
    run: RUN,
    shard: unwrap(await coordinator.collectClaimCandidates({ tenant: TENANT, run: RUN })).shards[0]!,
  };
  unwrap(await coordinator.acquire({ tenant: TENANT, key, worker: worker(1) }));
}

async function finishedShardsAreNoCandidates(world: World): Promise<void> {
  const { coordinator } = world;
  await world.seed({ shards: shardsOf(4) });
  const sessions = unwrap(await coordinator.claimMany({ ...claim(1), count: 3 }));
  unwrap(await sessions[0]!.complete(at(keyIn(sessions[0]!.spec.keyRangeStart))));
  unwrap(await sessions[1]!.park("Other"));
  const listed = unwrap(
    await world.store.listClaimCandidates({ tenant: TENANT, run: RUN, now: world.clock.now(), limit: 10, spread: 0 }),
  );
  world.expect(listed.candidates.length).toBe(1);
  world.expect(listed.earliestDeadline).toBe(sessions[2]!.lease.deadline);
  const parked = sessions[1]!.shardKey;
  unwrap(await coordinator.unpark({ tenant: TENANT, key: parked, opId: op(1) }));
  unwrap(await sessions[2]!.release());
  const all = unwrap(await coordinator.collectClaimCandidates({ tenant: TENANT, run: RUN }));
  world.expect(all.shards.length).toBe(3);
  world.expect(all.shards.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(all.shards);
  world.expect(all.earliestDeadline).toBe(undefined);
}

async function workersSpread(world: World): Promise<void> {
  await world.seed({ shards: shardsOf(64) });
  const listed = await Promise.all(
    [0, 0x4000_0000, 0x8000_0000, 0xc000_0000].map(async (spread) => {
      const query = { tenant: TENANT, run: RUN, now: world.clock.now(), limit: 8, spread };
      return unwrap(await world.store.listClaimCandidates(query)).candidates.map((candidate) => candidate.shard);
    }),
  );
  for (const shards of listed) world.expect(new Set(shards).size).toBe(8);
  // Four workers at the same time do not all get the same eight candidates.
  world.expect(new Set(listed.flat()).size).toBeGreaterThan(16);
}

async function starvation(world: World): Promise<void> {
  const { coordinator } = world;
  await world.seed();
  world.clock.set(10n);
  const holder = await world.open(1);
  world.expectRefusal(await coordinator.claim(claim(2)), "NoneAvailable");
  world.expect(unwrap(await holder.renew()).capacity.isStarved).toBe(false);
  world.expectRefusal(await coordinator.claim({ ...claim(2), markStarved: true }), "NoneAvailable");
  world
    .expect(unwrap(await holder.renew()).capacity)
    .toEqual({ availableCount: 0, earliestDeadline: 110n, isStarved: true });
  world.clock.set(60n);
  world.expect(unwrap(await holder.checkpoint(at("c"), { renew: true })).value.capacity.isStarved).toBe(true);
  world.clock.set(110n);
  world.expect(unwrap(await holder.checkpoint(at("d"))).value.capacity.isStarved).toBe(false);
}

async function repeatedAcquire(world: World): Promise<void> {
  const { coordinator } = world;
  await world.seed();
  world.clock.set(10n);
  const request = { tenant: TENANT, key: KEY, worker: worker(1), opId: op(5) };
  const first = unwrap(await coordinator.acquire(request));
  world.clock.set(20n);
  unwrap(await coordinator.renew({ tenant: TENANT, lease: first.value.lease }));
  const again = unwrap(await coordinator.acquire(request));
  world.expect(again.kind).toBe("Replayed");
  world.expect(again.value.lease).toEqual({ ...first.value.lease, deadline: 120n });
  world.expect(again.value.capacity).toEqual({ availableCount: 0, earliestDeadline: 120n, isStarved: false });
  world.expectRefusal(await coordinator.acquire({ ...request, opId: op(6) }), "AlreadyLeased", { leaseDeadline: 120n });
  world.expectRefusal(await coordinator.acquire({ ...request, worker: worker(2) }), "AlreadyLeased");
  // It is kept apart from the log: a checkpoint may have the same id.
  world.expectOutcome(await world.checkpoint(first.value.lease, "c", 5), "Executed");
  unwrap(await coordinator.release({ tenant: TENANT, lease: first.value.lease, opId: op(7) }));
  world
    .expect(unwrap(await coordinator.acquire(request)))
    .toMatchObject({ kind: "Executed", value: { lease: { fence: 3n } } });
}

/** How workers get shards: decisions P1, P10, P15 and P16. */
export const claimCases: readonly ConformanceCase[] = [
  { name: "P1: a repeated acquire returns the same lease", run: repeatedAcquire },
  { name: "each claim returns another shard, until none is left", run: claimsUntilNothingIsLeft },
  { name: "a run with nothing left differs from one whose shards are all held", run: nothingLeftAtAll },
  { name: "a claim of a run that does not exist or has no shards yet is refused", run: errorsOfClaim },
  { name: "P10: claimMany returns up to the requested number", run: claimMany },
  { name: "P10: of workers that claim at once, each shard goes to one", run: claimersAtOnce },
  { name: "P10: a worker waits after a claim if a cooldown is set", run: cooldown },
  { name: "P15: finished and held shards are not candidates", run: finishedShardsAreNoCandidates },
  { name: "P10: workers get different candidates", run: workersSpread },
  { name: "P16: holders learn that a worker found nothing", run: starvation },
];
