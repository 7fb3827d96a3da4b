// Nodes over one table, and the steps of a move taken as a careful caller would take them.
import { unwrap, type Result } from "@gossip/stdx";
import type { JournalEntry } from "./journal-entry.ts";
import type { MoveRequest } from "./migration.ts";
import { OwnershipNode, type Change, type OwnershipNodeOptions } from "./ownership-node.ts";
import { OwnershipTable } from "../table/ownership-table.ts";
import { Scope } from "../table/scope.ts";

export function tableOf(
  scopes: Readonly<Record<string, string>>,
  nested: "refuse" | "longest" = "refuse",
): OwnershipTable {
  return unwrap(
    OwnershipTable.build(
      Object.entries(scopes).map(([prefix, writer]) => new Scope({ prefix, writer })),
      { nested },
    ),
  );
}

/** A node with its journal. */
export class Member {
  node: OwnershipNode;
  readonly journal: JournalEntry[];
  readonly #options: OwnershipNodeOptions;

  constructor(table: OwnershipTable, options: OwnershipNodeOptions) {
    this.#options = options;
    this.node = OwnershipNode.open(table, options);
    this.journal = [this.node.checkpoint()];
  }

  /** Journal a change, then make it. */
  make(change: Result<Change, unknown>): Change {
    const made = unwrap(change);
    if (made.entry !== undefined) this.journal.push(made.entry);
    this.node.apply(made);
    return made;
  }

  restart(): void {
    this.node = unwrap(OwnershipNode.rebuild(this.journal, this.#options));
  }
}

export const REQUEST: MoveRequest = { id: "m1", prefix: "p:", from: "a", to: "b", deadlineMs: 100 };

export interface Cluster {
  readonly a: Member;
  readonly b: Member;
  readonly c: Member;
}

/** Three nodes that agree that `p:` is a's and `q:` is b's. */
export function makeCluster(options: Partial<OwnershipNodeOptions> = {}): Cluster {
  const table = tableOf({ "p:": "a", "q:": "b" });
  const member = (self: string): Member => new Member(table, { ...options, self });
  return { a: member("a"), b: member("b"), c: member("c") };
}

/** Start a move at its source and drain it. */
export function offerMove(source: Member, request: MoveRequest = REQUEST, nowMs = 0): void {
  source.make(source.node.start(request, nowMs));
  source.make(source.node.drain(request.id, nowMs));
}

/** The whole of a move. */
export function completeMove(source: Member, target: Member, request: MoveRequest = REQUEST, nowMs = 0): void {
  offerMove(source, request, nowMs);
  target.make(target.node.commit(source.node.offerFor(request.id)!, nowMs));
  source.make(source.node.settle(target.node.decisionFor(request.id)!));
}
