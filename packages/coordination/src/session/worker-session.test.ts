// A session that closes too early strands its shard for a whole lease; one that stays open after the lease is gone lets
// a worker believe that it still holds what is another's.

import { unwrap } from "@gossip/stdx";
import { beforeEach, describe, expect, test } from "vitest";
import { Coordinator } from "../coordinator/coordinator.ts";
import { RANGE_EXHAUSTED } from "../hashing/payload-hash.ts";
import {
  at,
  initial,
  KEY,
  op,
  range,
  replacePlan,
  residualPlan,
  RUN,
  TENANT,
  worker,
} from "../kernel/world.fixture.ts";
import { MemoryStore } from "../memory/memory-store.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import type { WorkerSession } from "./worker-session.ts";

let clock: ManualClock;
let coordinator: Coordinator;
let session: WorkerSession;

beforeEach(async () => {
  clock = new ManualClock(10n);
  coordinator = new Coordinator({ store: new MemoryStore({ slabCapacity: 1 << 20 }), clock });
  const shards = [initial(10, "a", "z")];
  unwrap(
    await coordinator.createRunWithShards({
      tenant: TENANT,
      run: RUN,
      config: { leaseDuration: 100n },
      shards,
      opId: op(1),
    }),
  );
  session = unwrap(await coordinator.openSession({ tenant: TENANT, key: KEY, worker: worker(1) }));
});

const plan = replacePlan({ start: "a", end: "m" }, { start: "m", end: "z" });
const CLOSING = {
  complete: (to: WorkerSession) => to.complete(at("c")),
  completeExhausted: (to: WorkerSession) => to.complete(RANGE_EXHAUSTED),
  park: (to: WorkerSession) => to.park("Other"),
  release: (to: WorkerSession) => to.release(),
  splitReplace: (to: WorkerSession) => to.splitReplace(plan),
} as const;
const KEEPING = {
  renew: (to: WorkerSession) => to.renew(),
  checkpoint: (to: WorkerSession) => to.checkpoint(at("c")),
  splitResidual: (to: WorkerSession) => to.splitResidual(residualPlan("a", "m", "z")),
} as const;
const ALL = { ...CLOSING, ...KEEPING };

describe.each(Object.entries(CLOSING))("%s", (_name, call) => {
  test("closes the session, and every call then says so", async () => {
    expect((await call(session)).ok).toBe(true);
    expect(session.isClosed).toBe(true);
    for (const later of Object.values(ALL))
      expect(await later(session)).toMatchObject({ error: { kind: "SessionClosed", shard: KEY } });
  });

  test("closes it where the lease is gone", async () => {
    clock.set(110n);
    expect(await call(session)).toMatchObject({ error: { kind: "LeaseExpired" } });
    expect([session.isClosed, session.isLeaseLost]).toEqual([true, true]);
  });

  test("calls that wait behind it find it closed", async () => {
    const [first, second, third] = await Promise.all([call(session), session.checkpoint(at("d")), session.renew()]);
    expect(first.ok).toBe(true);
    expect([second, third]).toMatchObject([{ error: { kind: "SessionClosed" } }, { error: { kind: "SessionClosed" } }]);
  });
});

describe.each(Object.entries(KEEPING))("%s", (_name, call) => {
  test("keeps the session open, also where it fails", async () => {
    expect((await call(session)).ok).toBe(true);
    clock.set(500n);
    expect(await call(session)).toMatchObject({ ok: false });
    expect(session.isClosed).toBe(false);
    expect(session.isLeaseLost).toBe(true);
  });
});

