// A store that fails is where work gets lost or done twice. Whatever the connection does, an operation must be made
// once, be answered with its outcome, and be reported to listeners once.

import { OpId, RunId, type Clock } from "@gossip/contracts";
import { InfraError, type IdempotentOutcome } from "@gossip/coordination-errors";
import { err, InvariantViolation, ok, unwrap, type Result } from "@gossip/stdx";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { MemoryStore } from "../memory/memory-store.ts";
import type { CoordinationEvent } from "../records/coordination-event.ts";
import { FaultInjectingStore } from "../testing/fault-injecting-store.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { at, initial, KEY, op, replacePlan, residualPlan, RUN, TENANT, worker } from "../kernel/world.fixture.ts";
import type { Lease } from "../records/lease.ts";
import { Coordinator } from "./coordinator.ts";
import { ScriptedFaults } from "./scripted-faults.fixture.ts";

let store: MemoryStore;
let script: ScriptedFaults;
let clock: ManualClock;
let coordinator: Coordinator;
let events: CoordinationEvent[];
let pauses: number[];

beforeEach(() => {
  store = new MemoryStore({ slabCapacity: 1 << 20 });
  script = new ScriptedFaults();
  clock = new ManualClock(10n);
  pauses = [];
  events = [];
  coordinator = new Coordinator({
    store: new FaultInjectingStore(store, script),
    clock,
    retry: { maxAttempts: 4, sleep: (ms) => Promise.resolve(void pauses.push(ms)), random: () => 0.5 },
  });
  coordinator.onEvent((event) => events.push(event));
});

async function seed(): Promise<void> {
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
}

async function acquire(): Promise<Lease> {
  return unwrap(await coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(1) })).value.lease;
}

const shard = async () => unwrap(await coordinator.getShard({ tenant: TENANT, key: KEY }));
const kinds = () => events.map((event) => event.kind);

type Logged = (opId: OpId) => Promise<Result<IdempotentOutcome<unknown>, { readonly kind: string }>>;

/** Every operation with an op id, ready to be made. */
const LOGGED: Readonly<Record<string, { readonly prepare: () => Promise<Logged>; readonly event: string }>> = {
  acquire: {
    event: "ShardAcquired",
    prepare: async () => {
      await seed();
      return (opId) => coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(1), opId });
    },
  },
  checkpoint: {
    event: "ShardCheckpointed",
    prepare: leased((lease) => (opId) => coordinator.checkpoint({ tenant: TENANT, lease, cursor: at("c"), opId })),
  },
  complete: {
    event: "ShardCompleted",
    prepare: leased((lease) => (opId) => coordinator.complete({ tenant: TENANT, lease, point: at("c"), opId })),
  },
  park: {
    event: "ShardParked",
    prepare: leased((lease) => (opId) => coordinator.park({ tenant: TENANT, lease, reason: "Other", opId })),
  },
  release: {
    event: "ShardReleased",
    prepare: leased((lease) => (opId) => coordinator.release({ tenant: TENANT, lease, opId })),
  },
  splitReplace: {
    event: "ShardSplit",
    prepare: leased(
      (lease) => (opId) =>
        coordinator.splitReplace({
          tenant: TENANT,
          lease,
          plan: replacePlan({ start: "a", end: "m" }, { start: "m", end: "z" }),
          opId,
        }),
    ),
  },
  splitResidual: {
    event: "ShardResidualCreated",
    prepare: leased(
      (lease) => (opId) =>
        coordinator.splitResidual({ tenant: TENANT, lease, plan: residualPlan("a", "m", "z"), opId }),
    ),
  },
  unpark: {
    event: "ShardUnparked",
    prepare: async () => {
      await seed();
      const lease = await acquire();
      unwrap(await coordinator.park({ tenant: TENANT, lease, reason: "Other", opId: op(2) }));
      return (opId) => coordinator.unpark({ tenant: TENANT, key: KEY, opId });
    },
  },
  registerShards: {
    event: "RunActivated",
    prepare: async () => {
      unwrap(await coordinator.createRun({ tenant: TENANT, run: RUN, config: { leaseDuration: 100n } }));
      return (opId) => coordinator.registerShards({ tenant: TENANT, run: RUN, shards: [initial(10, "a", "z")], opId });
    },
  },
  createRunWithShards: {
    event: "RunActivated",
    prepare: () =>
      Promise.resolve((opId) =>
        coordinator.createRunWithShards({
          tenant: TENANT,
          run: RUN,
          config: { leaseDuration: 100n },
          shards: [initial(10, "a", "z")],
          opId,
        }),
      ),
  },
  completeRun: {
    event: "RunCompleted",
    prepare: ofRun((opId) => coordinator.completeRun({ tenant: TENANT, run: RUN, opId, force: true })),
  },
  failRun: { event: "RunFailed", prepare: ofRun((opId) => coordinator.failRun({ tenant: TENANT, run: RUN, opId })) },
  cancelRun: {
    event: "RunCancelled",
    prepare: ofRun((opId) => coordinator.cancelRun({ tenant: TENANT, run: RUN, opId })),
  },
};

