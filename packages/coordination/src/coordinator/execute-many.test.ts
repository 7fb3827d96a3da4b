// A server executes the checkpoints of many clients together. One that is refused, repeated or lost on the way must have
// the result that it would have had by itself, and must not change those of the others.
import { Cursor, OpId, RunId, ShardId, ShardSpec, type LogicalTime, type TenantId } from "@gossip/contracts";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TENANT, worker } from "../kernel/world.fixture.ts";
import { MemoryStore } from "../memory/memory-store.ts";
import type { CoordinationEvent } from "../records/coordination-event.ts";
import { Lease } from "../records/lease.ts";
import { FaultInjectingStore, type CommitFault } from "../testing/fault-injecting-store.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { StoreProbe } from "../testing/store-probe.ts";
import { Coordinator } from "./coordinator.ts";
import { ScriptedFaults } from "./scripted-faults.fixture.ts";
import type { CheckpointRequest } from "./shard-requests.ts";

const SHARDS = 3;
const run = RunId.fromRaw(1n);
const op = (raw: number) => OpId.fromRaw(BigInt(raw));
const cursorAt = (shard: number, at: number) => Cursor.withLastKey(Uint8Array.of(shard, at));

/** A run with a lease on each of its shards, and what listeners get. */
class World {
  readonly clock = new ManualClock(10n);
  readonly script = new ScriptedFaults();
  readonly probe: StoreProbe;
  readonly coordinator: Coordinator;
  readonly events: CoordinationEvent[] = [];
  readonly leases: Lease[] = [];

  private constructor(shardCopies: number, isAtOnce: boolean) {
    // A store that answers at once has no faults.
    this.probe = new StoreProbe(isAtOnce ? new MemoryStore() : new FaultInjectingStore(new MemoryStore(), this.script));
    const retry = { maxAttempts: 5, sleep: () => Promise.resolve() };
    this.coordinator = new Coordinator({ store: this.probe, clock: this.clock, shardCopies, retry });
  }

  static async make({ shardCopies = 10, isAtOnce = false } = {}): Promise<World> {
    const world = new World(shardCopies, isAtOnce);
    const { coordinator } = world;
    const shards = Array.from({ length: SHARDS }, (_, index) => ({
      shard: ShardId.fromRaw(BigInt(index)),
      spec: ShardSpec.withRange({ start: Uint8Array.of(index), end: Uint8Array.of(index + 1) }),
      cursor: Cursor.initial(),
    }));
    unwrap(
      await coordinator.createRunWithShards({
        tenant: TENANT,
        run,
        config: { leaseDuration: 100n },
        shards,
        opId: op(1),
      }),
    );
    for (const { shard } of shards) {
      const request = { tenant: TENANT, key: { run, shard }, worker: worker(1), opId: op(2) };
      world.leases.push(unwrap(await coordinator.acquire(request)).value.lease);
    }
    coordinator.onEvent((event) => world.events.push(event));
    world.probe.reset();
    return world;
  }

  request(shard: number, at: number, opId: OpId, more: Partial<CheckpointRequest> = {}): CheckpointRequest {
    return { tenant: TENANT, lease: this.leases[shard]!, cursor: cursorAt(shard, at), opId, renew: true, ...more };
  }

  async state() {
    const shards = await Promise.all(
      this.leases.map((lease) => this.coordinator.getShard({ tenant: TENANT, key: Lease.shardKey(lease) })),
    );
    return shards.map((shard) => unwrap(shard));
  }
}

