// A journal that reads back as another state makes a second owner after a crash; one that is torn in
// the middle of its last line must not keep a node from starting; and one that was damaged must not
// be taken for a shorter one. The same holds for what nodes tell each other.
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { unwrap } from "@gossip/stdx";
import { completeMove, makeCluster, offerMove, REQUEST, tableOf, type Member } from "../move/cluster.fixture.ts";
import { decodeJournal, encodeJournalEntry } from "./journal-json.ts";
import { decodeMessage, encodeMessage, type Message } from "./message.ts";
import { OwnershipNode } from "../move/ownership-node.ts";

// On a busy machine a property takes longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

const textOf = ({ journal }: Member): string => journal.map((entry) => `${encodeJournalEntry(entry)}\n`).join("");
const stateOf = (node: OwnershipNode): string => encodeJournalEntry(node.checkpoint());

/** Journals with an entry of each kind. */
function makeJournals(): Member[] {
  const { a, b, c } = makeCluster();
  a.make(a.node.start({ ...REQUEST, address: "host:1" }, 0));
  c.make(c.node.adopt(a.node.snapshot));
  a.make(a.node.drain("m1", 0));
  b.make(b.node.commit(a.node.offerFor("m1")!, 0));
  a.make(a.node.settle(b.node.decisionFor("m1")!));
  completeMove(b, a, { ...REQUEST, id: "m2", from: "b", to: "a" });
  a.make(a.node.reload(tableOf({ "p:": "a", "p:q:": "a", "r:": "b" }, "longest")));
  a.make(a.node.reload(tableOf({ "p:": "a", "p:q:": "a", "r:": "a" }, "longest"), { force: true }));
  offerMove(a, { ...REQUEST, id: "m3" });
  return [a, b, c];
}

describe("a journal", () => {
  test("has every kind of entry here, or the rest of this file shows less than it says", () => {
    const kinds = new Set(makeJournals().flatMap(({ journal }) => journal.map(({ kind }) => kind)));
    expect([...kinds].sort()).toEqual(["Adopted", "Drained", "Ended", "Opened", "Reloaded", "Started"]);
  });

  test("makes the node that wrote it, from any line on that it is cut after, and from a checkpoint alone", () => {
    for (const member of makeJournals()) {
      const entries = unwrap(decodeJournal(textOf(member)));
      expect(stateOf(unwrap(OwnershipNode.rebuild(entries, { self: member.node.self })))).toBe(stateOf(member.node));
      for (let count = 1; count <= entries.length; count++)
        expect(OwnershipNode.rebuild(entries.slice(0, count), { self: member.node.self }).ok).toBe(true);
      const short = unwrap(decodeJournal(`${stateOf(member.node)}\n`));
      expect(stateOf(unwrap(OwnershipNode.rebuild(short, { self: member.node.self })))).toBe(stateOf(member.node));
    }
  });

  test("torn anywhere in its last line is the journal without that line", () => {
    const [a] = makeJournals() as [Member];
    const text = textOf(a);
    const lastLine = text.lastIndexOf("\n", text.length - 2) + 1;
    for (const cut of [lastLine, lastLine + 1, (lastLine + text.length) >> 1, text.length - 1]) {
      expect(unwrap(decodeJournal(text.slice(0, cut))).length).toBe(a.journal.length - 1);
    }
  });

  test("damaged anywhere else is reported with the line, and never throws", () => {
    const [a] = makeJournals() as [Member];
    const lines = textOf(a).split("\n").slice(0, -1);
    fc.assert(
      fc.property(
        fc.nat(lines.length - 1),
        fc.nat(),
        fc.constantFrom("", "{", '"', "0", "null", "é"),
        (line, at, instead) => {
          const text = lines[line]!;
          const place = at % text.length;
          const damaged = text.slice(0, place) + instead + text.slice(place + 1);
          const decoded = decodeJournal([...lines.slice(0, line), damaged, ...lines.slice(line + 1), ""].join("\n"));
          if (!decoded.ok) expect(decoded.error).toEqual({ kind: "CorruptJournal", position: line });
          // Some damage is to a name, and reads well: then the node must still not throw over it.
          else expect([true, false]).toContain(OwnershipNode.rebuild(decoded.value, { self: "a" }).ok);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("whose entries do not follow from each other is reported with the entry", () => {
    const [a] = makeJournals() as [Member];
    const rebuild = (entries: typeof a.journal): unknown => OwnershipNode.rebuild(entries, { self: "a" });
    const corrupt = (position: number): object => ({ ok: false, error: { kind: "CorruptJournal", position } });
    expect(rebuild([])).toEqual(corrupt(0));
    expect(rebuild([null as never])).toEqual(corrupt(0));
    expect(rebuild([a.journal[0]!, { kind: "Renamed" } as never])).toEqual(corrupt(1));
    expect(rebuild(a.journal.slice(1))).toEqual(corrupt(0));
    expect(rebuild([a.journal[0]!, a.journal[2]!])).toEqual(corrupt(1));
    expect(rebuild([a.journal[0]!, a.journal[1]!, a.journal[1]!])).toEqual(corrupt(2));
    expect(rebuild([...a.journal, a.journal.find(({ kind }) => kind === "Reloaded")!])).toEqual(
      corrupt(a.journal.length),
    );
    expect(rebuild([...a.journal, a.journal.find(({ kind }) => kind === "Ended")!])).toEqual(corrupt(a.journal.length));
  });
});

describe("a message", () => {
  function makeMessages(): Message[] {
    const [a, b] = makeJournals() as [Member, Member];
    return [
      a.node.offerFor("m3")!,
      a.node.decisionFor("m1")!,
      b.node.decisionFor("m2")!,
      a.node.snapshot,
      b.node.snapshot,
    ];
  }

  test("says the same at the other end", () => {
    for (const message of makeMessages())
      expect(encodeMessage(unwrap(decodeMessage(encodeMessage(message))))).toBe(encodeMessage(message));
  });

  test("that is anything else is refused and never throws", () => {
    const texts = makeMessages().map(encodeMessage);
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.nat(),
        fc.nat(20),
        fc.string({ maxLength: 4 }),
        (text, at, size, instead) => {
          const place = at % text.length;
          const decoded = decodeMessage(text.slice(0, place) + instead + text.slice(place + size));
          if (!decoded.ok) expect(decoded.error).toEqual({ kind: "MalformedMessage" });
        },
      ),
      { numRuns: 1_000 },
    );
    fc.assert(fc.property(fc.json(), (text) => !decodeMessage(text).ok));
    for (const text of [undefined, null, 7, "", "null", "[]", '{"kind":"Offer"}'])
      expect(decodeMessage(text as string)).toEqual({ ok: false, error: { kind: "MalformedMessage" } });
  });
});
