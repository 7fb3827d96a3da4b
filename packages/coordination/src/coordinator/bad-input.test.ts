// A caller without a compiler passes anything. It must get a sentence about what it passed, never a TypeError from
// inside, and nothing may have changed.

import type { OpId } from "@gossip/contracts";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { at, initial, KEY, op, replacePlan, residualPlan, RUN, TENANT, text, worker } from "../kernel/world.fixture.ts";
import { MemoryStore } from "../memory/memory-store.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import type { AcquireScratch } from "../views/acquire-scratch.ts";
import { Coordinator } from "./coordinator.ts";

const JUNK: readonly unknown[] = [
  undefined,
  null,
  5,
  -1n,
  1n << 64n,
  "text",
  {},
  [],
  Number.NaN,
  Symbol("junk"),
  new Uint8Array(3),
];

async function world() {
  const store = new MemoryStore({ slabCapacity: 1 << 16 });
  const coordinator = new Coordinator({ store, clock: new ManualClock(10n) });
  unwrap(
    await coordinator.createRunWithShards({
      tenant: TENANT,
      run: RUN,
      config: { leaseDuration: 100n },
      shards: [initial(10, "a", "z")],
      opId: op(1),
    }),
  );
  const { lease } = unwrap(await coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(1) })).value;
  return { store, coordinator, lease };
}

/** Good requests. Each field of each is then replaced by junk. */
const plan = replacePlan({ start: "a", end: "m" }, { start: "m", end: "z" });
const requests = (lease: unknown) => {
  const leased = { tenant: TENANT, lease, opId: op(9) };
  const run = { tenant: TENANT, run: RUN };
  return {
    acquire: { tenant: TENANT, key: KEY, worker: worker(2) },
    openSession: { tenant: TENANT, key: KEY, worker: worker(2) },
    renew: { tenant: TENANT, lease },
    checkpoint: { ...leased, cursor: at("c") },
    complete: { ...leased, point: at("c") },
    park: { ...leased, reason: "Other" },
    release: leased,
    splitReplace: { ...leased, plan },
    splitResidual: { ...leased, plan: residualPlan("a", "m", "z") },
    claim: { ...run, worker: worker(2) },
    claimMany: { ...run, worker: worker(2), count: 1 },
    createRun: { ...run, config: { leaseDuration: 1n } },
    registerShards: { ...run, shards: [initial(1, "a", "b")], opId: op(9) },
    createRunWithShards: { ...run, config: { leaseDuration: 1n }, shards: [initial(1, "a", "b")], opId: op(9) },
    completeRun: { ...run, opId: op(9), force: false, acceptParked: false },
    failRun: { ...run, opId: op(9) },
    cancelRun: { ...run, opId: op(9) },
    deleteRun: run,
    unpark: { tenant: TENANT, key: KEY, opId: op(9) },
    getRun: run,
    lookUpRun: run,
    getRollup: { ...run, name: "work" },
    putRollup: { ...run, name: "work", value: text("{}") },
    getShard: { tenant: TENANT, key: KEY },
    getRunProgress: run,
    getCapacity: run,
    estimateProgress: run,
    listShards: { ...run, limit: 5, filter: {}, after: { keyRangeStart: text("a"), shard: KEY.shard } },
    listShardRecords: { ...run, limit: 5, filter: {}, after: { keyRangeStart: text("a"), shard: KEY.shard } },
    collectClaimCandidates: run,
    listRuns: { tenant: TENANT, limit: 5, after: RUN },
    listTenants: { limit: 5, after: TENANT },
  } satisfies Partial<Record<keyof Coordinator, object>>;
};
type Method = keyof ReturnType<typeof requests>;
const METHODS = Object.keys(requests(undefined)) as Method[];

/** Fields in which some of the junk is as good as anything. */
const ALLOWED: Readonly<Record<string, (junk: unknown) => boolean>> = {
  limit: (junk) => junk === undefined || junk === 5,
  count: (junk) => junk === 5,
  shards: (junk) => Array.isArray(junk),
  after: (junk) => junk === undefined,
  // An object that says nothing about a shard lets every shard through.
  filter: (junk) => junk === undefined || (typeof junk === "object" && junk !== null && !Array.isArray(junk)),
  force: (junk) => junk === undefined,
  acceptParked: (junk) => junk === undefined,
  name: (junk) => junk === "text",
  // Removes the document.
  value: (junk) => junk === undefined || junk instanceof Uint8Array,
};

