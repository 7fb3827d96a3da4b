// Three nodes, three scopes of which one is inside another, and any number of moves: a world to be walked at random.
import { unwrap, type Result } from "@gossip/stdx";
import type * as Scopes from "../index.ts";
import type { ScopeKit } from "./move-world.fixture.ts";

const NODES = ["a", "b", "c"];
const PREFIXES = ["p:", "p:q:", "r:"];
/** Keys whose scope all nodes agree on at first. What was never declared has no owner to be protected. */
const KEYS = ["p:1", "p:q:1", "r:1"];
/** Every assignment of the prefixes to a node or to none. Nodes refuse most of them. */
const OWNERS = ["a", "b", "c", ""].flatMap((p) =>
  ["a", "b", "c", ""].flatMap((q) => ["a", "b", ""].map((r) => ({ "p:": p, "p:q:": q, "r:": r, "p:q:deep:": q }))),
);

/** Who, what, and which of those that there are. */
export type Step = readonly [who: number, what: number, which: number];

interface Member {
  node: Scopes.OwnershipNode;
  journal: string;
  admissions: Scopes.Admission[];
}

export class Walk {
  readonly #kit: ScopeKit;
  readonly #tables: readonly Scopes.OwnershipTable[];
  readonly #members: readonly Member[];
  readonly #offers: Scopes.Offer[] = [];
  readonly #decisions: Scopes.Decision[] = [];
  readonly #snapshots: Scopes.OwnershipSnapshot[] = [];
  #moves = 0;
  #nowMs = 0;
  /** How often each kind of step had an effect. */
  readonly done = new Map<string, number>();

