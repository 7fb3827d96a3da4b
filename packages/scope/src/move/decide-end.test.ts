// A move ends once, by the decision of one node. A decision taken twice, too late, or on hearsay makes a
// second owner. Every refusal by itself, and what one move cannot show: several moves and late messages.
import { describe, expect, test, vi } from "vitest";
import { unwrap } from "@gossip/stdx";
import { completeMove, makeCluster, offerMove, REQUEST, tableOf } from "./cluster.fixture.ts";
import { MAX_REMEMBERED_MIGRATIONS } from "../limits.ts";
import { OwnershipNode } from "./ownership-node.ts";

// On a busy machine a thousand moves take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

const refused = (error: object): object => ({ ok: false, error });
const executed = { ok: true, value: { outcome: "Executed" } };
const replayed = { ok: true, value: { outcome: "Replayed", entry: undefined } };

describe("commit", () => {
  test("refuses a scope that has other scopes in it here than at the source, for those keys are another's", () => {
    const target = OwnershipNode.open(tableOf({ "p:": "a" }, "longest"), { self: "b" });
    const source = OwnershipNode.open(tableOf({ "p:": "a", "p:q:": "c" }, "longest"), { self: "a" });
    source.apply(unwrap(source.start(REQUEST, 0)));
    expect(source.reload(tableOf({ "p:": "a" }, "longest"), { force: true })).toEqual(
      refused({ kind: "AlreadyMigrating", id: "m1" }),
    );
    source.apply(unwrap(source.drain("m1", 0)));
    expect(target.commit(source.offerFor("m1")!, 0)).toEqual(refused({ kind: "InnerScopesDiffer" }));
    target.apply(unwrap(target.reload(tableOf({ "p:": "a", "p:q:": "c" }, "longest"))));
    target.apply(unwrap(target.commit(source.offerFor("m1")!, 0)));
    expect([target.route("p:1").kind, target.route("p:q:1").kind]).toEqual(["Owned", "Misdirected"]);
  });

  test("is repeated without effect", () => {
    const { a, b } = makeCluster();
    completeMove(a, b);
    const { migration } = b.node.decisionFor("m1")!;
    expect(b.node.commit({ kind: "Offer", migration }, 1_000)).toMatchObject(replayed);
  });

  test("refuses an offer for another node, a changed one, one past its deadline and one turned down", () => {
    const { a, b, c } = makeCluster();
    offerMove(a);
    const offer = a.node.offerFor("m1")!;
    expect(c.node.commit(offer, 0)).toEqual(refused({ kind: "NotTarget", target: "b" }));
    expect(b.node.commit(offer, 100)).toEqual(refused({ kind: "Aborted", id: "m1" }));
    expect(b.node.snapshot.epoch).toBe(0);
    b.make(b.node.abort(offer.migration));
    expect(b.node.commit(offer, 0)).toEqual(refused({ kind: "Aborted", id: "m1" }));
    expect(b.node.commit({ ...offer, migration: { ...offer.migration, deadlineMs: 1 } }, 0)).toEqual(
      refused({ kind: "MigrationIdConflict", id: "m1" }),
    );
  });

  test("refuses a scope that it does not know, or whose owner is another by its table", () => {
    const { a } = makeCluster();
    offerMove(a);
    const offer = a.node.offerFor("m1")!;
    const target = (scopes: Record<string, string>): OwnershipNode =>
      OwnershipNode.open(tableOf(scopes), { self: "b" });
    expect(target({ "q:": "b" }).commit(offer, 0)).toEqual(refused({ kind: "UndeclaredScope", prefixSize: 2 }));
    expect(target({ "p:": "c" }).commit(offer, 0)).toEqual(refused({ kind: "NotOwner", owner: "c" }));
    expect(target({ "p:": "b" }).commit(offer, 0)).toEqual(refused({ kind: "NotOwner", owner: "b" }));
    // Even where it has missed moves: another node cannot give it what it owns itself.
    const later = { ...offer, migration: { ...offer.migration, number: 5 } };
    expect(target({ "p:": "b" }).commit(later, 0)).toEqual(refused({ kind: "NotOwner", owner: "b" }));
    expect(target({ "p:": "c" }).commit(later, 0)).toMatchObject(executed);
  });

  test("refuses an offer that a later move has overtaken, also when its id is long forgotten", () => {
    const { a, b } = makeCluster();
    offerMove(a);
    const late = a.node.offerFor("m1")!;
    b.make(b.node.abort(late.migration));
    a.make(a.node.settle(b.node.decisionFor("m1")!));
    for (let turn = 0; turn <= MAX_REMEMBERED_MIGRATIONS; turn++) {
      const id = `again-${turn}`;
      offerMove(a, { ...REQUEST, id });
      b.make(b.node.abort(a.node.offerFor(id)!.migration));
      a.make(a.node.settle(b.node.decisionFor(id)!));
    }
    expect(b.node.snapshot.migrations.get("m1")).toBeUndefined();
    expect(b.node.commit(late, 0)).toEqual(
      refused({ kind: "Superseded", number: 1, latest: MAX_REMEMBERED_MIGRATIONS + 2 }),
    );
    expect(b.node.abort(late.migration)).toMatchObject(refused({ kind: "Superseded" }));
  });
});

