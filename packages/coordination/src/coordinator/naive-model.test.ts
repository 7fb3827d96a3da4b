// Whole histories of a run, told to the coordinator and to a model that says the protocol a second time in the plainest
// words. After every step both must have given the same answer and be in the same state, over a store that is calm and
// over one that keeps failing.

import {
  Cursor,
  OpId,
  ParkReason,
  ShardId,
  ShardSpec,
  SplitReplacePlan,
  SplitResidualPlan,
  WorkerId,
} from "@gossip/contracts";
import type { IdempotentOutcome } from "@gossip/coordination-errors";
import { unwrap, type Result } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RANGE_EXHAUSTED } from "../hashing/payload-hash.ts";
import { RUN, TENANT, text, time } from "../kernel/world.fixture.ts";
import { MemoryStore } from "../memory/memory-store.ts";
import type { Lease } from "../records/lease.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { CoordinationStore } from "../store/coordination-store.ts";
import { FaultInjectingStore, type CommitFault } from "../testing/fault-injecting-store.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { Coordinator } from "./coordinator.ts";
import { NaiveModel, type ModelLease, type ModelShard } from "./naive-model.fixture.ts";

interface Real {
  readonly coordinator: Coordinator;
  readonly clock: ManualClock;
  /** The lease that goes with each of the model's. */
  readonly leases: Map<ModelLease, Lease>;
  /** Whether an executed operation may be reported as a replay, because its first response was lost. */
  readonly isFaulty: boolean;
  /** What was done before, to be done again. */
  readonly history: Step[];
}

type Step = fc.AsyncCommand<NaiveModel, Real>;
const possibleOf = (isFaulty: boolean, answer: string) =>
  isFaulty && answer === "Replayed" ? ["Executed", "Replayed"] : [answer];

/** A step that compares an answer, and then everything there is. */
function step(
  name: string,
  needs: (model: NaiveModel) => boolean,
  run: (model: NaiveModel, real: Real) => Promise<{ told: string; expected: string }>,
): Step {
  const made: Step = {
    check: needs,
    toString: () => name,
    async run(model, real) {
      real.history.push(made);
      const { told, expected } = await run(model, real);
      expect(possibleOf(real.isFaulty, told), name).toContain(expected);
      await expectSameState(model, real);
    },
  };
  return made;
}

/** Do again what was done a few steps ago, as a worker does that heard no answer. */
const repeat = fc.integer({ min: 1, max: 4 }).map((ago): Step => ({
  check: () => true,
  toString: () => `repeat ${ago} ago`,
  async run(model, real) {
    const earlier = real.history.at(-ago);
    if (earlier?.check(model) === true) await earlier.run(model, real);
  },
}));

function tell(result: Result<IdempotentOutcome<unknown> | object, { readonly kind: string }>): string {
  if (!result.ok) return result.error.kind;
  return "kind" in result.value ? String(result.value.kind) : "Executed";
}

const fromText = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : new TextDecoder().decode(bytes));

function describeRecord(record: ShardRecord) {
  const { lease } = record;
  return {
    id: record.shard,
    parent: record.parent,
    status: record.status,
    reason: record.parkReason,
    start: fromText(record.spec.keyRangeStart),
    end: fromText(record.spec.keyRangeEnd),
    key: fromText(record.cursor.lastKey),
    token: fromText(record.cursor.token),
    holder: lease && { owner: Number(lease.owner), until: Number(lease.deadline), op: Number(lease.opId) },
    fence: Number(record.fenceEpoch),
    spawned: [...record.spawned],
    ops: record.opLog.map((entry) => Number(entry.opId)),
    last: Number(record.lastTime),
    attempts: record.attempts,
  };
}

function describeModel({ log, residuals: _residuals, ...shard }: ModelShard) {
  return { ...shard, ops: log.map((entry) => entry.op) };
}

