// A table or a snapshot that comes from outside must not change what a node decides itself: the other
// node would go on writing.
import { describe, expect, test } from "vitest";
import { bytes } from "../arbitrary.fixture.ts";
import { completeMove, makeCluster, REQUEST, tableOf } from "./cluster.fixture.ts";
import { MigrationTable } from "./migration-table.ts";
import { OwnershipSnapshot } from "../route/ownership-snapshot.ts";

const refused = (error: object): object => ({ ok: false, error });
const executed = { ok: true, value: { outcome: "Executed" } };
const replayed = { ok: true, value: { outcome: "Replayed", entry: undefined } };

describe("reload", () => {
  test("puts another table in place, an epoch higher, and forgets where scopes went", () => {
    const { a, b } = makeCluster();
    completeMove(a, b);
    expect(b.node.snapshot.migrations.lookupMigrated("p:")).toMatchObject({ to: "b" });
    b.make(b.node.reload(tableOf({ "p:": "b", "q:": "b", "r:": "b" })));
    expect([b.node.snapshot.epoch, b.node.route("r:1").kind, b.node.snapshot.migrations.lookupMigrated("p:")]).toEqual([
      3,
      "Owned",
      undefined,
    ]);
    // The move's id is still known: its steps may be repeated.
    expect(b.node.decisionFor("m1")).toBeDefined();
  });

  test.each<[string, Record<string, string>]>([
    ["drops", { "q:": "b" }],
    ["gives to its target", { "p:": "b", "q:": "b" }],
  ])("refuses a table that %s a scope that is moving", (_, scopes) => {
    const { a } = makeCluster();
    a.make(a.node.start(REQUEST, 0));
    for (const force of [false, true])
      expect(a.node.reload(tableOf(scopes), { force })).toEqual(refused({ kind: "AlreadyMigrating", id: "m1" }));
  });

  test.each<[string, "a" | "b", Record<string, string>, object[]]>([
    ["gives this node another's scope", "b", { "p:": "b", "q:": "b" }, [{ prefix: bytes("p:"), from: "a", to: "b" }]],
    ["takes this node's scope", "a", { "p:": "b", "q:": "b" }, [{ prefix: bytes("p:"), from: "a", to: "b" }]],
    [
      "gives this node a part of another's scope",
      "b",
      { "p:1": "b", "q:": "b" },
      [{ prefix: bytes("p:1"), from: "a", to: "b" }],
    ],
    [
      "gives this node a scope around another's",
      "b",
      { p: "b", "q:": "b" },
      [{ prefix: bytes("p:"), from: "a", to: "b" }],
    ],
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

  test("by force starts the count of moves afresh, so that nodes that knew the former owner's do not refuse the new one's", () => {
    const { a, b, c } = makeCluster();
    completeMove(a, c, { ...REQUEST, to: "c" });
    completeMove(c, a, { ...REQUEST, id: "m2", from: "c", to: "a" });
    // a never returns, and b knows none of its moves.
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
    const other = (epoch: number, scopes: Record<string, string>): OwnershipSnapshot =>
      new OwnershipSnapshot({ epoch, table: tableOf(scopes), migrations: MigrationTable.EMPTY });
    expect(a.node.adopt(other(5, { "p:": "b", "q:": "b" }))).toMatchObject(refused({ kind: "OwnerChanged" }));
    expect(b.node.adopt(other(5, { "p:": "b", "q:": "b" }))).toMatchObject(refused({ kind: "OwnerChanged" }));
    expect(c.node.adopt(other(5, { "p:": "b", "q:": "b" }))).toMatchObject(executed);

    a.make(a.node.start(REQUEST, 0));
    b.make(b.node.adopt(a.node.snapshot));
    for (const { node } of [a, b])
      expect(node.adopt(other(5, { "p:": "a", "q:": "b" }))).toEqual(refused({ kind: "AlreadyMigrating", id: "m1" }));
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
    expect(c.node.adopt(new OwnershipSnapshot({ epoch: 9, table, migrations }))).toEqual(
      refused({ kind: "StaleSnapshot", offeredEpoch: 9, currentEpoch: 2 }),
    );
  });
});
