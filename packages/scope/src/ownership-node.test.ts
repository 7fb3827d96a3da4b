// A node may refuse a step, repeat it or take it. Taking one that it should refuse makes two writers
// of one key; refusing one that it should repeat leaves a move stuck halfway. The explorer walks the
// interleavings of one move; here is every refusal by itself, and what one move cannot show: several
// moves, late messages, reloads, and a caller that gets it wrong.
import { describe, expect, test, vi } from "vitest";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { bytes } from "./arbitrary.fixture.ts";
import { completeMove, makeCluster, offerMove, REQUEST, tableOf } from "./cluster.fixture.ts";
import { encodeJournalEntry } from "./journal-json.ts";
import { MAX_REMEMBERED_MIGRATIONS } from "./limits.ts";
import { encodeMessage } from "./message.ts";
import { MigrationTable } from "./migration-table.ts";
import { OwnershipNode } from "./ownership-node.ts";
import { OwnershipSnapshot } from "./ownership-snapshot.ts";
import { OwnershipTable } from "./ownership-table.ts";
import { matchedPrefix } from "./routing.ts";
import { Scope } from "./scope.ts";

// On a busy machine a property takes longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

const refused = (error: object): object => ({ ok: false, error });
const executed = { ok: true, value: { outcome: "Executed" } };
const replayed = { ok: true, value: { outcome: "Replayed", entry: undefined } };