async function expectSameState(model: NaiveModel, { coordinator }: Real): Promise<void> {
  const records = await Promise.all(
    model.shards.map(async ({ id }) =>
      unwrap(await coordinator.getShard({ tenant: TENANT, key: { run: RUN, shard: ShardId.fromRaw(id) } }))!,
    ),
  );
  expect(records.map(describeRecord)).toEqual(model.shards.map(describeModel));
  const progress = unwrap(await coordinator.getRunProgress({ tenant: TENANT, run: RUN }));
  expect(progress.total).toBe(model.shards.length);
  const { status, lastTime } = unwrap(await coordinator.getRun({ tenant: TENANT, run: RUN }));
  expect({ status, lastTime: Number(lastTime) }).toEqual({ status: model.runStatus, lastTime: model.runLast });
  const { shards } = unwrap(await coordinator.collectClaimCandidates({ tenant: TENANT, run: RUN }));
  const claimable = model.shards.filter(
    (shard) => shard.status === "Active" && !(shard.holder !== undefined && model.now < shard.holder.until),
  );
  expect(shards).toEqual(claimable.map((shard) => shard.id).sort((a, b) => (a < b ? -1 : 1)));
}

// Few of everything: then ids are repeated, keys collide, and leases meet.
const KEYS = ["a", "b", "ba", "bb", "c", "ca", "d"];
const index = fc.nat(30);
const op = fc.integer({ min: 1, max: 24 });
const worker = fc.integer({ min: 1, max: 3 });
const cursor = fc.record({ key: fc.constantFrom(...KEYS), token: fc.constantFrom(undefined, undefined, "t", "u") });
const isRenewing = fc.boolean();
const toCursor = ({ key, token }: { key: string; token: string | undefined }) =>
  Cursor.fromParts({ lastKey: text(key), token: token === undefined ? undefined : text(token) });
const opId = (raw: number) => OpId.fromRaw(BigInt(raw));

const anyShard = (model: NaiveModel, at: number) => model.shards[at % model.shards.length]!;
// Mostly the newest lease: that is the one with which something can be done.
const anyLease = (model: NaiveModel, at: number) =>
  model.leases.at(-1 - ((at >> 2) % Math.min(model.leases.length, 4)) * (at % 2))!;
const hasLease = (model: NaiveModel) => model.leases.length > 0;
const leased = (model: NaiveModel, real: Real, at: number) => {
  const lease = anyLease(model, at);
  return { model: lease, request: { tenant: TENANT, lease: real.leases.get(lease)! } };
};