function leased(make: (lease: Lease) => Logged): () => Promise<Logged> {
  return async () => {
    await seed();
    return make(await acquire());
  };
}

function ofRun(make: Logged): () => Promise<Logged> {
  return async () => {
    await seed();
    return make;
  };
}

describe.each(Object.entries(LOGGED))("%s", (_name, { prepare, event }) => {
  const OP = OpId.fromRaw(777n);

  test.each([
    ["made, the answer lost", ["UnknownMade"], "Replayed"],
    ["lost before it was made", ["UnknownNotMade"], "Executed"],
    ["made late, after the next attempt failed", ["UnknownLate", "UnknownNotMade"], "Replayed"],
    ["refused by a conflict", ["Conflict"], "Executed"],
    ["refused by a conflict twice", ["Conflict", "Conflict"], "Executed"],
    ["failed", ["Failed"], "Executed"],
    ["lost, then made and lost again", ["UnknownNotMade", "UnknownMade"], "Replayed"],
    ["nothing goes wrong", [], "Executed"],
  ] as const)("%s: it is made once and told once", async (_what, faults, outcome) => {
    const operate = await prepare();
    events.length = 0;
    script.commits = [...faults];

    expect(unwrap(await operate(OP)).kind).toBe(outcome);
    expect(kinds().filter((kind) => kind === event)).toEqual([event]);
    expect(unwrap(await operate(OP)).kind).toBe("Replayed");
    expect(kinds().filter((kind) => kind === event)).toEqual([event]);
  });

  test("gives up after its attempts, with the store's own error", async () => {
    const operate = await prepare();
    script.commits = Array.from({ length: 4 }, () => "Failed" as const);
    expect(await operate(OP)).toMatchObject({
      error: { kind: "BackendError", reason: { kind: "Transient", operation: "store.commit" } },
    });
    expect(script.commits).toEqual([]);
    expect(unwrap(await operate(OP)).kind).toBe("Executed");
  });

  test("gives up after as many conflicts", async () => {
    const operate = await prepare();
    script.commits = Array.from({ length: 4 }, () => "Conflict" as const);
    expect(await operate(OP)).toMatchObject({
      error: { kind: "BackendError", reason: { kind: "Transient", message: "other writes kept coming in between" } },
    });
    expect(unwrap(await operate(OP)).kind).toBe("Executed");
  });

  test("a read that fails for a moment is made again", async () => {
    const operate = await prepare();
    script.failedReads = 3;
    expect(unwrap(await operate(OP)).kind).toBe("Executed");
    script.failedReads = 4;
    expect(await operate(OP)).toMatchObject({ error: { kind: "BackendError", reason: { operation: "store.read" } } });
  });
});

describe("what has no op id", () => {
  test("a renewal with an unknown outcome is repeated", async () => {
    await seed();
    const lease = await acquire();
    events.length = 0;
    script.commits = ["UnknownMade"];
    clock.set(20n);
    expect(unwrap(await coordinator.renew({ tenant: TENANT, lease })).newDeadline).toBe(120n);
    expect((await shard())?.lease?.deadline).toBe(120n);
    expect(kinds()).toEqual(["ShardLeaseRenewed", "ShardLeaseRenewed"]);
  });

  test("a run whose creation has an unknown outcome is not reported as ours", async () => {
    script.commits = ["UnknownMade"];
    const request = { tenant: TENANT, run: RUN, config: { leaseDuration: 100n } };
    expect(await coordinator.createRun(request)).toMatchObject({
      error: { kind: "BackendError", reason: { kind: "Transient", operation: "createRun.commit" } },
    });
    expect(unwrap(await coordinator.getRun({ tenant: TENANT, run: RUN })).status).toBe("Initializing");
    script.commits = ["UnknownNotMade"];
    unwrap(await coordinator.createRun({ ...request, run: RunId.fromRaw(2n) }));
  });

  test("a deletion with an unknown outcome succeeded if the run is gone", async () => {
    await seed();
    unwrap(await coordinator.cancelRun({ tenant: TENANT, run: RUN, opId: op(2) }));
    events.length = 0;
    script.commits = ["UnknownMade"];
    unwrap(await coordinator.deleteRun({ tenant: TENANT, run: RUN }));
    expect(kinds()).toEqual(["RunDeleted"]);
    expect(await coordinator.deleteRun({ tenant: TENANT, run: RUN })).toMatchObject({ error: { kind: "RunNotFound" } });
  });

  test("a shard parked for its attempts is reported once, although the outcome was unknown", async () => {
    const config = { leaseDuration: 100n, maxShardRetries: 0 };
    unwrap(
      await coordinator.createRunWithShards({
        tenant: TENANT,
        run: RUN,
        config,
        shards: [initial(10, "a", "z")],
        opId: op(1),
      }),
    );
    await acquire();
    clock.set(500n);
    events.length = 0;
    script.commits = ["UnknownMade"];
    expect(await coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(2) })).toMatchObject({
      error: { kind: "ShardTerminal", status: "Parked" },
    });
    expect(kinds()).toEqual(["ShardParked"]);
  });
});

