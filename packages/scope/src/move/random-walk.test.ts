// What one move on two nodes cannot show: several moves of several scopes on three nodes, nested
// prefixes, tables that drop scopes and declare them again, old messages, and crashes, hundreds of
// steps long. At no moment may two nodes write one key, and a node rebuilt from its journal must be
// the node that wrote it. The faults at the end are ones that this walk once found in earnest.
import { fixedExamples } from "@gossip/tools/fixed-examples";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { FORGETS_AT_ONCE, plant, WALK_FAULTS } from "./fault.fixture.ts";
import * as scopes from "../index.ts";
import type { ScopeKit } from "./move-world.fixture.ts";
import { makeWalkTables, Walk, type Step } from "./walk.fixture.ts";

// On a busy machine a property takes longer than a test is usually given.
vi.setConfig({ testTimeout: 120_000 });

const stepsOf: fc.Arbitrary<Step[]> = fc.array(fc.tuple(fc.nat(2), fc.nat(15), fc.nat(2_000)), {
  minLength: 100,
  maxLength: 300,
  size: "max",
});

function expectSound(kit: ScopeKit): void {
  const tables = makeWalkTables(kit);
  const done = new Map<string, number>();
  fc.assert(
    fc.property(stepsOf, (steps) => {
      const walk = new Walk(kit, tables);
      for (const step of steps) {
        walk.step(step);
        expect(walk.violation()).toBeUndefined();
      }
      expect(walk.forgetful()).toEqual([]);
      for (const [name, count] of walk.done) done.set(name, (done.get(name) ?? 0) + count);
    }),
    { numRuns: Number(process.env["FC_NUM_RUNS"] ?? 120), examples: fixedExamples(40, stepsOf) },
  );
  // A walk that never gets anywhere shows nothing.
  for (const name of ["start", "commit", "abort", "abort offer", "settle", "expire", "reload", "adopt"])
    expect(done.get(name) ?? 0, name).toBeGreaterThan(10);
}

test("on three nodes, any steps in any order, one node at most may write a key", () => {
  expectSound(scopes);
});

test("likewise where every finished move is forgotten at once: the numbers of moves are enough", async () => {
  const { kit, remove } = await plant(FORGETS_AT_ONCE);
  try {
    expectSound(kit);
  } finally {
    remove();
  }
});

describe("a planted fault is found", () => {
  test.each(WALK_FAULTS)("$name", async (fault) => {
    const { kit: faulty, remove } = await plant(fault, ...(fault.needsForgetting === true ? [FORGETS_AT_ONCE] : []));
    try {
      const tables = makeWalkTables(faulty);
      const isSound = fc.property(stepsOf, (steps) => {
        const walk = new Walk(faulty, tables);
        return steps.every((step) => {
          walk.step(step);
          return walk.violation() === undefined;
        });
      });
      const { failed } = fc.check(isSound, { numRuns: 1_000, endOnFailure: true, seed: 1 });
      expect(failed).toBe(true);
    } finally {
      remove();
    }
  });
});