describe("abort", () => {
  test("at the source takes the scope back while it is in its hands", () => {
    const { a } = makeCluster();
    a.make(a.node.start(REQUEST, 0));
    a.make(a.node.abort("m1"));
    expect([a.node.route("p:1").kind, a.node.snapshot.epoch]).toEqual(["Owned", 2]);
    expect(a.node.abort("m1")).toMatchObject(replayed);
  });

  test("at the source is the target's to decide once it has drained", () => {
    const { a, b } = makeCluster();
    offerMove(a);
    expect(a.node.abort("m1")).toEqual(refused({ kind: "AwaitingTarget", target: "b" }));
    b.make(b.node.abort(a.node.offerFor("m1")!.migration));
    a.make(a.node.settle(b.node.decisionFor("m1")!));
    expect([a.node.route("p:1").kind, b.node.route("p:1").kind]).toEqual(["Owned", "Misdirected"]);
  });

  test("refuses what is committed, unknown, another node's, or another move under the same id", () => {
    const { a, b, c } = makeCluster();
    expect(a.node.abort("m1")).toEqual(refused({ kind: "UnknownMigration", id: "m1" }));
    offerMove(a);
    const { migration } = a.node.offerFor("m1")!;
    expect(a.node.abort({ ...migration, id: "m2" })).toEqual(refused({ kind: "UnknownMigration", id: "m2" }));
    expect(c.node.abort(migration)).toEqual(refused({ kind: "NotTarget", target: "b" }));
    expect(a.node.abort({ ...migration, to: "c" })).toEqual(refused({ kind: "MigrationIdConflict", id: "m1" }));
    b.make(b.node.commit(a.node.offerFor("m1")!, 0));
    expect(b.node.abort("m1")).toEqual(refused({ kind: "AlreadyCommitted", id: "m1" }));
  });
});

describe("settle", () => {
  test("refuses a decision that the source cannot have led to", () => {
    const { a, b } = makeCluster();
    offerMove(a);
    b.make(b.node.commit(a.node.offerFor("m1")!, 0));
    const decision = b.node.decisionFor("m1")!;

    const undrained = makeCluster().a;
    expect(undrained.node.settle(decision)).toEqual(refused({ kind: "UnknownMigration", id: "m1" }));
    undrained.make(undrained.node.start(REQUEST, 0));
    expect(undrained.node.settle(decision)).toEqual(refused({ kind: "NotDrained", inFlight: 0 }));
    undrained.make(undrained.node.abort("m1"));
    expect(undrained.node.settle(decision)).toEqual(refused({ kind: "Aborted", id: "m1" }));
  });

  test("never tells a target what it decided itself", () => {
    const { a, b } = makeCluster();
    completeMove(a, b);
    const forgetful = makeCluster().b;
    expect(forgetful.node.settle(a.node.decisionFor("m1")!)).toEqual(refused({ kind: "UnknownMigration", id: "m1" }));
  });

  test("is repeated without effect, refuses the contrary and what is overtaken", () => {
    const { a, b, c } = makeCluster();
    completeMove(a, b);
    const first = b.node.decisionFor("m1")!;
    completeMove(b, a, { ...REQUEST, id: "m2", from: "b", to: "a" });
    expect(a.node.settle(first)).toMatchObject(replayed);
    expect(a.node.settle({ kind: "Decision", migration: { ...first.migration, outcome: "Aborted" } })).toEqual(
      refused({ kind: "AlreadyCommitted", id: "m1" }),
    );
    expect(a.node.settle({ kind: "Decision", migration: { ...first.migration, to: "c" } })).toEqual(
      refused({ kind: "MigrationIdConflict", id: "m1" }),
    );
    c.make(c.node.settle(a.node.decisionFor("m2")!));
    expect(c.node.settle(first)).toEqual(refused({ kind: "Superseded", number: 1, latest: 2 }));
  });

  test("tells a bystander where a scope has gone", () => {
    const { a, b, c } = makeCluster();
    completeMove(a, b);
    c.make(c.node.settle(b.node.decisionFor("m1")!));
    expect(c.node.route("p:1")).toMatchObject({ kind: "Misdirected", target: "b", epoch: 2 });
  });
});

describe("a source that has not heard how its move ended", () => {
  // The scope went from a to b, and on, or nearly; a only knows what came later.
  function makeOvertaken(): ReturnType<typeof makeCluster> {
    const cluster = makeCluster();
    const { a, b } = cluster;
    offerMove(a);
    b.make(b.node.commit(a.node.offerFor("m1")!, 0));
    return cluster;
  }
  const early = refused({ kind: "AlreadyMigrating", id: "m1" });

  test("does not go by the end of a later one, nor take or turn down an offer, before that", () => {
    const { a, b } = makeOvertaken();
    b.make(b.node.start({ ...REQUEST, id: "m2", from: "b", to: "c" }, 0));
    b.make(b.node.abort("m2"));
    expect(a.node.settle(b.node.decisionFor("m2")!)).toEqual(early);
    offerMove(b, { ...REQUEST, id: "m3", from: "b", to: "a" });
    const offer = b.node.offerFor("m3")!;
    expect(a.node.commit(offer, 0)).toEqual(early);
    expect(a.node.abort(offer.migration)).toEqual(early);
    expect(a.node.route("p:1").kind).toBe("Quiesced");

    a.make(a.node.settle(b.node.decisionFor("m1")!));
    a.make(a.node.commit(offer, 0));
    expect(a.node.route("p:1").kind).toBe("Owned");
  });
});
