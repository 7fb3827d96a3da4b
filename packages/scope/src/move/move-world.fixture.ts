// One scope, two nodes, one move, and everything that can happen to it: the world that the explorer walks.
import { unwrap } from "@gossip/stdx";
import type * as Scopes from "../index.ts";

/** The package under test: the real one, or a copy with a fault planted in it. */
export type ScopeKit = typeof Scopes;

export interface WorldOptions {
  /** How often each node may reload its table. */
  readonly reloads: number;
  /** Whose snapshots nodes may adopt: none, each other's, or also that of a third node that knows of no move. */
  readonly snapshots: "none" | "each other's" | "a stranger's";
  /** How many times nodes may crash, both together. */
  readonly crashes: number;
  /** How many operations each node may admit. */
  readonly admits: Readonly<Record<NodeName, number>>;
  /** A driver that applies a change first and makes it durable afterwards: a fault. */
  readonly appliesFirst?: boolean;
}

export type NodeName = "a" | "b";
const NAMES: readonly NodeName[] = ["a", "b"];
const KEY = "p:1";
const ID = "move";
const DEADLINE_MS = 10;

interface Host {
  node: Scopes.OwnershipNode;
  readonly journal: Scopes.JournalEntry[];
  pending: Scopes.Change | undefined;
  isDurable: boolean;
  isApplied: boolean;
  /** The operation in flight: at most one. */
  admission: Scopes.Admission | undefined;
  admitsLeft: number;
  reloadsLeft: number;
  /** How many operations have taken effect. */
  writes: number;
  highestEpoch: number;
}

/** Tables that do not change from world to world, and are built once. */
export interface WorldTables {
  readonly first: Scopes.OwnershipTable;
  /** As the first, and one scope more. */
  readonly wider: Scopes.OwnershipTable;
  /** The moving scope given to the other node, without a move. */
  readonly stolen: Scopes.OwnershipTable;
  /** The first table at a far later epoch. */
  readonly stranger: Scopes.OwnershipSnapshot;
}

export function makeTables(kit: ScopeKit): WorldTables {
  const build = (...scopes: [prefix: string, writer: string][]): Scopes.OwnershipTable =>
    unwrap(kit.OwnershipTable.build(scopes.map(([prefix, writer]) => new kit.Scope({ prefix, writer }))));
  const first = build(["p:", "a"], ["q:", "b"]);
  return {
    first,
    wider: build(["p:", "a"], ["q:", "b"], ["z:", "a"]),
    stolen: build(["p:", "b"], ["q:", "b"]),
    stranger: new kit.OwnershipSnapshot({ epoch: 9, table: first, migrations: kit.MigrationTable.EMPTY }),
  };
}

export class MoveWorld {
  readonly #kit: ScopeKit;
  readonly #tables: WorldTables;
  readonly #options: WorldOptions;
  readonly #hosts: Record<NodeName, Host>;
  #nowMs = 0;
  #crashesLeft: number;
  // Everything ever said stays on its way: it may arrive late, twice, or never.
  #offer: Scopes.Offer | undefined;
  readonly #decisions = new Map<string, Scopes.Decision>();
  readonly #snapshots = new Map<string, Scopes.OwnershipSnapshot>();
  /** Writes at the source that the offer carries along. */
  #shipped = 0;

  constructor(kit: ScopeKit, tables: WorldTables, options: WorldOptions) {
    this.#kit = kit;
    this.#tables = tables;
    this.#options = options;
    this.#crashesLeft = options.crashes;
    this.#hosts = { a: this.#makeHost("a"), b: this.#makeHost("b") };
    if (options.snapshots === "a stranger's") this.#snapshots.set(shapeOf(tables.stranger), tables.stranger);
  }

