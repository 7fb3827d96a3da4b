// Every operation of every client is routed. An object a call would come back unnoticed: everything
// still works, only slower, and with pauses in which leases lapse.
import { describe, expect, test, vi } from "vitest";
import { heapBytesPerCall } from "@gossip/tools/heap";
import { unwrap } from "@gossip/stdx";
import { OwnershipNode } from "./move/ownership-node.ts";
import { OwnershipTable } from "./table/ownership-table.ts";
import { makeRoutingData } from "./route/routing-data.fixture.ts";
import { Scope } from "./table/scope.ts";

// On a busy machine the runs take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

/** The least object is 16 bytes; a view of a key 96. */
const NOISE_BYTES = 4;
const CALLS = 20_000;

describe.each(["refuse", "longest"] as const)("a route over 1,000 prefixes, nested: %s", (nested) => {
  const { prefixes, keys } = makeRoutingData(1_000, 4_096);
  const scopes = prefixes.map(
    (prefix, position) => new Scope({ prefix, writer: position % 2 === 0 ? "a" : "b", fallback: "c" }),
  );
  if (nested === "longest") scopes.push(new Scope({ prefix: "", writer: "c" }));
  const table = unwrap(OwnershipTable.build(scopes, { nested }));
  const node = OwnershipNode.open(table, { self: "a" });
  node.apply(unwrap(node.start({ id: "m", prefix: prefixes[0]!, from: "a", to: "b", deadlineMs: 1 }, 0)));
  const bytes = keys.map((key) => new TextEncoder().encode(key));
  const isDown = (writer: string): boolean => writer === "b";

  function expectSilent(run: (calls: number) => void): void {
    expect(heapBytesPerCall(run, CALLS)).toBeLessThan(NOISE_BYTES);
  }

  // A loop each: one shared by all would call through a closure, which cannot be inlined.
  test("by a table allocates nothing", () => {
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++) table.route(bytes[call & 4_095]!, "a");
    });
  });

  test("by a table, given who is down, allocates nothing", () => {
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++) table.routeWithFallbackState(bytes[call & 4_095]!, "a", isDown);
    });
  });

  test("by a snapshot with a move under way allocates nothing", () => {
    const { snapshot } = node;
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++) snapshot.route(bytes[call & 4_095]!, "a");
    });
  });

  test("by a node, of bytes and of text, allocates nothing", () => {
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++) node.route(bytes[call & 4_095]!);
    });
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++) node.route(keys[call & 4_095]!);
    });
  });

  test("or a lookup allocates nothing", () => {
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++) table.lookup(bytes[call & 4_095]!);
    });
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++) table.lookup(keys[call & 4_095]!);
    });
  });
});

test("what is measured can be seen: a route that copies its verdict is not silent", () => {
  const table = unwrap(OwnershipTable.build([new Scope({ prefix: "p:", writer: "a" })]));
  const key = new TextEncoder().encode("p:1");
  const kept: object[] = [];
  const bytesPerCall = heapBytesPerCall((calls) => {
    for (let call = 0; call < calls; call++) kept[call & 7] = { ...table.route(key, "a") };
  }, 1_000);
  expect(bytesPerCall).toBeGreaterThan(NOISE_BYTES);
});