const acquire = fc.tuple(index, worker, op).map(([at, by, id]) =>
  step(
    `acquire ${at} by ${by} op ${id}`,
    () => true,
    async (model, real) => {
      const shard = anyShard(model, at);
      const key = { run: RUN, shard: ShardId.fromRaw(shard.id) };
      const result = await real.coordinator.acquire({
        tenant: TENANT,
        key,
        worker: WorkerId.fromRaw(BigInt(by)),
        opId: opId(id),
      });
      const expected = model.acquire(shard, by, id);
      if (result.ok) real.leases.set(model.leases.at(-1)!, result.value.value.lease);
      return { told: tell(result), expected };
    },
  ),
);
const renew = index.map((at) =>
  step(`renew ${at}`, hasLease, async (model, real) => {
    const { model: lease, request } = leased(model, real, at);
    return { told: tell(await real.coordinator.renew(request)), expected: model.renew(lease) };
  }),
);
const checkpoint = fc.tuple(index, cursor, op, isRenewing).map(([at, to, id, renews]) =>
  step(
    `checkpoint ${at} to ${to.key}/${to.token} op ${id}${renews ? " and renew" : ""}`,
    hasLease,
    async (model, real) => {
      const { model: lease, request } = leased(model, real, at);
      const told = tell(
        await real.coordinator.checkpoint({ ...request, cursor: toCursor(to), opId: opId(id), renew: renews }),
      );
      return { told, expected: model.checkpoint(lease, to, id, renews) };
    },
  ),
);
const complete = fc.tuple(index, fc.oneof(cursor, fc.constant("exhausted" as const)), op).map(([at, to, id]) =>
  step(`complete ${at} at ${to === "exhausted" ? to : to.key} op ${id}`, hasLease, async (model, real) => {
    const { model: lease, request } = leased(model, real, at);
    const point = to === "exhausted" ? RANGE_EXHAUSTED : toCursor(to);
    return {
      told: tell(await real.coordinator.complete({ ...request, point, opId: opId(id) })),
      expected: model.complete(lease, to, id),
    };
  }),
);
const park = fc.tuple(index, fc.constantFrom(...ParkReason.values), op).map(([at, reason, id]) =>
  step(`park ${at} ${reason} op ${id}`, hasLease, async (model, real) => {
    const { model: lease, request } = leased(model, real, at);
    return {
      told: tell(await real.coordinator.park({ ...request, reason, opId: opId(id) })),
      expected: model.park(lease, reason, id),
    };
  }),
);
const release = fc.tuple(index, op).map(([at, id]) =>
  step(`release ${at} op ${id}`, hasLease, async (model, real) => {
    const { model: lease, request } = leased(model, real, at);
    return {
      told: tell(await real.coordinator.release({ ...request, opId: opId(id) })),
      expected: model.release(lease, id),
    };
  }),
);
const splitReplace = fc
  .tuple(index, fc.uniqueArray(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 2 }), op)
  .map(([at, cuts, id]) =>
    step(
      `split ${at} at ${cuts.join(",")} op ${id}`,
      (model) => hasLease(model) && model.shards.length < 12 && isCuttable(anyLease(model, at).shard, cuts),
      async (model, real) => {
        const { model: lease, request } = leased(model, real, at);
        const points = cuts.toSorted();
        const { start, end, key, token } = lease.shard;
        const bounds = [start, ...points, end];
        const children = [...points, end].map((to, place) => ({
          spec: ShardSpec.withRange({ start: text(bounds[place]!), end: text(to) }),
          cursor: place === 0 && key !== undefined ? toCursor({ key, token }) : Cursor.initial(),
        }));
        const plan = unwrap(SplitReplacePlan.tryNew(children.toReversed()));
        const result = await real.coordinator.splitReplace({ ...request, plan, opId: opId(id) });
        return {
          told: tell(result),
          expected: model.splitReplace(lease, points, id, result.ok ? result.value.value.children : []),
        };
      },
    ),
  );
const splitResidual = fc.tuple(index, fc.constantFrom(...KEYS), op).map(([at, point, id]) =>
  step(
    `cut ${at} at ${point} op ${id}`,
    (model) =>
      hasLease(model) && model.shards.length < 12 && isCuttable(residualOf(anyLease(model, at).shard, id), [point]),
    async (model, real) => {
      const { model: lease, request } = leased(model, real, at);
      const { start, end } = residualOf(lease.shard, id);
      const specs = {
        parentNewSpec: ShardSpec.withRange({ start: text(start), end: text(point) }),
        residualSpec: ShardSpec.withRange({ start: text(point), end: text(end) }),
      };
      const result = await real.coordinator.splitResidual({
        ...request,
        plan: unwrap(SplitResidualPlan.tryNew(specs)),
        opId: opId(id),
      });
      return {
        told: tell(result),
        expected: model.splitResidual(lease, point, id, result.ok ? result.value.value.residual : undefined),
      };
    },
  ),
);
const unpark = fc.tuple(index, op).map(([at, id]) =>
  step(
    `unpark ${at} op ${id}`,
    () => true,
    async (model, real) => {
      const shard = anyShard(model, at);
      const told = tell(
        await real.coordinator.unpark({
          tenant: TENANT,
          key: { run: RUN, shard: ShardId.fromRaw(shard.id) },
          opId: opId(id),
        }),
      );
      return { told, expected: model.unpark(shard, id) };
    },
  ),
);
const wait = fc.integer({ min: -15, max: 40 }).map((ticks) =>
  step(
    `wait ${ticks}`,
    () => true,
    (model, real) => {
      model.now = Math.max(1, model.now + ticks);
      real.clock.set(time(model.now));
      return Promise.resolve({ told: "ok", expected: "ok" });
    },
  ),
);
const endRun = fc
  .tuple(fc.constantFrom("Done" as const, "Done" as const, "Failed" as const, "Cancelled" as const), op)
  .map(([target, id]) =>
    step(
      `end the run ${target} op ${id}`,
      (model) => model.leases.length > 5,
      async (model, real) => {
        const request = { tenant: TENANT, run: RUN, opId: opId(100 + id) };
        const { coordinator } = real;
        const result =
          target === "Done"
            ? await coordinator.completeRun(request)
            : target === "Failed"
              ? await coordinator.failRun(request)
              : await coordinator.cancelRun(request);
        return { told: tell(result), expected: model.endRun(target, 100 + id) };
      },
    ),
  );