async function call(coordinator: Coordinator, method: Method, request: unknown): Promise<unknown> {
  const operate = coordinator[method].bind(coordinator) as (request: unknown) => Promise<unknown>;
  return operate(request).then(
    (answer) => answer,
    (error: unknown) => error,
  );
}

/** A sentence, or an error of the operation's own: an object without a key reads as a cursor that has none. */
function isRefusal(answer: unknown): boolean {
  if (answer instanceof InvariantViolation) return answer.message.length > 10;
  return typeof answer === "object" && answer !== null && "ok" in answer && answer.ok === false;
}

describe.each(METHODS)("%s", (method) => {
  test("each field replaced by junk is a sentence, and changes nothing", async () => {
    const { coordinator, lease } = await world();
    const before = unwrap(await coordinator.getShard({ tenant: TENANT, key: KEY }));
    const good = requests(lease)[method] as Record<string, unknown>;
    for (const field of Object.keys(good)) {
      for (const junk of JUNK) {
        if (ALLOWED[field]?.(junk) === true) continue;
        const answer = await call(coordinator, method, { ...good, [field]: junk });
        expect(isRefusal(answer), `${field}: ${String(junk)} gave ${String(answer)}`).toBe(true);
      }
    }
    expect(unwrap(await coordinator.getShard({ tenant: TENANT, key: KEY }))).toEqual(before);
  });

  test("junk in place of the request is a sentence", async () => {
    const { coordinator } = await world();
    for (const junk of [undefined, null, 5, "text"]) {
      if (method === "listTenants" && junk === undefined) continue;
      expect(await call(coordinator, method, junk), String(junk)).toBeInstanceOf(InvariantViolation);
    }
  });
});

test("a session's calls refuse junk too", async () => {
  const { coordinator } = await world();
  unwrap(
    await coordinator.createRunWithShards({
      tenant: TENANT,
      run: 2n as typeof RUN,
      config: { leaseDuration: 100n },
      shards: [initial(10, "a", "z")],
      opId: op(1),
    }),
  );
  const session = unwrap(
    await coordinator.openSession({ tenant: TENANT, key: { ...KEY, run: 2n as typeof RUN }, worker: worker(1) }),
  );
  for (const junk of JUNK) {
    const calls = [
      () => session.checkpoint(junk as never),
      () => session.complete(junk as never),
      () => session.park(junk as never),
      () => session.splitReplace(junk as never),
      () => session.splitResidual(junk as never),
      ...(junk === undefined ? [] : [() => session.checkpoint(at("c"), { opId: junk as OpId })]),
    ];
    for (const [index, make] of calls.entries()) {
      const answer: unknown = await make().catch((error: unknown) => error);
      expect(isRefusal(answer), `call ${index} with ${String(junk)} gave ${String(answer)}`).toBe(true);
    }
  }
  expect(session.isClosed).toBe(false);
  expect((await session.checkpoint(at("c"))).ok).toBe(true);
});

test("a coordinator refuses junk as its parts", () => {
  const good = { store: new MemoryStore({ slabCapacity: 16 }), clock: new ManualClock(1n) };
  for (const junk of [null, 5, "text"]) {
    expect(() => new Coordinator(junk as never)).toThrow(InvariantViolation);
    for (const field of ["store", "clock", "claimCooldown", "newOpId"]) {
      expect(() => new Coordinator({ ...good, [field]: junk } as never), field).toThrow(InvariantViolation);
    }
  }
  expect(() => new Coordinator({ ...good, limits: { maxShardsTotal: 0 } })).toThrow(InvariantViolation);
  expect(() => new Coordinator({ ...good, limits: null as never })).toThrow(InvariantViolation);
  expect(() => new Coordinator({ ...good, retry: null as never })).toThrow(InvariantViolation);
  expect(() => new MemoryStore({ slabCapacity: -1 })).toThrow(InvariantViolation);
  const { coordinator } = { coordinator: new Coordinator(good) };
  expect(() => coordinator.onEvent("loudly" as never)).toThrow(InvariantViolation);
  expect(() => coordinator.events(null as never)).toThrow(InvariantViolation);
});

test("acquireInto refuses what is no scratch", async () => {
  const { coordinator } = await world();
  await expect(
    coordinator.acquireInto({ tenant: TENANT, key: KEY, worker: worker(1) }, {} as AcquireScratch),
  ).rejects.toThrow(InvariantViolation);
});
