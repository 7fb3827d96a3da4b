// What is collected is shown to the tenant it was collected for. An event of another's in it is a leak; one that is lost
// without being counted is taken for one that never happened.

import { TenantId } from "@gossip/contracts";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { initial, op, RUN, TENANT, time } from "../kernel/world.fixture.ts";
import { MemoryStore } from "../memory/memory-store.ts";
import type { CoordinationEvent } from "../records/coordination-event.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { Coordinator } from "./coordinator.ts";
import { EventCollector } from "./event-collector.ts";

const event = (at: number): CoordinationEvent => ({ kind: "RunCreated", tenant: TENANT, run: RUN, at: time(at) });
const foreign: CoordinationEvent = { ...event(1), tenant: TenantId.fromBytes(new Uint8Array(32).fill(9)) };

describe("EventCollector", () => {
  test("gives out what came, in order, each once; what did not fit is counted", () => {
    const step = fc.oneof(fc.constant("emit" as const), fc.constant("emit" as const), fc.constant("drain" as const));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 30 }), (maxCapacity, steps) => {
        const collector = new EventCollector(TENANT, { maxCapacity });
        let held: CoordinationEvent[] = [];
        let dropped = 0;
        for (const [index, kind] of steps.entries()) {
          if (kind === "drain") {
            expect(collector.drain()).toEqual(held);
            held = [];
          } else {
            const isTaken = held.length < maxCapacity;
            expect(collector.emit(event(index + 1))).toBe(isTaken);
            if (isTaken) held.push(event(index + 1));
            else dropped++;
          }
          expect([...collector]).toEqual(held);
          expect([collector.length, collector.dropped]).toEqual([held.length, dropped]);
        }
      }),
    );
  });

  test("another tenant's event throws, unless it would have been dropped anyway", () => {
    const collector = new EventCollector(TENANT, { maxCapacity: 1 });
    expect(() => collector.emit(foreign)).toThrow(InvariantViolation);
    expect(collector.length).toBe(0);
    expect(collector.emit(event(1))).toBe(true);
    expect(collector.emit(foreign)).toBe(false);
  });

  test("drains into a function", () => {
    const collector = new EventCollector(TENANT);
    for (let at = 1; at <= 3; at++) collector.emit(event(at));
    const taken: bigint[] = [];
    collector.drainWith(({ at }) => taken.push(at));
    expect([taken, collector.length]).toEqual([[1n, 2n, 3n], 0]);
  });

  test("listens to a coordinator", async () => {
    const coordinator = new Coordinator({
      store: new MemoryStore({ slabCapacity: 1 << 16 }),
      clock: new ManualClock(10n),
    });
    const collector = new EventCollector(TENANT);
    coordinator.onEvent((each) => each.tenant === TENANT && collector.emit(each));
    const request = { run: RUN, config: { leaseDuration: 100n }, shards: [initial(10, "a", "z")], opId: op(1) };
    unwrap(await coordinator.createRunWithShards({ ...request, tenant: TENANT }));
    unwrap(await coordinator.createRunWithShards({ ...request, tenant: foreign.tenant }));
    expect(collector.drain().map(({ kind }) => kind)).toEqual(["RunCreated", "RunActivated"]);
  });

  test.each([0, -1, 1.5, Number.NaN])("a capacity of %s is refused", (maxCapacity) => {
    expect(() => new EventCollector(TENANT, { maxCapacity })).toThrow(InvariantViolation);
  });
});