describe.each([{ isAtOnce: true }, { isAtOnce: false }])("checkpointMany over a store, %o", ({ isAtOnce }) => {
  test("writes all of them in one commit and reads nothing", async () => {
    const world = await World.make({ isAtOnce });
    const results = await world.coordinator.checkpointMany([0, 1, 2].map((shard) => world.request(shard, 5, op(9))));
    expect(results.map((result) => unwrap(result))).toEqual(
      results.map(() => ({ kind: "Executed", value: { newDeadline: 110n, capacity: expect.anything() as unknown } })),
    );
    expect([world.probe.reads, world.probe.commits.map(({ length }) => length)]).toEqual([
      0,
      isAtOnce ? [1, 1, 1] : [3],
    ]);
    expect(world.events.map(({ kind }) => kind)).toEqual(
      [0, 1, 2].flatMap(() => ["ShardCheckpointed", "ShardLeaseRenewed"]),
    );
  });

  test("has the results, records and events of one checkpoint at a time", async () => {
    const step = fc.record({
      shard: fc.integer({ min: 0, max: SHARDS - 1 }),
      at: fc.integer({ min: 0, max: 6 }),
      opId: fc.integer({ min: 3, max: 8 }).map(op),
      isStale: fc.boolean(),
      renew: fc.boolean(),
    });
    const batch = fc.uniqueArray(step, { selector: ({ shard }) => shard, maxLength: SHARDS });
    const fault = fc.constantFrom<CommitFault | undefined>(
      undefined,
      undefined,
      "Failed",
      "Conflict",
      "UnknownMade",
      "UnknownNotMade",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(batch, { maxLength: 5 }),
        fc.array(fault, { maxLength: 4 }),
        async (batches, faults) => {
          const [one, many] = [await World.make({ isAtOnce }), await World.make({ isAtOnce })];
          many.script.commits = [...faults];
          for (const steps of batches) {
            const requestsOf = (world: World) =>
              steps.map(({ shard, at, opId, isStale, renew }) => {
                const lease = world.leases[shard]!;
                const fenced = isStale ? Lease.of({ ...lease, fence: 1n as Lease["fence"] }) : lease;
                return world.request(shard, at, opId, { renew, lease: fenced });
              });
            const expected = [];
            for (const request of requestsOf(one)) expected.push(await one.coordinator.checkpoint(request));
            const results = await many.coordinator.checkpointMany(requestsOf(many));
            expect(results.map((result) => (result.ok ? "ok" : result.error.kind))).toEqual(
              expected.map((result) => (result.ok ? "ok" : result.error.kind)),
            );
            // After a lost answer, the result is that of a replay.
            if (faults.length === 0) expect(results).toEqual(expected);
            one.clock.advance(1n);
            many.clock.advance(1n);
          }
          expect(await many.state()).toEqual(await one.state());
          const sorted = ({ events }: World) => events.map((event) => JSON.stringify(event, textOfBig)).sort();
          expect(sorted(many)).toEqual(sorted(one));
        },
      ),
      { numRuns: 200 },
    );
  });

  test("two of one shard take effect one after the other", async () => {
    const world = await World.make({ isAtOnce });
    const results = await world.coordinator.checkpointMany([
      world.request(0, 5, op(9)),
      world.request(0, 6, op(10)),
      world.request(0, 5, op(9)),
    ]);
    const kinds = results.map((result) => (result.ok ? result.value.kind : result.error.kind));
    expect(kinds[0]).toBe("Executed");
    expect(kinds.slice(1).every((kind) => ["Executed", "Replayed", "CursorRegression"].includes(kind))).toBe(true);
    expect((await world.state())[0]!.cursor).toEqual(cursorAt(0, 6));
  });
});

const textOfBig = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);

test("without copies each is read", async () => {
  const world = await World.make({ shardCopies: 0 });
  const results = await world.coordinator.checkpointMany([0, 1].map((shard) => world.request(shard, 5, op(9))));
  expect(results.map(({ ok }) => ok)).toEqual([true, true]);
  expect(world.probe.reads).toBe(2);
});

test("no checkpoints are no work", async () => {
  const world = await World.make();
  expect(await world.coordinator.checkpointMany([])).toEqual([]);
});

test("a clock without a time fails all of them", async () => {
  const world = await World.make();
  const { probe: store } = world;
  const lost = new Coordinator({ store, clock: { now: () => Promise.reject(new Error("no time")) } });
  const results = await lost.checkpointMany([0, 1].map((shard) => world.request(shard, 5, op(9))));
  expect(results).toMatchObject([{ error: { kind: "BackendError" } }, { error: { kind: "BackendError" } }]);
});

test.each([
  ["no list", () => 5],
  ["no request", () => [undefined]],
  ["a tenant that is none", (right: CheckpointRequest) => [{ ...right, tenant: "x" as TenantId }]],
  ["no lease", (right: CheckpointRequest) => [right, { ...right, lease: undefined }]],
  ["a lease of numbers", (right: CheckpointRequest) => [right, { ...right, lease: { ...right.lease, fence: 5 } }]],
  [
    "a tenant of the lease",
    (right: CheckpointRequest) => [right, { ...right, lease: { ...right.lease, tenant: "x" } }],
  ],
  ["no op id", (right: CheckpointRequest) => [right, { ...right, opId: undefined }]],
  ["renew as text", (right: CheckpointRequest) => [right, { ...right, renew: "yes" }]],
  [
    "a time in the lease",
    (right: CheckpointRequest) => [right, { ...right, lease: { ...right.lease, deadline: -1n as LogicalTime } }],
  ],
])("%s is refused as a defect of the caller", async (_, make) => {
  const world = await World.make();
  const wrong = make(world.request(0, 5, op(9))) as readonly CheckpointRequest[];
  await expect(world.coordinator.checkpointMany(wrong)).rejects.toBeInstanceOf(InvariantViolation);
  expect(world.probe.commits).toEqual([]);
});
