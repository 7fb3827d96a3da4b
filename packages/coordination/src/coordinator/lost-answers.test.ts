// Listeners keep books by events. An event for a write that was never committed makes them wrong; an event that is
// never emitted, because the answer to its write was lost and the caller gave up, makes them incomplete forever.

import { OpId, RunId, type Clock, type LogicalTime } from "@gossip/contracts";
import { InfraError } from "@gossip/coordination-errors";
import { InvariantViolation, ok, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { at, initial, KEY, op, range, residualPlan, RUN, TENANT, worker } from "../kernel/world.fixture.ts";
import { MemoryStore } from "../memory/memory-store.ts";
import type { CoordinationEvent, EventKind } from "../records/coordination-event.ts";
import type { CommitAnswer } from "../store/commit-answer.ts";
import type { ShardWrite, WriteSet } from "../store/write-set.ts";
import { FaultInjectingStore, type CommitFault } from "../testing/fault-injecting-store.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import type { WorkerSession } from "../session/worker-session.ts";
import { Coordinator } from "./coordinator.ts";
import { ScriptedFaults } from "./scripted-faults.fixture.ts";

/** Remembers what was really written, as the events that tell of it. */
class CountingStore extends MemoryStore {
  readonly made: EventKind[] = [];

  override commit(sets: readonly WriteSet[]): readonly CommitAnswer[] {
    const answers = super.commit(sets);
    answers.forEach(({ kind }, index) => {
      const set = sets[index]!;
      if (kind === "Committed" && set.kind === "UpdateShard") this.made.push(...eventsOf(set.shard));
    });
    return answers;
  }
}

function eventsOf({ before, after }: ShardWrite): EventKind[] {
  const entry = after.opLog.at(-1);
  const isLogged = entry !== before.opLog.at(-1);
  if (isLogged && entry?.kind === "Release") return ["ShardReleased"];
  if (!isLogged && after.fenceEpoch !== before.fenceEpoch) return ["ShardAcquired"];
  const told: EventKind[] = isLogged ? ["ShardCheckpointed"] : [];
  // A renewal at the tick of the one before moves nothing, and is one all the same.
  return isLogged && after.lease?.deadline === before.lease?.deadline ? told : [...told, "ShardLeaseRenewed"];
}

let store: CountingStore;
let script: ScriptedFaults;
let clock: ManualClock;
let coordinator: Coordinator;
let events: CoordinationEvent[];

const kinds = () => events.map(({ kind }) => kind);
const open = async () =>
  unwrap(await coordinator.openSession({ tenant: TENANT, key: KEY, worker: worker(1), opId: OpId.random() }));

async function seed(over: Coordinator = coordinator): Promise<void> {
  const shards = [initial(10, "a", "z")];
  unwrap(
    await over.createRunWithShards({ tenant: TENANT, run: RUN, config: { leaseDuration: 100n }, shards, opId: op(1) }),
  );
}

function makeWorld(): void {
  store = new CountingStore({ slabCapacity: 1 << 20 });
  script = new ScriptedFaults();
  clock = new ManualClock(10n);
  coordinator = new Coordinator({
    store: new FaultInjectingStore(store, script),
    clock,
    retry: { maxAttempts: 2, sleep: () => Promise.resolve() },
  });
  events = [];
  coordinator.onEvent((event) => events.push(event));
}

/** Lose the answer to the next write, then the read that would have told. */
function loseAnswer(): void {
  script.commits = ["UnknownMade"];
  script.failedReads = 1;
}

beforeEach(makeWorld);

describe("a write that was not made", () => {
  test("is not told, though what is stored looks like what it would have left", async () => {
    await seed();
    const session = await open();
    events.length = 0;
    // At the same tick the renewal would set the deadline that is there already.
    script.commits = ["UnknownNotMade", "Failed"];
    expect(await session.renew()).toMatchObject({ error: { kind: "BackendError" } });
    expect(kinds()).toEqual([]);
    unwrap(await session.renew());
    expect(kinds()).toEqual(["ShardLeaseRenewed"]);
  });
});

describe("a committed write whose caller gave up before the outcome was known", () => {
  test("is reported when a session repeats it", async () => {
    await seed();
    const session = await open();
    events.length = 0;
    loseAnswer();
    expect(await session.complete(at("c"), { opId: op(9) })).toMatchObject({ error: { kind: "BackendError" } });
    expect(kinds()).toEqual([]);
    expect(unwrap(await session.complete(at("c"), { opId: op(9) })).kind).toBe("Replayed");
    expect(kinds()).toEqual(["ShardCompleted"]);
  });

  test("is reported when a bare lease repeats it", async () => {
    await seed();
    const { lease } = unwrap(await coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(1) })).value;
    events.length = 0;
    loseAnswer();
    const park = () => coordinator.park({ tenant: TENANT, lease, reason: "Other", opId: op(9) });
    expect(await park()).toMatchObject({ error: { kind: "BackendError" } });
    expect(unwrap(await park()).kind).toBe("Replayed");
    expect(unwrap(await park()).kind).toBe("Replayed");
    expect(kinds()).toEqual(["ShardParked"]);
  });

  test("is reported by the next operation on the shard if no caller repeats it", async () => {
    await seed();
    loseAnswer();
    expect(await coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(1) })).toMatchObject({
      error: { kind: "BackendError" },
    });
    events.length = 0;
    expect(await coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(2) })).toMatchObject({
      error: { kind: "AlreadyLeased" },
    });
    expect(events).toMatchObject([{ kind: "ShardAcquired", worker: 1n }]);
  });

  test("a residual split so repeated shows the session the range that is left", async () => {
    await seed();
    const session = await open();
    const plan = residualPlan("a", "m", "z");
    loseAnswer();
    expect(await session.splitResidual(plan, { opId: op(9) })).toMatchObject({ error: { kind: "BackendError" } });
    expect([session.spec, session.spawned.length]).toEqual([range("a", "z"), 0]);
    const { kind, value } = unwrap(await session.splitResidual(plan, { opId: op(9) }));
    expect([kind, session.spec, session.spawned]).toEqual(["Replayed", range("a", "m"), [value.residual]]);
    expect(await session.checkpoint(at("p"))).toMatchObject({ error: { kind: "CursorOutOfBounds" } });
  });

  test("is reported for runs too", async () => {
    await seed();
    events.length = 0;
    loseAnswer();
    const cancel = () => coordinator.cancelRun({ tenant: TENANT, run: RUN, opId: op(2) });
    expect(await cancel()).toMatchObject({ error: { kind: "BackendError" } });
    expect(unwrap(await cancel()).kind).toBe("Replayed");
    loseAnswer();
    expect(await coordinator.deleteRun({ tenant: TENANT, run: RUN })).toMatchObject({
      error: { kind: "BackendError" },
    });
    expect(await coordinator.deleteRun({ tenant: TENANT, run: RUN })).toMatchObject({ error: { kind: "RunNotFound" } });
    expect(kinds()).toEqual(["RunCancelled", "RunDeleted"]);
    expect(coordinator.uncertainEvents).toBe(0);
  });

  test("is counted if others wrote before the record was read", async () => {
    await seed();
    const session = await open();
    events.length = 0;
    loseAnswer();
    clock.set(20n);
    expect(await session.renew()).toMatchObject({ error: { kind: "BackendError" } });
    const other = new Coordinator({ store, clock });
    clock.set(30n);
    unwrap(await other.renew({ tenant: TENANT, lease: session.lease }));
    unwrap(await session.checkpoint(at("c")));
    expect(kinds()).toEqual(["ShardCheckpointed"]);
    expect(coordinator.uncertainEvents).toBe(1);
  });

  test("a run that exists after its creation was lost may be another caller's, and is counted", async () => {
    script.commits = ["UnknownMade"];
    const request = { tenant: TENANT, run: RunId.fromRaw(7n), config: { leaseDuration: 100n } };
    expect(await coordinator.createRun(request)).toMatchObject({ error: { kind: "BackendError" } });
    expect(kinds()).toEqual([]);
    expect(coordinator.uncertainEvents).toBe(1);
  });

  test("of more shards than can be remembered the oldest is counted", async () => {
    const shards = Array.from({ length: 1026 }, (_, index) =>
      initial(index + 1, `k${1000 + index}`, `k${1001 + index}`),
    );
    unwrap(
      await coordinator.createRunWithShards({
        tenant: TENANT,
        run: RUN,
        config: { leaseDuration: 100n },
        shards,
        opId: op(1),
      }),
    );
    for (const { shard } of shards) {
      loseAnswer();
      expect((await coordinator.acquire({ tenant: TENANT, key: { run: RUN, shard }, worker: worker(1) })).ok).toBe(
        false,
      );
    }
    expect(coordinator.uncertainEvents).toBe(2);
  });
});