describe("a claim whose candidates are not what they were", () => {
  test.each([
    ["gone", () => Promise.resolve(), undefined],
    [
      "held by others",
      async () => {
        await acquire();
      },
      110n,
    ],
    [
      "finished",
      async () => {
        unwrap(await coordinator.complete({ tenant: TENANT, lease: await acquire(), point: at("c"), opId: op(5) }));
      },
      undefined,
    ],
  ])("%s: there is none", async (what, change, earliestDeadline) => {
    await seed();
    const listed = unwrap(
      store.listClaimCandidates({ tenant: TENANT, run: RUN, now: clock.now(), limit: 8, spread: 0 }),
    );
    await change();
    const candidates = what === "gone" ? [{ shard: 98n as never }, { shard: 99n as never }] : listed.candidates;
    store.listClaimCandidates = () => ok({ ...listed, candidates });
    expect(await coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(2) })).toMatchObject({
      error: { kind: "NoneAvailable", earliestDeadline },
    });
  });

  test("a store that fails on the way fails the claim, unless something was claimed", async () => {
    await seed();
    script.commits = ["Failed", "Failed", "Failed", "Failed"];
    expect(await coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(2) })).toMatchObject({
      error: { kind: "BackendError" },
    });
    const request = {
      tenant: TENANT,
      run: RunId.fromRaw(2n),
      config: { leaseDuration: 100n },
      shards: [initial(1, "a", "b"), initial(2, "b", "c")],
      opId: op(1),
    };
    unwrap(await coordinator.createRunWithShards(request));
    script.commits = ["Failed", undefined, "Failed", "Failed", "Failed"];
    expect(
      unwrap(await coordinator.claimMany({ tenant: TENANT, run: RunId.fromRaw(2n), worker: worker(2), count: 2 }))
        .length,
    ).toBe(1);
  });
});

describe("pauses", () => {
  test("double from attempt to attempt, and the first conflict costs none", async () => {
    await seed();
    script.commits = ["Conflict", "Conflict", "Conflict"];
    await acquire();
    expect(pauses).toEqual([5, 10]);
    pauses.length = 0;
    script.commits = ["Failed", "Failed", "Failed"];
    expect((await coordinator.cancelRun({ tenant: TENANT, run: RUN, opId: op(2) })).ok).toBe(true);
    expect(pauses).toEqual([5, 10, 20]);
  });
});

describe("what is no failure of the moment", () => {
  test("corruption is reported at once", async () => {
    const broken = new MemoryStore({ slabCapacity: 1024 });
    let reads = 0;
    broken.readRun = () => {
      reads++;
      return err(InfraError.corruption({ operation: "store.readRun", message: "the record does not decode" }));
    };
    const over = new Coordinator({ store: broken, clock });
    expect(await over.getRun({ tenant: TENANT, run: RUN })).toMatchObject({
      error: { kind: "BackendError", reason: { kind: "Corruption" } },
    });
    expect(reads).toBe(1);
  });

  test("a store that throws is a defect, and no caller is left waiting", async () => {
    await seed();
    const lease = await acquire();
    const defect = new TypeError("a defect of the store");
    store.commit = () => {
      throw defect;
    };
    const checkpoint = (key: string) =>
      coordinator.checkpoint({ tenant: TENANT, lease, cursor: at(key), opId: OpId.random() });
    const settled = await Promise.allSettled([checkpoint("c"), checkpoint("d")]);
    expect(settled.map((result) => (result.status === "rejected" ? result.reason : "answered"))).toEqual([
      defect,
      defect,
    ]);
  });

  test("a clock without time is the store's kind of failure, a clock at zero is a defect", async () => {
    await seed();
    const request = { tenant: TENANT, key: KEY, worker: worker(1) };
    const over = (now: Clock["now"]) => new Coordinator({ store, clock: { now } });
    const secret = new Error("the oracle's own words");
    const answer = await over(() => Promise.reject(secret)).acquire(request);
    expect(answer).toMatchObject({
      error: { kind: "BackendError", reason: { kind: "Transient", operation: "acquire.clock" } },
    });
    expect(JSON.stringify(answer)).not.toContain("oracle");
    await expect(over(() => Promise.resolve(0n as never)).acquire(request)).rejects.toThrow(InvariantViolation);
    expect((await over(() => Promise.resolve(50n as never)).acquire(request)).ok).toBe(true);
  });
});

