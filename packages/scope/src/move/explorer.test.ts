// Two nodes, one scope, one move, and nothing that says in which order things happen. If there is any
// order of start, drain, commit, abort, expiry, reload, adoption, lost and repeated messages and
// crashes in which both nodes may write a key, a write is lost, or no node owns the key in the end,
// then some day it will happen. So all of them are tried, on the real nodes. And because an explorer
// that finds nothing may be one that cannot find anything, faults are planted for it to find.
import { describe, expect, test } from "vitest";
import { explore } from "./explore.fixture.ts";
import { FAULTS, plant, worldFor } from "./fault.fixture.ts";
import * as kit from "../index.ts";

describe("every interleaving of one move", () => {
  test("with up to two crashes at any step, one node writes at a time and one owns in the end", () => {
    const { states, steps, violation } = explore(kit, {
      reloads: 0,
      snapshots: "none",
      crashes: 2,
      admits: { a: 2, b: 1 },
    });
    expect(violation).toBeUndefined();
    console.log(`one move, two crashes: ${states} states, ${steps} steps`);
    expect(states).toBeGreaterThan(1_000);
  });

  test("with reloads and snapshots of each other, likewise, and a crash of both in every state", () => {
    const { states, steps, violation } = explore(kit, {
      reloads: 1,
      snapshots: "each other's",
      crashes: 0,
      admits: { a: 1, b: 0 },
    });
    expect(violation).toBeUndefined();
    console.log(`one move, reloads and snapshots: ${states} states, ${steps} steps`);
    expect(states).toBeGreaterThan(15_000);
  });

  test("with the snapshot of a node that knows nothing of the move, likewise", () => {
    const { states, steps, violation } = explore(kit, {
      reloads: 0,
      snapshots: "a stranger's",
      crashes: 1,
      admits: { a: 1, b: 1 },
    });
    expect(violation).toBeUndefined();
    console.log(`one move, a stranger's snapshot: ${states} states, ${steps} steps`);
    expect(states).toBeGreaterThan(3_000);
  });
});

describe("a planted fault is found", () => {
  test.each(FAULTS)("$name", async (fault) => {
    const { kit: faulty, remove } = await plant(fault);
    try {
      const { violation } = explore(faulty, worldFor(fault));
      expect(violation).toBeDefined();
    } finally {
      remove();
    }
  });

  test("changes are applied before they are durable", () => {
    const { violation } = explore(kit, {
      reloads: 0,
      snapshots: "none",
      crashes: 1,
      admits: { a: 1, b: 1 },
      appliesFirst: true,
    });
    expect(violation).toBeDefined();
  });
});