describe("attempts at the same", () => {
  test("of which one was made and one was not: only the first is reported", async () => {
    await seed();
    const session = await open();
    clock.set(20n);
    events.length = 0;
    script.commits = ["UnknownNotMade"];
    script.failedReads = 1;
    expect(await session.checkpoint(at("c"), { opId: op(9), renew: true })).toMatchObject({
      error: { kind: "BackendError" },
    });
    script.commits = ["UnknownMade"];
    expect(unwrap(await session.checkpoint(at("c"), { opId: op(9) })).kind).toBe("Replayed");
    expect(kinds()).toEqual(["ShardCheckpointed"]);
  });

  test("a read that began before the answer was lost decides nothing", async () => {
    await seed();
    const session = await open();
    events.length = 0;
    // A look at the shard, whose answer is that of long ago and comes late.
    const before = unwrap(store.readShard(TENANT, KEY));
    unwrap(await session.renew());
    let answerLate: (() => void) | undefined;
    store.readShard = () =>
      new Promise((resolve) => {
        answerLate = () => resolve(ok(before));
      }) as never;
    const looking = coordinator.unpark({ tenant: TENANT, key: KEY, opId: op(8) });
    await new Promise((resolve) => setImmediate(resolve));
    loseAnswer();
    expect(await session.complete(at("c"), { opId: op(9) })).toMatchObject({ error: { kind: "BackendError" } });
    answerLate!();
    expect(await looking).toMatchObject({ error: { kind: "NotParked" } });
    store.readShard = (tenant, key) => MemoryStore.prototype.readShard.call(store, tenant, key);
    expect(unwrap(await session.complete(at("c"), { opId: op(9) })).kind).toBe("Replayed");
    expect(kinds()).toEqual(["ShardLeaseRenewed", "ShardCompleted"]);
  });

  test("a copy that is older than the write decides nothing", async () => {
    await seed();
    const session = await open();
    clock.set(20n);
    unwrap(await coordinator.renew({ tenant: TENANT, lease: session.lease }));
    events.length = 0;
    loseAnswer();
    const complete = () => coordinator.complete({ tenant: TENANT, lease: session.lease, point: at("c"), opId: op(9) });
    expect(await complete()).toMatchObject({ error: { kind: "BackendError" } });
    // The session starts from what it had before the renewal.
    expect(await session.checkpoint(at("d"))).toMatchObject({ error: { kind: "ShardTerminal" } });
    expect(kinds()).toEqual(["ShardCompleted"]);
  });
});

