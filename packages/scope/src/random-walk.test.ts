// What one move on two nodes cannot show: several moves of several scopes on three nodes, nested
// prefixes, tables that drop scopes and declare them again, old messages, and crashes, thousands of
// steps long. At no moment may two nodes write one key, and a node rebuilt from its journal must be
// the node that wrote it.
import fc from "fast-check";
import { expect, test } from "vitest";
import { unwrap, type Result } from "@gossip/stdx";
import type { Admission } from "./admission.ts";
import { tableOf } from "./cluster.fixture.ts";
import type { Decision, Offer } from "./handover.ts";
import { decodeJournal, encodeJournalEntry } from "./journal-json.ts";
import { decodeMessage, encodeMessage } from "./message.ts";
import { OwnershipNode, type Change } from "./ownership-node.ts";
import type { OwnershipSnapshot } from "./ownership-snapshot.ts";
import type { OwnershipTable } from "./ownership-table.ts";

const NODES = ["a", "b", "c"];
const PREFIXES = ["p:", "p:q:", "r:"];
/** Keys whose scope all nodes agree on at first. What was never declared has no owner to be protected. */
const KEYS = ["p:1", "p:q:1", "r:1"];
const FIRST = tableOf({ "p:": "a", "p:q:": "b", "r:": "a" }, "longest");

/** Every way to give these prefixes to these nodes or to nobody: most of them no node may take. */
const TABLES: readonly OwnershipTable[] = ["a", "b", "c", ""].flatMap((p) =>
  ["a", "b", "c", ""].flatMap((q) =>
    ["a", "b", ""].map((r) => {
      const scopes = Object.entries({ "p:": p, "p:q:": q, "r:": r, "p:q:deep:": q }).filter(([, writer]) => writer !== "");
      return tableOf(Object.fromEntries(scopes), "longest");
    }),
  ),
);

interface Member {
  node: OwnershipNode;
  journal: string;
  admissions: Admission[];
}

class Walk {
  readonly members: Member[] = NODES.map((self) => {
    const node = OwnershipNode.open(FIRST, { self, unknownKeys: "refuse" });
    return { node, journal: `${encodeJournalEntry(node.checkpoint())}\n`, admissions: [] };
  });
  readonly #offers: Offer[] = [];
  readonly #decisions: Decision[] = [];
  readonly #snapshots: OwnershipSnapshot[] = [];
  #moves = 0;
  #nowMs = 0;
  readonly done = new Map<string, number>();