describe("a session", () => {
  test("stays open where a closing call is refused for another reason", async () => {
    unwrap(await session.checkpoint(at("f")));
    expect(await session.complete(at("b"))).toMatchObject({ error: { kind: "CursorRegression" } });
    expect(await session.splitReplace(replacePlan({ start: "a", end: "m" }, { start: "n", end: "z" }))).toMatchObject({
      error: { kind: "SplitInvalid" },
    });
    expect([session.isClosed, session.isLeaseLost]).toEqual([false, false]);
    expect((await session.complete(at("g"))).ok).toBe(true);
  });

  test("of a run that has ended can still finish, but not renew", async () => {
    unwrap(await coordinator.cancelRun({ tenant: TENANT, run: RUN, opId: op(2) }));
    expect(await session.renew()).toMatchObject({ error: { kind: "RunTerminal" } });
    expect(await session.splitReplace(plan)).toMatchObject({ error: { kind: "RunTerminal" } });
    expect([session.isClosed, session.isLeaseLost]).toEqual([false, false]);
    expect((await session.complete(at("c"))).ok).toBe(true);
  });

  test("shows what its calls have made of the shard", async () => {
    expect(session.initialSnapshot).toMatchObject({ status: "Active", spec: range("a", "z"), spawned: [] });
    expect([session.tenant, session.worker, session.shardKey]).toEqual([TENANT, 1n, KEY]);
    clock.set(50n);
    unwrap(await session.checkpoint(at("c", "t"), { renew: true }));
    const { residual } = unwrap(await session.splitResidual(residualPlan("a", "m", "z"))).value;
    expect([session.lease.deadline, session.cursor, session.spec, session.spawned]).toEqual([
      150n,
      at("c", "t"),
      range("a", "m"),
      [residual],
    ]);
    expect(session.initialSnapshot.spec).toEqual(range("a", "z"));
    expect(session.capacity).toEqual({ availableCount: 0, earliestDeadline: 150n, isStarved: false });
    expect(unwrap(await session.renew()).capacity.availableCount).toBe(1);
  });

  test("a call with the same op id is a replay; without one each is new", async () => {
    expect(unwrap(await session.checkpoint(at("c"), { opId: op(7) })).kind).toBe("Executed");
    expect(unwrap(await session.checkpoint(at("c"), { opId: op(7) })).kind).toBe("Replayed");
    expect(unwrap(await session.checkpoint(at("c"))).kind).toBe("Executed");
    expect(await session.checkpoint(at("d"), { opId: op(7) })).toMatchObject({ error: { kind: "OpIdConflict" } });
  });

  test("is released at the end of its block", async () => {
    {
      await using held = session;
      unwrap(await held.checkpoint(at("c")));
    }
    expect(session.isClosed).toBe(true);
    const next = unwrap(await coordinator.openSession({ tenant: TENANT, key: KEY, worker: worker(2) }));
    expect(next.isReplay).toBe(false);
    expect([next.lease.fence, next.cursor]).toEqual([3n, at("c")]);
  });

  test("that lost its lease leaves the block without touching the shard", async () => {
    clock.set(110n);
    const next = unwrap(await coordinator.openSession({ tenant: TENANT, key: KEY, worker: worker(2) }));
    {
      await using held = session;
      expect((await held.checkpoint(at("c"))).ok).toBe(false);
    }
    expect((await next.checkpoint(at("c"))).ok).toBe(true);
  });

  test("that is closed already leaves the block quietly", async () => {
    {
      await using held = session;
      unwrap(await held.complete(at("c")));
    }
    expect(unwrap(await coordinator.getShard({ tenant: TENANT, key: KEY }))?.status).toBe("Done");
  });
});

test("openSession with the op id of a live lease opens a second session on it and says that it is a replay", async () => {
  unwrap(await session.release());
  const request = { tenant: TENANT, key: KEY, worker: worker(1), opId: op(77) };
  const first = unwrap(await coordinator.openSession(request));
  const second = unwrap(await coordinator.openSession(request));
  expect([first.isReplay, second.isReplay]).toEqual([false, true]);
  expect(second.lease).toEqual(first.lease);
});

test("getRun does not read the clock", async () => {
  const broken = { now: () => Promise.reject(new Error("no time")) };
  const store = new MemoryStore({ slabCapacity: 1 << 20 });
  unwrap(
    await new Coordinator({ store, clock }).createRun({ tenant: TENANT, run: RUN, config: { leaseDuration: 1n } }),
  );
  const over = new Coordinator({ store, clock: broken });
  expect(unwrap(await over.getRun({ tenant: TENANT, run: RUN })).status).toBe("Initializing");
  expect(await over.getRunProgress({ tenant: TENANT, run: RUN })).toMatchObject({ ok: false });
});