/** The range that an op cuts: as it was then, where the op has cut it before, so that a repetition repeats the plan. */
function residualOf(shard: ModelShard, id: number): { start: string; end: string } {
  return { start: shard.start, end: shard.residuals.find((residual) => residual.op === id)?.end ?? shard.end };
}

/** Whether the points lie in the shard's range, in which case a plan can be made at all. */
function isCuttable({ start, end }: { start: string; end: string }, points: readonly string[]): boolean {
  return points.every((point) => point > start && point < end);
}

// Each several times as it matters; ending the run ends most of the rest.
const commands = [
  acquire,
  acquire,
  acquire,
  renew,
  checkpoint,
  checkpoint,
  checkpoint,
  complete,
  park,
  release,
  splitReplace,
  splitResidual,
  splitResidual,
  unpark,
  unpark,
  wait,
  wait,
  repeat,
  repeat,
  repeat,
  repeat,
];

async function setUp(
  store: CoordinationStore,
  options: { maxRetries: number | undefined; isFaulty: boolean },
): Promise<{ model: NaiveModel; real: Real }> {
  const clock = new ManualClock(1n);
  const coordinator = new Coordinator({ store, clock, retry: { maxAttempts: 60, sleep: () => Promise.resolve() } });
  const roots = [
    { id: 10n, start: "a", end: "c" },
    { id: 11n, start: "c", end: "e" },
  ];
  const shards = roots.map(({ id, start, end }) => ({
    shard: ShardId.fromRaw(id),
    spec: ShardSpec.withRange({ start: text(start), end: text(end) }),
    cursor: Cursor.initial(),
  }));
  const config = { leaseDuration: 30n, maxShardRetries: options.maxRetries };
  unwrap(
    await coordinator.createRunWithShards({ tenant: TENANT, run: RUN, config, shards, opId: OpId.fromRaw(1_000_000n) }),
  );
  const model = new NaiveModel({ leaseDuration: 30, maxRetries: options.maxRetries }, roots);
  model.runLog.push({ op: 1_000_000, payload: "register" });
  return { model, real: { coordinator, clock, leases: new Map(), isFaulty: options.isFaulty, history: [] } };
}

describe("the coordinator against the naive model", () => {
  const maxRetries = fc.constantFrom(undefined, undefined, 0, 2);

  test("agrees on every answer and every state", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.commands([...commands, endRun], { maxCommands: 120, size: "max" }),
        maxRetries,
        async (script, limit) => {
          const store = new MemoryStore({ slabCapacity: 1 << 16 });
          const { model, real } = await setUp(store, { maxRetries: limit, isFaulty: false });
          await fc.asyncModelRun(() => ({ model, real }), script);
        },
      ),
      { numRuns: 120 },
    );
  });

  test("agrees over a store whose commits keep failing: nothing is lost or done twice", async () => {
    const fault = fc.constantFrom<CommitFault | undefined>(
      undefined,
      undefined,
      undefined,
      "Conflict",
      "Failed",
      "UnknownMade",
      "UnknownNotMade",
      "UnknownLate",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.commands(commands, { maxCommands: 60, size: "max" }),
        maxRetries,
        fc.array(fault, { minLength: 1, maxLength: 40 }),
        async (script, limit, faults) => {
          let calls = 0;
          const store = new FaultInjectingStore(new MemoryStore({ slabCapacity: 1 << 16 }), {
            // Always let one through in the end.
            onCommit: (set) => (set.kind === "PutRun" ? undefined : faults[calls++ % (faults.length + 2)]),
          });
          const { model, real } = await setUp(store, { maxRetries: limit, isFaulty: true });
          await fc.asyncModelRun(() => ({ model, real }), script);
        },
      ),
      { numRuns: 80 },
    );
  });
});
