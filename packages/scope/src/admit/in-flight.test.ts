// A move that starts shipping while a write is still running loses that write. So the count of a
// scope must never be below what is running on its keys, also when a reload has changed which scope a
// key belongs to in between; and it must not stay above, or nothing would ever move.
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { unwrap } from "@gossip/stdx";
import type { Admission } from "./in-flight.ts";
import { tableOf } from "../move/cluster.fixture.ts";
import { OwnershipNode } from "../move/ownership-node.ts";

// On a busy machine a property takes longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

const TABLES = [
  { "p:": "a", "r:": "a" },
  { "p:": "a", "p:q:": "a" },
  { "p:q:": "a", "r:": "a" },
  { p: "a" },
  { "": "a", "p:q:": "a" },
  {},
].map((scopes) => tableOf(scopes, "longest"));
const KEYS = ["p:1", "p:q:1", "p:q:2", "r:1", "x"];
const PREFIXES = ["", "p", "p:", "p:q:", "r:"];

const step = fc.oneof(
  fc.record({ kind: fc.constant("admit" as const), which: fc.nat(4) }),
  fc.record({ kind: fc.constant("release" as const), which: fc.nat(9) }),
  fc.record({ kind: fc.constant("reload" as const), which: fc.nat(5) }),
);

describe("the count of operations in flight", () => {
  test("is never below what runs on the keys of a scope, and exact while prefixes stay the same", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const node = OwnershipNode.open(TABLES[0]!, { self: "a" });
        const running: { key: string; admission: Admission; generation: number }[] = [];
        let generation = 0;
        for (const { kind, which } of steps) {
          if (kind === "admit")
            running.push({ key: KEYS[which]!, admission: unwrap(node.admit(KEYS[which]!)), generation });
          else if (kind === "release" && running.length > 0)
            running.splice(which % running.length, 1)[0]!.admission.release();
          else if (kind === "reload") {
            node.apply(unwrap(node.reload(TABLES[which]!)));
            generation += 1;
          }
          const scopeOf = (key: string): string | undefined => node.snapshot.table.lookup(key)?.prefix.toString();
          for (const prefix of PREFIXES) {
            if (scopeOf(prefix) !== new TextEncoder().encode(prefix).toString()) continue;
            const here = running.filter(({ key }) => scopeOf(key) === new TextEncoder().encode(prefix).toString());
            expect(node.inFlight(prefix)).toBeGreaterThanOrEqual(here.length);
            if (running.every((operation) => operation.generation === generation))
              expect(node.inFlight(prefix)).toBe(here.length);
          }
        }
        for (const { admission } of running) admission.release();
        expect(PREFIXES.map((prefix) => node.inFlight(prefix))).toEqual(PREFIXES.map(() => 0));
      }),
      { numRuns: 300 },
    );
  });

  test("is not held up by operations of other scopes that were admitted before a reload", () => {
    const node = OwnershipNode.open(tableOf({ "p:": "a", "r:": "a" }), { self: "a" });
    const onR = unwrap(node.admit("r:1"));
    const unscoped = unwrap(node.admit("x"));
    node.apply(unwrap(node.reload(tableOf({ "p:": "a", "r:": "a", "s:": "a" }))));
    expect([node.inFlight("p:"), node.inFlight("r:"), node.inFlight("s:")]).toEqual([0, 1, 1]);
    onR.release();
    unscoped.release();
    expect([node.inFlight("p:"), node.inFlight("r:"), node.inFlight("s:")]).toEqual([0, 0, 0]);
  });

  test("wakes every caller that waits for a scope, and no other", async () => {
    const node = OwnershipNode.open(tableOf({ "p:": "a", "r:": "a" }), { self: "a" });
    const onP = unwrap(node.admit("p:1"));
    const onR = unwrap(node.admit("r:1"));
    const woken: string[] = [];
    const waiting = [
      node.whenDrained("p:").then(() => woken.push("p")),
      node.whenDrained("p:").then(() => woken.push("p")),
    ];
    void node.whenDrained("r:").then(() => woken.push("r"));
    await node.whenDrained("nothing there");
    expect(woken).toEqual([]);
    onP.release();
    await Promise.all(waiting);
    expect(woken).toEqual(["p", "p"]);
    onR.release();
  });

  test("follows a block: using releases at its end, whatever happens in it", () => {
    const node = OwnershipNode.open(tableOf({ "p:": "a" }), { self: "a" });
    const fail = (): void => {
      using admission = unwrap(node.admit("p:1"));
      expect([admission.verdict.kind, node.inFlight("p:")]).toEqual(["Owned", 1]);
      throw new Error("the operation failed");
    };
    expect(fail).toThrow("the operation failed");
    expect(node.inFlight("p:")).toBe(0);
  });
});