describe("a move", () => {
  test("takes a scope from its source to its target, an epoch a change", () => {
    const { a, b } = makeCluster();
    const seen: object[] = [];
    const look = (): void => void seen.push([a, b].map(({ node }) => `${node.route("p:1").kind} ${node.snapshot.epoch}`));

    look();
    a.make(a.node.start(REQUEST, 0));
    look();
    a.make(a.node.drain("m1", 1));
    look();
    b.make(b.node.commit(a.node.offerFor("m1")!, 2));
    look();
    a.make(a.node.settle(b.node.decisionFor("m1")!));
    look();
    expect(seen).toEqual([
      ["Owned 0", "Misdirected 0"],
      ["Quiesced 1", "Misdirected 0"],
      ["Quiesced 1", "Misdirected 0"],
      ["Quiesced 1", "Owned 2"],
      ["Misdirected 2", "Owned 2"],
    ]);
  });

  test("is told to every node that has the snapshot, with the prefix, the target and the epoch", () => {
    const { a, c } = makeCluster();
    a.make(a.node.start({ ...REQUEST, address: "host:1" }, 0));
    c.make(c.node.adopt(a.node.snapshot));
    for (const { node } of [a, c]) {
      expect(node.route("p:1")).toEqual({ kind: "Quiesced", prefix: bytes("p:"), epoch: 1, target: "b", address: "host:1" });
      expect(node.snapshot.routeWithFallbackState(bytes("p:1"), "a", () => true).kind).toBe("Quiesced");
      expect(node.route("q:1").kind).toBe("Misdirected");
    }
  });

  test("can be followed by another, back and on", () => {
    const { a, b, c } = makeCluster();
    completeMove(a, b);
    completeMove(b, a, { ...REQUEST, id: "m2", from: "b", to: "a" });
    completeMove(a, b, { ...REQUEST, id: "m3" });
    // c has heard of none of them, and takes the scope all the same: the offer's number says that it missed some.
    completeMove(b, c, { ...REQUEST, id: "m4", from: "b", to: "c" });
    a.make(a.node.settle(c.node.decisionFor("m4")!));
    expect([a, b, c].map(({ node }) => node.route("p:1"))).toMatchObject([{ target: "c" }, { target: "c" }, { kind: "Owned" }]);
  });

  test("takes the fallback along, unless it becomes the writer", () => {
    const table = unwrap(OwnershipTable.build([new Scope({ prefix: "p:", writer: "a", fallback: "b" }), new Scope({ prefix: "q:", writer: "a", fallback: "c" })]));
    const source = OwnershipNode.open(table, { self: "a" });
    const target = OwnershipNode.open(table, { self: "b" });
    for (const [id, prefix] of [["m1", "p:"], ["m2", "q:"]] as const) {
      source.apply(unwrap(source.start({ ...REQUEST, id, prefix }, 0)));
      source.apply(unwrap(source.drain(id, 0)));
      target.apply(unwrap(target.commit(source.offerFor(id)!, 0)));
    }
    expect([target.snapshot.table.lookup("p:")?.fallback, target.snapshot.table.lookup("q:")?.fallback]).toEqual([undefined, "c"]);
  });

  test("leaves the keys of inner scopes where they are, where prefixes are nested", () => {
    const table = tableOf({ "p:": "a", "p:q:": "a" }, "longest");
    const node = OwnershipNode.open(table, { self: "a" });
    node.apply(unwrap(node.start(REQUEST, 0)));
    expect([node.route("p:1").kind, node.route("p:q:1").kind]).toEqual(["Quiesced", "Owned"]);
  });
});

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

  test("a move that is over, whoever owns the scope by now", () => {
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
    const elsewhere = unwrap(a.node.admit("unscoped"));
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
    expect([first.isReleased, elsewhere.isReleased]).toEqual([true, false]);
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

describe("commit", () => {
  test("refuses a scope that has other scopes in it here than at the source, for those keys are another's", () => {
    const target = OwnershipNode.open(tableOf({ "p:": "a" }, "longest"), { self: "b" });
    const source = OwnershipNode.open(tableOf({ "p:": "a", "p:q:": "c" }, "longest"), { self: "a" });
    source.apply(unwrap(source.start(REQUEST, 0)));
    expect(source.reload(tableOf({ "p:": "a" }, "longest"), { force: true })).toEqual(refused({ kind: "AlreadyMigrating", id: "m1" }));
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
    expect(b.node.commit({ ...offer, migration: { ...offer.migration, deadlineMs: 1 } }, 0)).toEqual(refused({ kind: "MigrationIdConflict", id: "m1" }));
  });

  test("refuses a scope that it does not know, or whose owner is another by its table", () => {
    const { a } = makeCluster();
    offerMove(a);
    const offer = a.node.offerFor("m1")!;
    const target = (scopes: Record<string, string>): OwnershipNode => OwnershipNode.open(tableOf(scopes), { self: "b" });
    expect(target({ "q:": "b" }).commit(offer, 0)).toEqual(refused({ kind: "UndeclaredScope", prefixSize: 2 }));
    expect(target({ "p:": "c" }).commit(offer, 0)).toEqual(refused({ kind: "NotOwner", owner: "c" }));
    expect(target({ "p:": "b" }).commit(offer, 0)).toEqual(refused({ kind: "NotOwner", owner: "b" }));
    // Even where it has missed moves: what it owns itself nobody else can give it.
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
    expect(b.node.commit(late, 0)).toEqual(refused({ kind: "Superseded", number: 1, latest: MAX_REMEMBERED_MIGRATIONS + 2 }));
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
    expect(a.node.settle({ kind: "Decision", migration: { ...first.migration, outcome: "Aborted" } })).toEqual(refused({ kind: "AlreadyCommitted", id: "m1" }));
    expect(a.node.settle({ kind: "Decision", migration: { ...first.migration, to: "c" } })).toEqual(refused({ kind: "MigrationIdConflict", id: "m1" }));
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
  // The scope went from a to b, and on, or nearly; a has only ever heard of what came later.
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

describe("expire", () => {
  test("gives up what has outlived its deadline, one a time, and nothing that is out of its hands", () => {
    const table = tableOf({ "p:": "a", "q:": "a", "r:": "a" });
    const node = OwnershipNode.open(table, { self: "a" });
    for (const [id, prefix] of [["m1", "p:"], ["m2", "q:"], ["m3", "r:"]] as const) node.apply(unwrap(node.start({ ...REQUEST, id, prefix }, 0)));
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

describe("reload", () => {
  test("puts another table in place, an epoch higher, and forgets where scopes went", () => {
    const { a, b } = makeCluster();
    completeMove(a, b);
    expect(b.node.snapshot.migrations.lookupMigrated("p:")).toMatchObject({ to: "b" });
    b.make(b.node.reload(tableOf({ "p:": "b", "q:": "b", "r:": "b" })));
    expect([b.node.snapshot.epoch, b.node.route("r:1").kind, b.node.snapshot.migrations.lookupMigrated("p:")]).toEqual([3, "Owned", undefined]);
    // The move's id is still known: its steps may be repeated.
    expect(b.node.decisionFor("m1")).toBeDefined();
  });

  test.each<[string, Record<string, string>]>([
    ["drops", { "q:": "b" }],
    ["gives to its target", { "p:": "b", "q:": "b" }],
  ])("refuses a table that %s a scope that is moving", (_, scopes) => {
    const { a } = makeCluster();
    a.make(a.node.start(REQUEST, 0));
    for (const force of [false, true]) expect(a.node.reload(tableOf(scopes), { force })).toEqual(refused({ kind: "AlreadyMigrating", id: "m1" }));
  });

  test.each<[string, "a" | "b", Record<string, string>, object[]]>([
    ["gives this node another's scope", "b", { "p:": "b", "q:": "b" }, [{ prefix: bytes("p:"), from: "a", to: "b" }]],
    ["takes this node's scope", "a", { "p:": "b", "q:": "b" }, [{ prefix: bytes("p:"), from: "a", to: "b" }]],
    ["gives this node a part of another's scope", "b", { "p:1": "b", "q:": "b" }, [{ prefix: bytes("p:1"), from: "a", to: "b" }]],
    ["gives this node a scope around another's", "b", { p: "b", "q:": "b" }, [{ prefix: bytes("p:"), from: "a", to: "b" }]],
  ])("refuses a table that %s, unless forced", (_, name, scopes, changes) => {
    const { [name]: member } = makeCluster();
    expect(member.node.reload(tableOf(scopes))).toEqual(refused({ kind: "OwnerChanged", changes }));
    expect(member.node.reload(tableOf(scopes), { force: true })).toMatchObject(executed);
  });

  test("remembers whose a dropped scope was, across a restart too", () => {
    const { b } = makeCluster();
    b.make(b.node.reload(tableOf({ "q:": "b" })));
    b.journal.splice(0, b.journal.length, b.node.checkpoint());
    b.restart();
    expect(b.node.reload(tableOf({ "p:": "b", "q:": "b" }))).toMatchObject(refused({ kind: "OwnerChanged" }));
    expect(b.node.reload(tableOf({ "p:1": "b", "q:": "b" }))).toMatchObject(refused({ kind: "OwnerChanged" }));
    expect(b.node.reload(tableOf({ "p:": "a", "q:": "b" }))).toMatchObject(executed);
  });

  test("by force starts the count of moves afresh, so that those who knew the former owner's do not refuse the new one's", () => {
    const { a, b, c } = makeCluster();
    completeMove(a, c, { ...REQUEST, to: "c" });
    completeMove(c, a, { ...REQUEST, id: "m2", from: "c", to: "a" });
    // a is gone for good, and b has heard of none of its moves.
    b.make(b.node.reload(tableOf({ "p:": "b", "q:": "b" }), { force: true }));
    b.restart();
    completeMove(b, c, { ...REQUEST, id: "m3", from: "b", to: "c" });
    expect([b.node.route("p:1").kind, c.node.route("p:1").kind]).toEqual(["Misdirected", "Owned"]);
  });

  test("lets a bystander learn of other owners", () => {
    const { c } = makeCluster();
    c.make(c.node.reload(tableOf({ "p:": "b", "q:": "a" })));
    expect(c.node.route("p:1")).toMatchObject({ target: "b" });
  });
});

describe("adopt", () => {
  test("refuses an older snapshot, and one as old that differs", () => {
    const { a, b, c } = makeCluster();
    a.make(a.node.reload(tableOf({ "p:": "a", "q:": "b", "r:": "c" })));
    b.make(b.node.reload(tableOf({ "p:": "a", "q:": "b", "s:": "c" })));
    expect(a.node.adopt(c.node.snapshot)).toEqual(refused({ kind: "StaleSnapshot", offeredEpoch: 0, currentEpoch: 1 }));
    expect(a.node.adopt(b.node.snapshot)).toEqual(refused({ kind: "StaleSnapshot", offeredEpoch: 1, currentEpoch: 1 }));
    expect(a.node.adopt(a.node.snapshot)).toMatchObject(replayed);
    c.make(c.node.adopt(a.node.snapshot));
    expect(c.node.route("r:1").kind).toBe("Owned");
    expect(c.node.adopt(a.node.snapshot)).toMatchObject(replayed);
  });

  test("refuses what would give a scope, take one, or end or invent a move of this node's", () => {
    const { a, b, c } = makeCluster();
    const other = (epoch: number, scopes: Record<string, string>): OwnershipSnapshot => new OwnershipSnapshot({ epoch, table: tableOf(scopes), migrations: MigrationTable.EMPTY });
    expect(a.node.adopt(other(5, { "p:": "b", "q:": "b" }))).toMatchObject(refused({ kind: "OwnerChanged" }));
    expect(b.node.adopt(other(5, { "p:": "b", "q:": "b" }))).toMatchObject(refused({ kind: "OwnerChanged" }));
    expect(c.node.adopt(other(5, { "p:": "b", "q:": "b" }))).toMatchObject(executed);

    a.make(a.node.start(REQUEST, 0));
    b.make(b.node.adopt(a.node.snapshot));
    for (const { node } of [a, b]) expect(node.adopt(other(5, { "p:": "a", "q:": "b" }))).toEqual(refused({ kind: "AlreadyMigrating", id: "m1" }));
    const stranger = makeCluster().a;
    expect(stranger.node.adopt(a.node.snapshot)).toEqual(refused({ kind: "UnknownMigration", id: "m1" }));
  });

  test("refuses a snapshot in which a move is under way whose end is known here", () => {
    const { a, b, c } = makeCluster();
    a.make(a.node.start(REQUEST, 0));
    const { migrations, table } = a.node.snapshot;
    c.make(c.node.adopt(a.node.snapshot));
    a.make(a.node.drain("m1", 0));
    b.make(b.node.commit(a.node.offerFor("m1")!, 0));
    c.make(c.node.settle(b.node.decisionFor("m1")!));
    expect(c.node.adopt(new OwnershipSnapshot({ epoch: 9, table, migrations }))).toEqual(refused({ kind: "StaleSnapshot", offeredEpoch: 9, currentEpoch: 2 }));
  });
});

describe("a change", () => {
  test("changes nothing before it is applied, and no other can be proposed meanwhile", () => {
    const { a } = makeCluster();
    const change = unwrap(a.node.start(REQUEST, 0));
    expect([a.node.route("p:1").kind, a.node.snapshot.epoch]).toEqual(["Owned", 0]);
    const pending = refused({ kind: "ChangePending" });
    expect(a.node.start(REQUEST, 0)).toEqual(pending);
    expect(a.node.drain("m1", 0)).toEqual(pending);
    expect(a.node.expire(0)).toEqual(pending);
    expect(a.node.reload(tableOf({}))).toEqual(pending);
    expect(a.node.adopt(a.node.snapshot)).toEqual(pending);
    a.node.discard(change);
    expect(a.node.start(REQUEST, 0)).toMatchObject(executed);
  });

  test("is applied once, by its own node, and not after it was discarded", () => {
    const { a, b } = makeCluster();
    const change = unwrap(a.node.start(REQUEST, 0));
    expect(() => b.node.apply(change)).toThrow(InvariantViolation);
    expect(() => b.node.discard(change)).toThrow(InvariantViolation);
    a.node.apply(change);
    expect(() => a.node.apply(change)).toThrow(InvariantViolation);
    expect(() => a.node.discard(change)).toThrow(InvariantViolation);
    a.node.apply(unwrap(a.node.start(REQUEST, 0)));
    a.node.discard(unwrap(a.node.start(REQUEST, 0)));
    expect(a.node.snapshot.epoch).toBe(1);
  });

  test("shares nothing with what its caller may write to", () => {
    const { a, b } = makeCluster();
    const prefix = bytes("p:");
    const change = unwrap(a.node.start({ ...REQUEST, prefix }, 0));
    prefix.fill(0);
    a.node.apply(change);
    if (change.entry?.kind === "Started") change.entry.migration.prefix.fill(0);
    a.node.apply(unwrap(a.node.drain("m1", 0)));
    a.node.offerFor("m1")!.migration.prefix.fill(0);
    expect(a.node.route("p:1").kind).toBe("Quiesced");
    b.make(b.node.commit(a.node.offerFor("m1")!, 0));
    expect(b.node.route("p:1").kind).toBe("Owned");
  });
});

describe("keys without a scope, and fallbacks", () => {
  test("are admitted unless told otherwise, and counted apart", () => {
    const { a } = makeCluster();
    expect(unwrap(a.node.admit("x")).verdict).toEqual({ kind: "Unknown" });
    expect(a.node.inFlight("p:")).toBe(0);
    expect(makeCluster({ unknownKeys: "refuse" }).a.node.admit("x")).toEqual(refused({ kind: "Unknown" }));
  });

  test("a fallback admits while the writer is down, by this node's view", () => {
    const table = unwrap(OwnershipTable.build([new Scope({ prefix: "p:", writer: "a", fallback: "b" }), new Scope({ prefix: "q:", writer: "a" })]));
    let isDown = false;
    const node = OwnershipNode.open(table, { self: "b", isDown: () => isDown });
    expect(node.admit("p:1")).toMatchObject(refused({ kind: "Misdirected", target: "a" }));
    isDown = true;
    expect(node.admit("p:1").ok).toBe(true);
    expect(node.admit("q:1")).toMatchObject(refused({ kind: "Unavailable", writer: "a" }));
  });
});

describe("bad input is told in a sentence", () => {
  const { a } = makeCluster();
  test.each<[string, () => unknown]>([
    ["no table", () => OwnershipNode.open({} as never, { self: "a" })],
    ["no options", () => OwnershipNode.open(tableOf({}), undefined as never)],
    ["no id of its own", () => OwnershipNode.open(tableOf({}), {} as never)],
    ["isDown that is no function", () => OwnershipNode.open(tableOf({}), { self: "a", isDown: true as never })],
    ["another way with unknown keys", () => OwnershipNode.open(tableOf({}), { self: "a", unknownKeys: "drop" as never })],
    ["no request", () => a.node.start(undefined as never, 0)],
    ["a request without an id", () => a.node.start({ ...REQUEST, id: undefined as never }, 0)],
    ["a deadline that is no number", () => a.node.start({ ...REQUEST, deadlineMs: "soon" as never }, 0)],
    ["no time", () => a.node.start(REQUEST, Number.NaN)],
    ["an id that is a number", () => a.node.drain(1 as never, 0)],
    ["no offer", () => a.node.commit(null as never, 0)],
    ["a move in place of an offer", () => a.node.commit({ ...REQUEST } as never, 0)],
    ["no decision", () => a.node.settle("m1" as never)],
    ["a move without a number", () => a.node.abort({ ...REQUEST } as never)],
    ["no table to reload", () => a.node.reload([] as never)],
    ["no snapshot", () => a.node.adopt({ epoch: 9 } as never)],
    ["no change", () => a.node.apply(undefined as never)],
    ["force that is no truth value", () => a.node.reload(tableOf({}), { force: "yes" as never })],
    ["no options to reload with", () => a.node.reload(tableOf({}), null as never)],
    ["no journal", () => OwnershipNode.rebuild(undefined as never, { self: "a" })],
    ["a message that is none", () => encodeMessage(null as never)],
    ["an entry that is none", () => encodeJournalEntry(undefined as never)],
    ["no moves", () => MigrationTable.from(undefined as never)],
    ["a verdict that is none", () => matchedPrefix(undefined as never)],
    ["a key that is an object", () => a.node.admit({} as never)],
    ["a prefix that is null", () => a.node.inFlight(null as never)],
    ["a snapshot of nothing", () => new OwnershipSnapshot(undefined as never)],
    ["a snapshot with half an epoch", () => new OwnershipSnapshot({ epoch: 0.5, table: tableOf({}), migrations: MigrationTable.EMPTY })],
  ])("%s", (_, act) => {
    expect(act).toThrow(InvariantViolation);
    expect(a.node.start({ ...REQUEST, prefix: "x:" }, 0)).toMatchObject(refused({ kind: "UndeclaredScope" }));
  });
});