  constructor(kit: ScopeKit, tables: readonly Scopes.OwnershipTable[]) {
    this.#kit = kit;
    this.#tables = tables;
    const first = tableOf(kit, { "p:": "a", "p:q:": "b", "r:": "a" });
    this.#members = NODES.map((self) => {
      const node = kit.OwnershipNode.open(first, { self, unknownKeys: "refuse" });
      return { node, journal: `${kit.encodeJournalEntry(node.checkpoint())}\n`, admissions: [] };
    });
  }

  /** Take a step. What is refused changes nothing. */
  step([who, what, which]: Step): void {
    const member = this.#members[who % 3]!;
    this.#nowMs += 1;
    const steps = this.#stepsOf(member, which);
    const [name, act] = steps[what % steps.length]!;
    const { epoch } = member.node.snapshot;
    act();
    if (member.node.snapshot.epoch > epoch) this.done.set(name, (this.done.get(name) ?? 0) + 1);
    this.#listen(member);
  }

  #stepsOf(member: Member, which: number): [string, () => unknown][] {
    const { node } = member;
    const of = <T>(list: readonly T[]): T[] => (list.length === 0 ? [] : [list[which % list.length]!]);
    const mine = this.#offers.filter(({ migration }) => migration.to === node.self);
    const make = (change: Result<Scopes.Change, unknown>): void => this.#make(member, change);
    const start = (): void => this.#start(member, PREFIXES[which % 3]!, which >> 3);
    const drain = (): void => node.snapshot.migrations.live().forEach(({ id }) => make(node.drain(id, this.#nowMs)));
    return [
      ["admit", () => this.#admit(member, KEYS[which % 3]!)],
      ["release", () => member.admissions.splice(0, 1)[0]?.release()],
      ["start", start],
      ["start", start],
      ["drain", drain],
      ["drain", drain],
      ["commit", () => mine.slice(-1).forEach((offer) => make(node.commit(offer, this.#nowMs)))],
      ["commit", () => of(this.#offers).forEach((offer) => make(node.commit(offer, this.#nowMs)))],
      [
        "abort",
        () =>
          node.snapshot.migrations
            .live()
            .slice(-1)
            .forEach((move) => make(node.abort(move))),
      ],
      ["abort offer", () => of(this.#offers).forEach(({ migration }) => make(node.abort(migration)))],
      ["settle", () => of(this.#decisions).forEach((decision) => make(node.settle(decision)))],
      ["settle", () => this.#decisions.slice(-3).forEach((decision) => make(node.settle(decision)))],
      ["expire", () => make(node.expire(this.#nowMs))],
      ["reload", () => of(this.#tables).forEach((table) => make(node.reload(table)))],
      ["adopt", () => of(this.#snapshots.slice(-4)).forEach((snapshot) => make(node.adopt(snapshot)))],
      ["restart", () => which % 3 === 0 && this.#restart(member)],
    ];
  }

  #start(member: Member, prefix: string, target: number): void {
    const { node } = member;
    if (node.snapshot.table.lookup(prefix)?.writer !== node.self) return;
    const request = {
      id: `m${this.#moves++}`,
      prefix,
      from: node.self,
      to: NODES[target % 3]!,
      deadlineMs: this.#nowMs + 5 + (target % 200),
    };
    this.#make(member, node.start(request, this.#nowMs));
  }

  #admit(member: Member, key: string): void {
    const admission = member.node.admit(key);
    if (admission.ok && member.admissions.length < 2) member.admissions.push(admission.value);
    else if (admission.ok) admission.value.release();
  }

  #make(member: Member, change: Result<Scopes.Change, unknown>): void {
    if (!change.ok) return;
    if (change.value.entry !== undefined) member.journal += `${this.#kit.encodeJournalEntry(change.value.entry)}\n`;
    member.node.apply(change.value);
  }

  #restart(member: Member): void {
    member.node = this.#rebuilt(member);
    member.admissions = [];
  }

  #rebuilt({ node, journal }: Member): Scopes.OwnershipNode {
    return unwrap(
      this.#kit.OwnershipNode.rebuild(unwrap(this.#kit.decodeJournal(journal)), {
        self: node.self,
        unknownKeys: "refuse",
      }),
    );
  }

  /** Whatever a node says stays on its way forever, in the form that travels. */
  #listen({ node }: Member): void {
    const travel = <T extends Scopes.Message>(message: T): T =>
      unwrap(this.#kit.decodeMessage(this.#kit.encodeMessage(message))) as T;
    for (let move = Math.max(0, this.#moves - 6); move < this.#moves; move++) {
      const id = `m${move}`;
      const offer = node.offerFor(id);
      if (offer !== undefined && !this.#offers.some(({ migration }) => migration.id === id))
        this.#offers.push(travel(offer));
      const decision = node.decisionFor(id);
      if (
        decision !== undefined &&
        !this.#decisions.some(
          ({ migration }) => migration.id === id && migration.outcome === decision.migration.outcome,
        )
      )
        this.#decisions.push(travel(decision));
    }
    if (this.#snapshots.at(-1) !== node.snapshot) this.#snapshots.push(node.snapshot);
  }

  /** What is wrong, in words; nothing, where nothing is. */
  violation(): string | undefined {
    for (const key of KEYS) {
      const writers = this.#members.filter((member) => mayWrite(member, key)).map(({ node }) => node.self);
      if (writers.length > 1) return `${key} may be written by ${writers.join(" and ")}`;
    }
    return undefined;
  }

  /** The nodes that differ from what their journals make of them. */
  forgetful(): string[] {
    const text = (node: Scopes.OwnershipNode): string => this.#kit.encodeJournalEntry(node.checkpoint());
    return this.#members
      .filter((member) => text(this.#rebuilt(member)) !== text(member.node))
      .map(({ node }) => node.self);
  }
}

/** By its route, or because an operation that it admitted is still running. */
function mayWrite({ node, admissions }: Member, key: string): boolean {
  const prefix = key.slice(0, -1);
  return (
    node.route(key).kind === "Owned" ||
    admissions.some(
      ({ verdict }) => verdict.kind === "Owned" && new TextDecoder().decode(verdict.scope.prefix) === prefix,
    )
  );
}

export function makeWalkTables(kit: ScopeKit): Scopes.OwnershipTable[] {
  return OWNERS.map((owners) => tableOf(kit, owners));
}

function tableOf(kit: ScopeKit, owners: Readonly<Record<string, string>>): Scopes.OwnershipTable {
  const declared = Object.entries(owners).filter(([, writer]) => writer !== "");
  return unwrap(
    kit.OwnershipTable.build(
      declared.map(([prefix, writer]) => new kit.Scope({ prefix, writer })),
      { nested: "longest" },
    ),
  );
}
