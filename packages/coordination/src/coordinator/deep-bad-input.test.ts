// The junk that a caller passes is often deep inside a request that is otherwise good: one bound of one child of a plan. It
// must be met with a sentence, too, and not with whatever the engine says about the line that stumbled over it.

import { OpId, ShardId, TenantId } from "@gossip/contracts";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { at, initial, KEY, op, replacePlan, residualPlan, RUN, TENANT, worker } from "../kernel/world.fixture.ts";
import { MemoryStore } from "../memory/memory-store.ts";
import type { WorkerSession } from "../session/worker-session.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { Coordinator } from "./coordinator.ts";

const JUNK: readonly unknown[] = [undefined, null, 5, -1n, "text", {}, [], Symbol("junk"), () => 5, new Uint8Array(0)];

const plan = replacePlan({ start: "a", end: "m" }, { start: "m", end: "z" });
const requests = (lease: unknown) => {
  const leased = { tenant: TENANT, lease, opId: op(9) };
  const run = { tenant: TENANT, run: RUN };
  return {
    acquire: { tenant: TENANT, key: KEY, worker: worker(2) },
    renew: { tenant: TENANT, lease },
    checkpoint: { ...leased, cursor: at("c", "t") },
    complete: { ...leased, point: at("c", "t") },
    splitReplace: { ...leased, plan },
    splitResidual: { ...leased, plan: residualPlan("a", "m", "z") },
    createRun: { ...run, run: 7n, config: { leaseDuration: 1n, cursorSemantics: "Completed", maxShardRetries: 1 } },
    registerShards: { ...run, run: 8n, shards: [initial(1, "a", "b"), initial(2, "b", "c")], opId: op(9) },
    createRunWithShards: {
      ...run,
      run: 9n,
      config: { leaseDuration: 1n },
      shards: [initial(1, "a", "b")],
      opId: op(9),
    },
    listShards: {
      ...run,
      filter: { status: "Active", isLeased: true, rootOnly: false },
      after: { keyRangeStart: new Uint8Array(1), shard: KEY.shard },
    },
  } satisfies Partial<Record<keyof Coordinator, object>>;
};
type Method = keyof ReturnType<typeof requests>;

function isBranch(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !(value instanceof Uint8Array);
}

/** Every value below a branch, by the names that lead to it. */
function pathsOf(value: unknown, path: readonly string[] = []): string[][] {
  if (!isBranch(value)) return [];
  return Object.keys(value).flatMap((name) => [[...path, name], ...pathsOf(value[name], [...path, name])]);
}

/** A copy with one value in another's place. */
function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by;
  const branch = value as Record<string, unknown>;
  if (Array.isArray(branch))
    return branch.map((item: unknown, index) => (String(index) === name ? replaced(item, rest, by) : item));
  return { ...branch, [name]: replaced(branch[name], rest, by) };
}

async function makeWorld() {
  const coordinator = new Coordinator({
    store: new MemoryStore({ slabCapacity: 1 << 16 }),
    clock: new ManualClock(10n),
    newOpId: () => OpId.fromRaw(500n),
  });
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
  unwrap(await coordinator.createRun({ tenant: TENANT, run: 8n as typeof RUN, config: { leaseDuration: 100n } }));
  return {
    coordinator,
    session: unwrap(await coordinator.openSession({ tenant: TENANT, key: KEY, worker: worker(1) })),
  };
}

/** An answer of the operation, or a sentence. */
async function expectSentence(call: () => unknown, what: string): Promise<void> {
  try {
    await call();
  } catch (error) {
    expect(error, `${what} gave ${String(error)}`).toBeInstanceOf(InvariantViolation);
    expect((error as Error).message.length, what).toBeGreaterThan(10);
  }
}

describe.each(Object.keys(requests(undefined)) as Method[])("%s", (method) => {
  const paths = pathsOf(requests(undefined)[method]);

  test.each(paths.map((path) => path.join(".")))("junk at %s", async (path) => {
    for (const junk of JUNK) {
      const { coordinator, session } = await makeWorld();
      const request = replaced(requests(session.lease)[method], path.split("."), junk);
      const operate = coordinator[method].bind(coordinator) as (request: unknown) => Promise<unknown>;
      await expectSentence(() => operate(request), `${path}: ${String(junk)}`);
    }
  });

  test("junk anywhere in the lease", async () => {
    const { coordinator, session } = await makeWorld();
    const good = requests(session.lease)[method];
    const operate = coordinator[method].bind(coordinator) as (request: unknown) => Promise<unknown>;
    for (const path of pathsOf(good).filter(([first]) => first === "lease")) {
      for (const junk of JUNK)
        await expectSentence(() => operate(replaced(good, path, junk)), `${path.join(".")}: ${String(junk)}`);
    }
  });
});