  #makeHost(self: NodeName): Host {
    const node = this.#kit.OwnershipNode.open(this.#tables.first, { self, unknownKeys: "refuse" });
    const { reloads: reloadsLeft } = this.#options;
    return {
      node,
      journal: [node.checkpoint()],
      pending: undefined,
      isDurable: false,
      isApplied: false,
      admission: undefined,
      admitsLeft: this.#options.admits[self],
      reloadsLeft,
      writes: 0,
      highestEpoch: 0,
    };
  }

  /** All that can happen now. What is refused, or changes nothing, is tried as well and leads back here. */
  actions(): string[] {
    const actions: string[] = this.#nowMs < DEADLINE_MS ? ["time passes"] : [];
    for (const name of NAMES) {
      const host = this.#hosts[name];
      if (host.admission === undefined && host.admitsLeft > 0) actions.push(`${name} admits`);
      if (host.admission !== undefined) actions.push(`${name} releases`);
      if (this.#crashesLeft > 0) actions.push(`${name} crashes`);
      if (host.pending === undefined)
        actions.push(...this.#proposals(name).map((proposal) => `${name} proposes ${proposal}`));
      else actions.push(`${name} ${this.#nextOf(host)}`);
    }
    return actions;
  }

  /** A change is made durable and then applied; the faulty driver has it the other way round. */
  #nextOf({ isDurable, isApplied }: Host): "persists" | "applies" {
    if (this.#options.appliesFirst === true) return isApplied ? "persists" : "applies";
    return isDurable ? "applies" : "persists";
  }

  #proposals(name: NodeName): string[] {
    const proposals = ["abort", "expire", "drain", "start"];
    if (this.#offer !== undefined) proposals.push("commit", "abort the offer");
    proposals.push(...[...this.#decisions.keys()].map((outcome) => `settle ${outcome}`));
    proposals.push(...[...this.#snapshots.keys()].map((shape) => `adopt ${shape}`));
    if (this.#hosts[name].reloadsLeft > 0) proposals.push("reload wider", "reload stolen");
    return proposals;
  }

  perform(action: string): void {
    if (action === "time passes") {
      this.#nowMs = DEADLINE_MS;
      return;
    }
    const [name, verb, ...rest] = action.split(" ") as [NodeName, string, ...string[]];
    this.#act(this.#hosts[name], verb, rest.join(" "));
    this.#listen(this.#hosts[name]);
  }

  #act(host: Host, verb: string, what: string): void {
    switch (verb) {
      case "admits": {
        const admission = host.node.admit(KEY);
        if (!admission.ok) return;
        host.admission = admission.value;
        host.admitsLeft -= 1;
        return;
      }
      case "releases":
        host.writes += 1;
        host.admission?.release();
        host.admission = undefined;
        return;
      case "crashes":
        this.#crashesLeft -= 1;
        this.restart(host);
        return;
      case "persists":
        host.journal.push(host.pending!.entry!);
        host.isDurable = true;
        return this.#finishIfDone(host);
      case "applies":
        host.node.apply(host.pending!);
        host.isApplied = true;
        return this.#finishIfDone(host);
      default:
        return this.#propose(host, what);
    }
  }

  #finishIfDone(host: Host): void {
    if (!host.isDurable || !host.isApplied) return;
    Object.assign(host, { pending: undefined, isDurable: false, isApplied: false });
  }

  #propose(host: Host, what: string): void {
    const change = this.#changeFor(host, what);
    if (!change.ok || change.value.entry === undefined) return;
    if (what.startsWith("reload")) host.reloadsLeft -= 1;
    host.pending = change.value;
  }

  #changeFor({ node }: Host, what: string): { ok: true; value: Scopes.Change } | { ok: false; error: object } {
    const [step, which] = what.split(" ") as [string, string];
    switch (what) {
      case "start":
        return node.start({ id: ID, prefix: "p:", from: "a", to: "b", deadlineMs: DEADLINE_MS }, this.#nowMs);
      case "drain":
        return node.drain(ID, this.#nowMs);
      case "abort":
        return node.abort(ID);
      case "abort the offer":
        return node.abort(this.#offer!.migration);
      case "commit":
        return node.commit(this.#offer!, this.#nowMs);
      case "expire":
        return node.expire(this.#nowMs);
      case "reload wider":
        return node.reload(this.#tables.wider);
      case "reload stolen":
        return node.reload(this.#tables.stolen);
      default:
        return step === "settle" ? node.settle(this.#decisions.get(which)!) : node.adopt(this.#snapshots.get(which)!);
    }
  }

  /** What a node knows and may say, it has said. */
  #listen({ node, writes }: Host): void {
    const offer = node.offerFor(ID);
    if (offer !== undefined && this.#offer === undefined) {
      this.#offer = offer;
      this.#shipped = writes;
    }
    const decision = node.decisionFor(ID);
    if (decision !== undefined) this.#decisions.set(decision.migration.outcome, decision);
    if (this.#options.snapshots === "each other's") this.#snapshots.set(shapeOf(node.snapshot), node.snapshot);
  }

  /** Start a host again from what it has made durable. */
  restart(host: Host): void {
    host.node = unwrap(this.#kit.OwnershipNode.rebuild(host.journal, { self: host.node.self, unknownKeys: "refuse" }));
    Object.assign(host, { pending: undefined, isDurable: false, isApplied: false, admission: undefined });
  }

  /** What is wrong in this state, in words; nothing, where nothing is. */
  violation(): string | undefined {
    const { a, b } = this.#hosts;
    const verdicts = NAMES.map((name) => this.#hosts[name].node.route(KEY));
    const writers = NAMES.filter(
      (name, index) => verdicts[index]!.kind === "Owned" || this.#hosts[name].admission !== undefined,
    );
    if (writers.length > 1) return "both nodes may write the key";
    if (b.node.route(KEY).kind === "Owned" && a.writes !== this.#shipped) return "a write at the source was lost";
    for (const [index, verdict] of verdicts.entries()) {
      if (verdict.kind === "Unknown") return "the key has neither a move nor an owner";
      if (verdict.kind === "Misdirected" && verdict.target === NAMES[index]) return "a node is sent to itself";
    }
    for (const host of [a, b]) {
      if (host.node.snapshot.epoch < host.highestEpoch) return "an epoch went back";
      host.highestEpoch = host.node.snapshot.epoch;
      if (host.node.inFlight("p:") !== (host.admission === undefined ? 0 : 1))
        return "the count of operations in flight is wrong";
    }
    return undefined;
  }

  /** Crash both nodes, start them again, and let them bring the move to its end. What is wrong then, in words. */
  violationAfterRecovery(): string | undefined {
    const { a, b } = this.#hosts;
    this.restart(a);
    this.restart(b);
    this.#listen(a);
    this.#listen(b);
    const now = this.violation();
    if (now !== undefined) return `after a crash: ${now}`;
    this.#recover(a, b);
    const owners = NAMES.filter((name) => this.#hosts[name].node.route(KEY).kind === "Owned");
    if (owners.length !== 1) return `after recovery ${owners.length} nodes own the key`;
    if (owners[0] !== (this.#decisions.has("Committed") ? "b" : "a"))
      return "after recovery the owner is not the one that was decided";
    const other = this.#hosts[owners[0] === "a" ? "b" : "a"].node.route(KEY);
    return other.kind === "Misdirected" && other.target === owners[0]
      ? undefined
      : "after recovery the other node does not name the owner";
  }

  #recover(source: Host, target: Host): void {
    const make = (host: Host, change: { ok: boolean; value?: Scopes.Change }): void => {
      if (change.ok) host.node.apply(change.value!);
      this.#listen(host);
    };
    const offer = source.node.offerFor(ID);
    // Still in the source's hands: it gives the move up. Out of them: the target has decided, or does now.
    if (offer === undefined) make(source, source.node.abort(ID));
    else if (target.node.decisionFor(ID) === undefined) make(target, target.node.abort(offer.migration));
    for (const [host, other] of [
      [source, target],
      [target, source],
    ] as const) {
      const decision = other.node.decisionFor(ID);
      if (decision !== undefined) make(host, host.node.settle(decision));
    }
  }

  /** Equal for worlds in which the same can happen from here on. */
  fingerprint(): string {
    const hosts = NAMES.map((name) => {
      const { journal, pending, isDurable, isApplied, admission, admitsLeft, reloadsLeft, writes } = this.#hosts[name];
      const pendingText = pending === undefined ? "" : entryText(pending.entry!);
      return [
        journal.map(entryText),
        pendingText,
        isDurable,
        isApplied,
        admission !== undefined,
        admitsLeft,
        reloadsLeft,
        writes,
      ];
    });
    const said = [
      this.#offer !== undefined,
      [...this.#decisions.keys()].sort(),
      [...this.#snapshots.keys()].sort(),
      this.#shipped,
    ];
    return JSON.stringify([hosts, this.#nowMs, this.#crashesLeft, said]);
  }
}

/** What tells the entries of this world apart: all its moves are one move. */
function entryText(entry: Scopes.JournalEntry): string {
  switch (entry.kind) {
    case "Opened":
      return "opened";
    case "Started":
      return `started ${entry.migration.epoch}`;
    case "Drained":
      return "drained";
    case "Ended":
      return `${entry.migration.outcome} ${entry.migration.endEpoch} ${entry.epoch}`;
    case "Reloaded":
      return `reloaded ${entry.table.size} ${entry.table.lookup(KEY)?.writer} ${entry.epoch}`;
    case "Adopted":
      return `adopted ${shapeOf(entry.snapshot)}`;
  }
}

/** What tells the snapshots of this world apart, as one word. */
function shapeOf({ epoch, table, migrations }: Scopes.OwnershipSnapshot): string {
  return [epoch, table.size, table.lookup(KEY)?.writer, migrations.live().length].join("/");
}
