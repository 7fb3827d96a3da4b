// A source that starts, drains or gives up a move out of turn leaves a scope with two writers or with
// none. Every refusal of its steps by itself; the explorer has them in all orders.
import { describe, expect, test } from "vitest";
import { unwrap } from "@gossip/stdx";
import { bytes } from "../arbitrary.fixture.ts";
import { completeMove, makeCluster, REQUEST, tableOf } from "./cluster.fixture.ts";
import { OwnershipNode } from "./ownership-node.ts";

const refused = (error: object): object => ({ ok: false, error });
const executed = { ok: true, value: { outcome: "Executed" } };
const replayed = { ok: true, value: { outcome: "Replayed", entry: undefined } };

describe("start refuses", () => {
  test.each<[string, Partial<typeof REQUEST>, object]>([
    ["a prefix that is no scope", { prefix: "x:" }, { kind: "UndeclaredScope", prefixSize: 2 }],
    ["a prefix inside a scope", { prefix: "p:1" }, { kind: "UndeclaredScope", prefixSize: 3 }],
    ["a prefix around a scope", { prefix: "" }, { kind: "UndeclaredScope", prefixSize: 0 }],
    ["a scope of another node", { prefix: "q:" }, { kind: "NotOwner", owner: "b" }],
    ["to give away for another node", { prefix: "q:", from: "b", to: "c" }, { kind: "NotOwner", owner: "b" }],
    ["a source that does not own the scope", { from: "c" }, { kind: "NotOwner", owner: "a" }],
    ["a move to itself", { to: "a" }, { kind: "SameNode" }],
    ["a move whose deadline has come", { deadlineMs: 0 }, { kind: "Aborted", id: "m1" }],
  ])("%s", (_, change, error) => {
    const { a } = makeCluster();
    expect(a.node.start({ ...REQUEST, ...change }, 0)).toEqual(refused(error));
    expect(a.node.snapshot.epoch).toBe(0);
  });

  test("a second move of the scope, and a known id for another move; the same one it replays", () => {
    const { a } = makeCluster();
    a.make(a.node.start(REQUEST, 0));
    expect(a.node.start({ ...REQUEST, id: "m2" }, 0)).toEqual(refused({ kind: "AlreadyMigrating", id: "m1" }));
    expect(a.node.start({ ...REQUEST, to: "c" }, 0)).toEqual(refused({ kind: "MigrationIdConflict", id: "m1" }));
    expect(a.node.start({ ...REQUEST, prefix: "q:" }, 0)).toEqual(refused({ kind: "MigrationIdConflict", id: "m1" }));
    expect(a.node.start(REQUEST, 1_000)).toMatchObject(replayed);
  });

  test("a move that is over, no matter who owns the scope by now", () => {
    const { a, b } = makeCluster();
    completeMove(a, b);
    expect(a.node.start(REQUEST, 0)).toEqual(refused({ kind: "AlreadyCommitted", id: "m1" }));
    completeMove(b, a, { ...REQUEST, id: "m2", from: "b", to: "a" });
    a.make(a.node.start({ ...REQUEST, id: "m3" }, 0));
    a.make(a.node.abort("m3"));
    expect(a.node.start({ ...REQUEST, id: "m3" }, 0)).toEqual(refused({ kind: "Aborted", id: "m3" }));
  });
});

describe("drain", () => {
  test("waits for what was admitted, and no longer", async () => {
    const { a } = makeCluster();
    const first = unwrap(a.node.admit("p:1"));
    const second = unwrap(a.node.admit(bytes("p:2")));
    expect(a.node.admit("unscoped").ok).toBe(true);
    a.make(a.node.start(REQUEST, 0));
    expect(a.node.admit("p:3")).toMatchObject(refused({ kind: "Quiesced", target: "b" }));

    expect(a.node.drain("m1", 0)).toEqual(refused({ kind: "NotDrained", inFlight: 2 }));
    const drained = a.node.whenDrained("p:");
    first.release();
    first.release();
    expect(a.node.drain("m1", 0)).toEqual(refused({ kind: "NotDrained", inFlight: 1 }));
    second[Symbol.dispose]();
    await drained;
    expect(a.node.drain("m1", 0)).toMatchObject(executed);
  });

  test("gives no offer before it is applied, and the same one again after", () => {
    const { a } = makeCluster();
    a.make(a.node.start(REQUEST, 0));
    const change = unwrap(a.node.drain("m1", 0));
    expect(a.node.offerFor("m1")).toBeUndefined();
    a.node.apply(change);
    expect(a.node.offerFor("m1")).toMatchObject({ kind: "Offer", migration: { id: "m1", number: 1, epoch: 1 } });
    expect(a.node.drain("m1", 1_000)).toMatchObject(replayed);
  });

  test("refuses an unknown move, another node's, one past its deadline and one that is over", () => {
    const { a, b, c } = makeCluster();
    expect(a.node.drain("m1", 0)).toEqual(refused({ kind: "UnknownMigration", id: "m1" }));
    a.make(a.node.start(REQUEST, 0));
    c.make(c.node.adopt(a.node.snapshot));
    expect(c.node.drain("m1", 0)).toEqual(refused({ kind: "NotOwner", owner: "a" }));
    expect(a.node.drain("m1", 100)).toEqual(refused({ kind: "Aborted", id: "m1" }));
    expect(a.node.drain("m1", 99)).toMatchObject(executed);
    const done = makeCluster();
    completeMove(done.a, done.b);
    expect(done.a.node.drain("m1", 0)).toEqual(refused({ kind: "AlreadyCommitted", id: "m1" }));
    b.make(b.node.abort({ ...REQUEST, prefix: bytes("p:"), address: undefined, number: 1, epoch: 1, inner: "" }));
    expect(b.node.drain("m1", 0)).toEqual(refused({ kind: "Aborted", id: "m1" }));
  });
});

describe("expire", () => {
  test("gives up what has outlived its deadline, one a time, and nothing that is out of its hands", () => {
    const table = tableOf({ "p:": "a", "q:": "a", "r:": "a" });
    const node = OwnershipNode.open(table, { self: "a" });
    for (const [id, prefix] of [
      ["m1", "p:"],
      ["m2", "q:"],
      ["m3", "r:"],
    ] as const)
      node.apply(unwrap(node.start({ ...REQUEST, id, prefix }, 0)));
    node.apply(unwrap(node.drain("m3", 0)));

    expect(node.expire(99)).toMatchObject(replayed);
    for (const epoch of [4, 5]) {
      node.apply(unwrap(node.expire(100)));
      expect(node.snapshot.epoch).toBe(epoch);
    }
    expect(node.expire(100)).toMatchObject(replayed);
    expect(["p:", "q:", "r:"].map((prefix) => node.route(prefix).kind)).toEqual(["Owned", "Owned", "Quiesced"]);
    expect(node.decisionFor("m1")).toMatchObject({ migration: { outcome: "Aborted" } });
  });
});