describe("a session", () => {
  const calls: Readonly<Record<string, (to: WorkerSession, options: never) => Promise<unknown>>> = {
    checkpoint: (to, options) => to.checkpoint(at("c"), options),
    splitResidual: (to, options) => to.splitResidual(residualPlan("a", "m", "z"), options),
    complete: (to, options) => to.complete(at("c"), options),
    park: (to, options) => to.park("Other", options),
    release: (to, options) => to.release(options),
    splitReplace: (to, options) => to.splitReplace(plan, options),
  };

  test.each(Object.keys(calls))("%s refuses options that are none", async (name) => {
    for (const junk of [
      null,
      5,
      "text",
      Symbol("junk"),
      () => 5,
      { opId: null },
      { opId: "text" },
    ] as readonly unknown[]) {
      const { session } = await makeWorld();
      await expect(calls[name]!(session, junk as never), String(junk)).rejects.toThrow(InvariantViolation);
      expect([session.isClosed, session.cursor.lastKey, session.spawned.length]).toEqual([false, undefined, 0]);
    }
  });

  test.each([null, 5, "yes", {}])("a checkpoint refuses to renew %s", async (renew) => {
    const { session } = await makeWorld();
    await expect(session.checkpoint(at("c"), { renew: renew as never })).rejects.toThrow(InvariantViolation);
    expect(session.cursor.lastKey).toBeUndefined();
  });
});

describe("lists", () => {
  const run = { tenant: TENANT, run: RUN };

  test.each([
    ["a status that is none", { status: 5 }],
    ["a misspelt status", { status: "active" }],
    ["isLeased that is neither", { isLeased: 1 }],
    ["rootOnly that is neither", { rootOnly: "yes" }],
    ["an array", []],
    ["a number", 5],
    ["null", null],
  ])("a filter with %s is refused", async (_what, filter) => {
    const { coordinator } = await makeWorld();
    await expect(coordinator.listShards({ ...run, filter: filter as never })).rejects.toThrow(InvariantViolation);
  });

  test.each([null, 5, "x", {}, [], Symbol("junk")])("a position that is %s is refused", async (after) => {
    const { coordinator } = await makeWorld();
    await expect(coordinator.listShards({ ...run, after: after as never })).rejects.toThrow(InvariantViolation);
    await expect(coordinator.listRuns({ tenant: TENANT, after: after as never })).rejects.toThrow(InvariantViolation);
    await expect(coordinator.listTenants({ after: after as never })).rejects.toThrow(InvariantViolation);
  });
});

test("claims refuse a mark that is neither yes nor no, and a coordinator limits that are none", async () => {
  const { coordinator } = await makeWorld();
  await expect(
    coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(2), markStarved: "yes" as never }),
  ).rejects.toThrow(InvariantViolation);
  const good = { store: new MemoryStore({ slabCapacity: 16 }), clock: new ManualClock(1n) };
  for (const junk of [
    null,
    5,
    "text",
    { maxShardsTotal: "many" },
    { maxShardsPerTenant: null },
  ] as readonly unknown[]) {
    expect(() => new Coordinator({ ...good, limits: junk as never }), String(junk)).toThrow(InvariantViolation);
  }
  for (const capacity of [null, "many", Symbol("junk")])
    expect(() => coordinator.events({ capacity: capacity as never })).toThrow(InvariantViolation);
});

test("what a clock gives that is no time is refused before anything is done", async () => {
  const store = new MemoryStore({ slabCapacity: 1 << 16 });
  for (const now of [
    undefined,
    null,
    5,
    "text",
    {},
    -1n,
    0n,
    1n << 64n,
    Promise.resolve(5),
    Promise.resolve(undefined),
  ] as readonly unknown[]) {
    const over = new Coordinator({ store, clock: { now: () => now as never } });
    const request = {
      tenant: TENANT,
      run: RUN,
      config: { leaseDuration: 1n },
      shards: [{ ...initial(1, "a", "b"), shard: ShardId.fromRaw(1n) }],
      opId: op(1),
    };
    await expect(over.createRunWithShards(request), String(now)).rejects.toThrow(InvariantViolation);
    await expect(
      over.claim({ tenant: TenantId.fromBytes(new Uint8Array(32)), run: RUN, worker: worker(1) }),
      String(now),
    ).rejects.toThrow(InvariantViolation);
  }
  expect(store.shardCount).toBe(0);
});
