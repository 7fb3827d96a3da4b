// A crash in the middle of a move must leave exactly one owner, and the move must go on after the restart. Every write of
// a journal and every message of either node is a place to crash or to lose something, alone and in pairs.
import { isExploring } from "@gossip/tools/effort";
import { describe, expect, test } from "vitest";
import { MoveWorld, type Fault } from "./move-world.fixture.ts";

/** Long enough that the restarts of a test fit in, and too short for one. */
const PATIENT = { timeoutMs: 10_000 };
const HASTY = { timeoutMs: 6 };

interface Settings {
  readonly timeoutMs: number;
  readonly hasShip?: boolean;
}

async function play(faults: readonly Fault[], settings: Settings): Promise<MoveWorld> {
  const world = new MoveWorld(faults, settings);
  await world.move(settings);
  return world;
}

function everyFault({ a, b, messages }: MoveWorld["counts"]): Fault[] {
  const both = [true, false];
  const crash = (node: string, count: number): Fault[] =>
    Array.from({ length: count }, (_, entry) =>
      both.map((isDurable) => ({ kind: "Crash", node, entry, isDurable }) as const),
    ).flat();
  const lost = Array.from({ length: messages }, (_, message) =>
    both.map((isAnswer) => ({ kind: "Lost", message, isAnswer }) as const),
  ).flat();
  return [...crash("a", a), ...crash("b", b), ...lost];
}

/** Whatever happened, one node owns the scope, and both sides agree on how the move ended. */
function expectOneOwner(world: MoveWorld, faults: readonly Fault[]): void {
  const text = JSON.stringify(faults);
  const { outcome } = world.decision?.migration ?? { outcome: "Aborted" };
  expect([text, world.owners()]).toEqual([text, [outcome === "Committed" ? "b" : "a"]]);
  expect([text, world.node("a").snapshot.migrations.live()]).toEqual([text, []]);
}

test("without faults the target owns the scope, and every node knows", async () => {
  const world = await play([], PATIENT);
  expect(world.owners()).toEqual(["b"]);
  expect(
    ["a", "b", "c"].map((name) => world.node(name).route(`t/1${"0".repeat(63)}/r/${"0".repeat(16)}`).kind),
  ).toEqual(["Misdirected", "Owned", "Misdirected"]);
  expect(world.counts).toMatchObject({ a: 3, b: 1 });
});

test("a crash or a loss at any step leaves one owner, and the move goes on", async () => {
  const faults = everyFault((await play([], PATIENT)).counts);
  for (const fault of faults) {
    const world = await play([fault], PATIENT);
    expect([fault, world.unusedFaults]).toEqual([fault, 0]);
    expectOneOwner(world, [fault]);
    // A start that is not durable never happened. Every other move is finished, not dropped.
    const isForgotten = fault.kind === "Crash" && fault.node === "a" && fault.entry === 0 && !fault.isDurable;
    expect([fault, world.owners()]).toEqual([fault, isForgotten ? ["a"] : ["b"]]);
  }
});

test("two of them at any two steps leave one owner", async () => {
  const first = everyFault((await play([], PATIENT)).counts);
  for (const one of first) {
    const later = everyFault((await play([one], PATIENT)).counts);
    for (const other of later) expectOneOwner(await play([one, other], PATIENT), [one, other]);
  }
});

test("a move that cannot end in time is aborted, whatever else happens", async () => {
  const outcomes = new Set<string>();
  const first = everyFault({ a: 3, b: 1, messages: 3 });
  for (const one of first)
    for (const other of first) {
      const world = await play([one, other], HASTY);
      expectOneOwner(world, [one, other]);
      outcomes.add(world.owners().join());
    }
  expect([...outcomes].sort()).toEqual(["a", "b"]);
});

describe("between stores of their own", () => {
  const SHIPPING = { ...PATIENT, hasShip: true };

  /** The owner has every record, and no other node has any. */
  function expectRecords(world: MoveWorld, faults: readonly Fault[]): void {
    const text = JSON.stringify(faults);
    const [owner] = world.owners();
    for (const [name, { rows, staged }] of world.disks) {
      expect([text, name, [...rows].sort()]).toEqual([text, name, name === owner ? ["one", "three", "two"] : []]);
      expect([text, name, staged.size]).toEqual([text, name, 0]);
    }
  }

  test("the records move with the scope, and are removed at the source", async () => {
    const world = await play([], SHIPPING);
    expect(world.owners()).toEqual(["b"]);
    expectRecords(world, []);
    expect(world.counts).toEqual({ a: 6, b: 10, messages: 7 });
  });

  test("a crash or a loss at any write and any frame leaves one owner, which has everything", async () => {
    const faults = everyFault((await play([], SHIPPING)).counts);
    for (const fault of faults) {
      const world = await play([fault], SHIPPING);
      expect([fault, world.unusedFaults]).toEqual([fault, 0]);
      expectOneOwner(world, [fault]);
      expectRecords(world, [fault]);
    }
  });

  test("two of them at any two steps do, too", { timeout: 60_000 }, async () => {
    const first = everyFault((await play([], SHIPPING)).counts);
    for (const one of first) {
      const later = everyFault((await play([one], SHIPPING)).counts);
      // All pairs are for exploration: every third keeps the usual run short.
      const chosen = later.filter((_, index) => isExploring || index % 3 === 0);
      for (const other of chosen) {
        const world = await play([one, other], SHIPPING);
        expectOneOwner(world, [one, other]);
        expectRecords(world, [one, other]);
      }
    }
  });

  test("a move that is too slow is aborted, and its records stay at the source", async () => {
    for (const fault of [undefined, ...everyFault({ a: 3, b: 8, messages: 8 })]) {
      const faults = fault === undefined ? [] : [fault];
      const world = await play(faults, { timeoutMs: 5, hasShip: true });
      expectOneOwner(world, faults);
      expectRecords(world, faults);
    }
  });
});