describe("a session over a store that fails", () => {
  test("stays open, and its next call reads the outcome of the last", async () => {
    await seed();
    const session = unwrap(await coordinator.openSession({ tenant: TENANT, key: KEY, worker: worker(1) }));
    // Committed, but four answers are lost: the outcome is unknown.
    script.commits = ["UnknownMade", "UnknownNotMade", "UnknownNotMade", "UnknownNotMade"];
    script.failedReads = 0;
    const first = session.checkpoint(at("c"), { opId: op(50) });
    expect(unwrap(await first).kind).toBe("Replayed");
    script.commits = ["Failed", "Failed", "Failed", "Failed"];
    expect(await session.complete(at("d"), { opId: op(51) })).toMatchObject({ error: { kind: "BackendError" } });
    expect(session.isClosed).toBe(false);
    expect(unwrap(await session.complete(at("d"), { opId: op(51) })).kind).toBe("Executed");
    expect(session.isClosed).toBe(true);
  });

  test("a refusal is judged by what is stored, not by what the session remembers", async () => {
    await seed();
    const session = unwrap(await coordinator.openSession({ tenant: TENANT, key: KEY, worker: worker(1) }));
    clock.set(50n);
    unwrap(await coordinator.renew({ tenant: TENANT, lease: session.lease }));
    // By its own copy the lease ran out at 110; it was renewed behind its back.
    clock.set(120n);
    expect(unwrap(await session.checkpoint(at("c"))).kind).toBe("Executed");
  });
});

describe("a session whose answers get lost", () => {
  beforeEach(async () => {
    unwrap(
      await coordinator.createRunWithShards({
        tenant: TENANT,
        run: RUN,
        config: { leaseDuration: 100n },
        shards: [initial(10, "a", "z")],
        opId: op(1),
      }),
    );
  });

  test("stays open when the store fails after the lease was found to be gone, so that the repeat can still be answered", async () => {
    const session = unwrap(await coordinator.openSession({ tenant: TENANT, key: KEY, worker: worker(1) }));
    script.commits = ["UnknownMade"];
    script.failedReads = 4;
    expect(await session.complete(at("c"), { opId: op(9) })).toMatchObject({
      ok: false,
      error: { kind: "BackendError" },
    });
    script.failedReads = 0;
    expect(await session.renew()).toMatchObject({ ok: false, error: { kind: "ShardTerminal" } });
    script.failedReads = 4;
    expect(await session.complete(at("c"), { opId: op(9) })).toMatchObject({
      ok: false,
      error: { kind: "BackendError" },
    });
    script.failedReads = 0;
    expect(unwrap(await session.complete(at("c"), { opId: op(9) })).kind).toBe("Replayed");
  });

  test("learns the deadline that a checkpoint moved before its answer was lost", async () => {
    const session = unwrap(await coordinator.openSession({ tenant: TENANT, key: KEY, worker: worker(1) }));
    clock.set(60n);
    script.commits = ["UnknownMade"];
    expect(unwrap(await session.checkpoint(at("c"), { renew: true })).value.newDeadline).toBe(160n);
    expect(session.lease.deadline).toBe(160n);
  });
});

test("a coordinator over a durable store pauses between attempts by default, longer each time", async () => {
  vi.useFakeTimers();
  try {
    const attempts: number[] = [];
    const failing = new FaultInjectingStore(store, {
      onCommit: () => {
        attempts.push(Date.now());
        return "Failed";
      },
    });
    const over = new Coordinator({ store: failing, clock });
    const creating = over.createRun({ tenant: TENANT, run: RUN, config: { leaseDuration: 1n } });
    await vi.runAllTimersAsync();
    expect(await creating).toMatchObject({ ok: false, error: { kind: "BackendError" } });
    expect(attempts.length).toBe(8);
    const pauses = attempts.slice(1).map((time, index) => time - attempts[index]!);
    for (const [index, pause] of pauses.entries()) {
      const middle = Math.min(200, 5 * 2 ** index);
      expect(pause).toBeGreaterThanOrEqual(Math.floor(middle / 2));
      expect(pause).toBeLessThanOrEqual(Math.ceil(middle * 1.5));
    }
  } finally {
    vi.useRealTimers();
  }
});