describe("whatever gets lost", () => {
  const fault = fc.constantFrom<CommitFault | undefined>(
    undefined,
    undefined,
    "Conflict",
    "Failed",
    "UnknownMade",
    "UnknownNotMade",
    "UnknownLate",
  );
  const call = fc.constantFrom(
    "renew",
    "checkpoint",
    "checkpointAndRenew",
    "release",
    "reopen",
    "repeat",
    "wait" as const,
  );
  const step = fc.record({
    call,
    faults: fc.array(fault, { maxLength: 3 }),
    failedReads: fc.integer({ min: 0, max: 2 }),
  });

  async function take(kind: string, session: WorkerSession, index: number): Promise<WorkerSession> {
    if (kind === "renew") void (await session.renew());
    if (kind === "checkpoint") void (await session.checkpoint(at("c"), { opId: op(100 + index) }));
    if (kind === "repeat") void (await session.checkpoint(at("c"), { opId: op(99 + index) }));
    // At its own tick, so that the deadline moves.
    if (kind === "checkpointAndRenew") clock.advance(1n);
    if (kind === "checkpointAndRenew") void (await session.checkpoint(at("c"), { opId: op(100 + index), renew: true }));
    if (kind === "release") void (await session.release());
    if (kind === "wait") clock.advance(7n);
    if (kind === "reopen") {
      const opened = await coordinator.openSession({ tenant: TENANT, key: KEY, worker: worker(1) });
      if (opened.ok) return opened.value;
    }
    return session;
  }

  test("as many events are emitted as writes were committed, once the records have been read", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        makeWorld();
        await seed();
        let session = await open();
        for (const [index, { call: kind, faults, failedReads }] of steps.entries()) {
          script.commits = [...faults];
          script.failedReads = failedReads;
          session = await take(kind, session, index);
        }
        script.commits = [];
        script.failedReads = 0;
        // A late write arrives with the next call of the store; what it leaves is seen with the one after.
        void (await coordinator.unpark({ tenant: TENANT, key: KEY, opId: op(1000) }));
        void (await coordinator.renew({ tenant: TENANT, lease: session.lease }));
        void (await coordinator.unpark({ tenant: TENANT, key: KEY, opId: op(1000) }));
        expect(
          kinds()
            .filter((kind) => kind.startsWith("Shard"))
            .toSorted(),
        ).toEqual(store.made.toSorted());
        expect(coordinator.uncertainEvents).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a store that answers at once", () => {
  test("and does not know whether it wrote is asked again, and the event is emitted once", async () => {
    let isLost = false;
    store.commit = (sets) => {
      const answers = CountingStore.prototype.commit.call(store, sets);
      if (!isLost) return answers;
      isLost = false;
      return [
        { kind: "Unknown", error: InfraError.transient({ operation: "store.commit", message: "the answer got lost" }) },
      ];
    };
    const over = new Coordinator({ store, clock });
    over.onEvent((event) => events.push(event));
    await seed(over);
    const session = unwrap(await over.openSession({ tenant: TENANT, key: KEY, worker: worker(1) }));
    events.length = 0;
    isLost = true;
    expect(unwrap(await session.checkpoint(at("c"))).kind).toBe("Replayed");
    expect(kinds()).toEqual(["ShardCheckpointed"]);
  });

  test("has its clock read once a call, also where the clock must be waited for", async () => {
    let readings = 0;
    const over = new Coordinator({
      store,
      clock: { now: () => Promise.resolve(BigInt(10 + readings++) as LogicalTime) },
    });
    await seed(over);
    const session = unwrap(await over.openSession({ tenant: TENANT, key: KEY, worker: worker(1) }));
    readings = 0;
    unwrap(await session.checkpoint(at("c")));
    unwrap(await session.renew());
    expect(readings).toBe(2);
  });

  test("only the caller sees a clock that fails", async () => {
    let isBroken = false;
    const now: Clock["now"] = () =>
      isBroken ? Promise.reject(new InvariantViolation("a broken clock")) : Promise.resolve(10n as LogicalTime);
    const over = new Coordinator({ store, clock: { now } });
    await seed(over);
    const session = unwrap(await over.openSession({ tenant: TENANT, key: KEY, worker: worker(1) }));
    const unheard: unknown[] = [];
    const hear = (reason: unknown) => unheard.push(reason);
    process.on("unhandledRejection", hear);
    isBroken = true;
    await expect(session.checkpoint(at("c"))).rejects.toThrow("a broken clock");
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", hear);
    expect(unheard).toEqual([]);
  });
});