  step([who, what, which]: readonly [number, number, number]): void {
    const member = this.members[who % 3]!;
    const { node } = member;
    this.#nowMs += 1;
    const of = <T,>(list: readonly T[]): T => list[which % list.length]!;
    const mine = this.#offers.filter(({ migration }) => migration.to === node.self);
    const steps: [string, () => void][] = [
      ["admit", () => this.#admit(member, of(KEYS))],
      ["release", () => member.admissions.splice(0, 1)[0]?.release()],
      ["start", () => this.#start(member, of(PREFIXES), which >> 3)],
      ["start", () => this.#start(member, of(PREFIXES), which >> 3)],
      ["drain", () => this.#drain(member)],
      ["drain", () => this.#drain(member)],
      ["commit", () => mine.length > 0 && this.#make(member, node.commit(mine.at(-1)!, this.#nowMs))],
      ["commit", () => this.#offers.length > 0 && this.#make(member, node.commit(of(this.#offers), this.#nowMs))],
      ["abort", () => node.snapshot.migrations.live().slice(-1).forEach((move) => this.#make(member, node.abort(move)))],
      ["abort offer", () => this.#offers.length > 0 && this.#make(member, node.abort(of(this.#offers).migration))],
      ["settle", () => this.#decisions.length > 0 && this.#make(member, node.settle(of(this.#decisions)))],
      ["settle", () => this.#decisions.slice(-3).forEach((decision) => this.#make(member, node.settle(decision)))],
      ["expire", () => this.#make(member, node.expire(this.#nowMs))],
      ["reload", () => this.#make(member, node.reload(of(TABLES)))],
      ["adopt", () => this.#snapshots.length > 0 && this.#make(member, node.adopt(this.#snapshots.at(-1 - (which % Math.min(4, this.#snapshots.length)))!))],
      ["restart", () => which % 3 === 0 && this.#restart(member)],
    ];
    const [name, act] = steps[what % steps.length]!;
    const epoch = node.snapshot.epoch;
    act();
    if (member.node.snapshot.epoch > epoch || name === "admit") this.done.set(name, (this.done.get(name) ?? 0) + 1);
    this.#listen(member);
  }

  #start(member: Member, prefix: string, target: number): void {
    const { node } = member;
    if (node.snapshot.table.lookup(prefix)?.writer !== node.self) return;
    this.#make(member, node.start({ id: `m${this.#moves++}`, prefix, from: node.self, to: NODES[target % 3]!, deadlineMs: this.#nowMs + 5 + (target % 200) }, this.#nowMs));
  }

  #drain(member: Member): void {
    for (const { id } of member.node.snapshot.migrations.live()) this.#make(member, member.node.drain(id, this.#nowMs));
  }

  #admit(member: Member, key: string): void {
    const admission = member.node.admit(key);
    if (admission.ok && member.admissions.length < 2) member.admissions.push(admission.value);
    else if (admission.ok) admission.value.release();
  }

  #make(member: Member, change: Result<Change, unknown>): void {
    if (!change.ok) return;
    if (change.value.entry !== undefined) member.journal += `${encodeJournalEntry(change.value.entry)}\n`;
    member.node.apply(change.value);
  }

  #restart(member: Member): void {
    member.node = rebuilt(member);
    member.admissions = [];
  }

  /** Whatever a node says stays on its way for ever, in the form that travels. */
  #listen({ node }: Member): void {
    const say = <T extends Offer | Decision | OwnershipSnapshot>(message: T | undefined): T[] => (message === undefined ? [] : [unwrap(decodeMessage(encodeMessage(message))) as T]);
    for (let move = Math.max(0, this.#moves - 6); move < this.#moves; move++) {
      const id = `m${move}`;
      if (!this.#offers.some(({ migration }) => migration.id === id)) this.#offers.push(...say(node.offerFor(id)));
      const decision = node.decisionFor(id);
      if (!this.#decisions.some(({ migration }) => migration.id === id && migration.outcome === decision?.migration.outcome)) this.#decisions.push(...say(decision));
    }
    if (this.#snapshots.at(-1) !== node.snapshot) this.#snapshots.push(node.snapshot);
  }
}

function rebuilt({ node, journal }: Member): OwnershipNode {
  return unwrap(OwnershipNode.rebuild(unwrap(decodeJournal(journal)), { self: node.self, unknownKeys: "refuse" }));
}

function writersOf(walk: Walk, key: string): string[] {
  const isHeld = ({ node, admissions }: Member): boolean => node.route(key).kind === "Owned" || admissions.some(({ verdict }) => verdict.kind === "Owned" && new TextDecoder().decode(verdict.prefix) === prefixOf(key));
  return walk.members.filter(isHeld).map(({ node }) => node.self);
}

/** The scope that a key of this walk is admitted under. */
function prefixOf(key: string): string {
  return key.slice(0, -1);
}

const stepsOf = fc.array(fc.tuple(fc.nat(2), fc.nat(15), fc.nat(2_000)), { minLength: 100, maxLength: 300, size: "max" });

test("on three nodes, any steps in any order, one node at most may write a key", () => {
  const done = new Map<string, number>();
  fc.assert(
    fc.property(stepsOf, (steps) => {
      const walk = new Walk();
      for (const step of steps) {
        walk.step(step);
        for (const key of KEYS) if (writersOf(walk, key).length > 1) expect.fail(`${key} may be written by ${writersOf(walk, key).join(" and ")}`);
      }
      for (const [name, count] of walk.done) done.set(name, (done.get(name) ?? 0) + count);
      for (const member of walk.members) expect(encodeJournalEntry(rebuilt(member).checkpoint())).toBe(encodeJournalEntry(member.node.checkpoint()));
    }),
    { numRuns: Number(process.env["FC_NUM_RUNS"] ?? 120) },
  );
  // A walk that never gets anywhere shows nothing.
  for (const name of ["start", "commit", "abort", "abort offer", "settle", "expire", "reload", "adopt"]) expect(done.get(name) ?? 0, name).toBeGreaterThan(10);
});
