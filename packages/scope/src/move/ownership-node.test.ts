// A node brings the parts together: a caller that applies a change twice, or forgets one, must get an error for
// it, and nothing may show before it is durable. The steps are tested beside their rules, and in all
// orders by the explorer.
import { describe, expect, test } from "vitest";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { bytes } from "../arbitrary.fixture.ts";
import { completeMove, makeCluster, REQUEST, tableOf } from "./cluster.fixture.ts";
import { encodeJournalEntry } from "../json/journal-json.ts";
import { encodeMessage } from "../json/message.ts";
import { MigrationTable } from "./migration-table.ts";
import { OwnershipNode } from "./ownership-node.ts";
import { OwnershipSnapshot } from "../route/ownership-snapshot.ts";
import { OwnershipTable } from "../table/ownership-table.ts";
import { matchedPrefix } from "../route/routing.ts";
import { Scope } from "../table/scope.ts";

const refused = (error: object): object => ({ ok: false, error });
const executed = { ok: true, value: { outcome: "Executed" } };

describe("a move", () => {
  test("takes a scope from its source to its target, an epoch a change", () => {
    const { a, b } = makeCluster();
    const seen: object[] = [];
    const look = (): void =>
      void seen.push([a, b].map(({ node }) => `${node.route("p:1").kind} ${node.snapshot.epoch}`));

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

  test("is returned by every node that has the snapshot, with the prefix, the target and the epoch", () => {
    const { a, c } = makeCluster();
    a.make(a.node.start({ ...REQUEST, address: "host:1" }, 0));
    c.make(c.node.adopt(a.node.snapshot));
    for (const { node } of [a, c]) {
      expect(node.route("p:1")).toEqual({
        kind: "Quiesced",
        prefix: bytes("p:"),
        epoch: 1,
        target: "b",
        address: "host:1",
      });
      expect(node.snapshot.routeWithFallbackState(bytes("p:1"), "a", () => true).kind).toBe("Quiesced");
      expect(node.route("q:1").kind).toBe("Misdirected");
    }
  });

  test("can be followed by another, back and on", () => {
    const { a, b, c } = makeCluster();
    completeMove(a, b);
    completeMove(b, a, { ...REQUEST, id: "m2", from: "b", to: "a" });
    completeMove(a, b, { ...REQUEST, id: "m3" });
    // c knows none of them and takes the scope anyway: the number of the offer shows that it missed some.
    completeMove(b, c, { ...REQUEST, id: "m4", from: "b", to: "c" });
    a.make(a.node.settle(c.node.decisionFor("m4")!));
    expect([a, b, c].map(({ node }) => node.route("p:1"))).toMatchObject([
      { target: "c" },
      { target: "c" },
      { kind: "Owned" },
    ]);
  });

  test("takes the fallback along, unless it becomes the writer", () => {
    const table = unwrap(
      OwnershipTable.build([
        new Scope({ prefix: "p:", writer: "a", fallback: "b" }),
        new Scope({ prefix: "q:", writer: "a", fallback: "c" }),
      ]),
    );
    const source = OwnershipNode.open(table, { self: "a" });
    const target = OwnershipNode.open(table, { self: "b" });
    for (const [id, prefix] of [
      ["m1", "p:"],
      ["m2", "q:"],
    ] as const) {
      source.apply(unwrap(source.start({ ...REQUEST, id, prefix }, 0)));
      source.apply(unwrap(source.drain(id, 0)));
      target.apply(unwrap(target.commit(source.offerFor(id)!, 0)));
    }
    expect([target.snapshot.table.lookup("p:")?.fallback, target.snapshot.table.lookup("q:")?.fallback]).toEqual([
      undefined,
      "c",
    ]);
  });

  test("leaves the keys of inner scopes where they are, where prefixes are nested", () => {
    const table = tableOf({ "p:": "a", "p:q:": "a" }, "longest");
    const node = OwnershipNode.open(table, { self: "a" });
    node.apply(unwrap(node.start(REQUEST, 0)));
    expect([node.route("p:1").kind, node.route("p:q:1").kind]).toEqual(["Quiesced", "Owned"]);
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
    const table = unwrap(
      OwnershipTable.build([
        new Scope({ prefix: "p:", writer: "a", fallback: "b" }),
        new Scope({ prefix: "q:", writer: "a" }),
      ]),
    );
    let isDown = false;
    const node = OwnershipNode.open(table, { self: "b", isDown: () => isDown });
    expect(node.admit("p:1")).toMatchObject(refused({ kind: "Misdirected", target: "a" }));
    isDown = true;
    expect(node.admit("p:1").ok).toBe(true);
    expect(node.admit("q:1")).toMatchObject(refused({ kind: "Unavailable", writer: "a" }));
  });
});

describe("bad input is described in a sentence", () => {
  const { a } = makeCluster();
  test.each<[string, () => unknown]>([
    ["no table", () => OwnershipNode.open({} as never, { self: "a" })],
    ["no options", () => OwnershipNode.open(tableOf({}), undefined as never)],
    ["no id of its own", () => OwnershipNode.open(tableOf({}), {} as never)],
    ["isDown that is no function", () => OwnershipNode.open(tableOf({}), { self: "a", isDown: true as never })],
    [
      "another way with unknown keys",
      () => OwnershipNode.open(tableOf({}), { self: "a", unknownKeys: "drop" as never }),
    ],
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
    [
      "a snapshot with half an epoch",
      () => new OwnershipSnapshot({ epoch: 0.5, table: tableOf({}), migrations: MigrationTable.EMPTY }),
    ],
  ])("%s", (_, act) => {
    expect(act).toThrow(InvariantViolation);
    expect(a.node.start({ ...REQUEST, prefix: "x:" }, 0)).toMatchObject(refused({ kind: "UndeclaredScope" }));
  });
});
