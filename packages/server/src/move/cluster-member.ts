import {
  OwnershipNode,
  OwnershipTable,
  Scope,
  type Change,
  type CorruptJournal,
  type JournalEntry,
  type OwnershipNodeOptions,
  type ReloadError,
} from "@gossip/scope";
import { ok, unwrap, type Result } from "@gossip/stdx";
import { Ownership } from "../ownership/ownership.ts";
import type { Cluster } from "../ownership/cluster-file.ts";
import type { OwnershipJournal } from "./journal-file.ts";

export interface ClusterMemberOptions {
  /** This node's name in the cluster file. */
  readonly self: string;
  readonly cluster: Cluster;
  readonly journal: OwnershipJournal;
  /** What the journal holds: nothing at the first start. */
  readonly entries: readonly JournalEntry[];
  /** Called if an entry could not be written: whether it is durable is unknown, so the process must end and start again. */
  readonly onBroken: (thrown: unknown) => void;
}

/**
 * A node of a cluster with its journal: decides one change at a time, makes it durable, and applies it.
 *
 * The cluster file declares the scopes. Moves change their writers, which the journal remembers, so a restart goes by the
 * journal.
 */
export class ClusterMember {
  readonly ownership: Ownership;
  readonly #options: ClusterMemberOptions;
  #last: Promise<unknown> = Promise.resolve();
  #isBroken = false;

  static open(options: ClusterMemberOptions): Result<ClusterMember, CorruptJournal> {
    const { self, cluster, entries } = options;
    const settings: OwnershipNodeOptions = { self, unknownKeys: "refuse" };
    const node =
      entries.length === 0 ? ok(OwnershipNode.open(cluster.table, settings)) : OwnershipNode.rebuild(entries, settings);
    return node.ok ? ok(new ClusterMember(options, node.value)) : node;
  }

  private constructor(options: ClusterMemberOptions, node: OwnershipNode) {
    this.#options = options;
    this.ownership = new Ownership(node, options.cluster.addresses);
  }

  get self(): string {
    return this.#options.self;
  }

  get node(): OwnershipNode {
    return this.ownership.node;
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Decide a change, make it durable, and apply it. Changes take turns. */
  change<E>(propose: (node: OwnershipNode) => Result<Change, E>): Promise<Result<Change, E>> {
    const turn = this.#last.then(async () => {
      if (this.#isBroken) throw new Error("this node could not write its journal");
      const change = propose(this.node);
      if (!change.ok || change.value.entry === undefined) return change;
      try {
        await this.#options.journal.append(change.value.entry);
      } catch (thrown) {
        this.#isBroken = true;
        this.#options.onBroken(thrown);
        throw thrown;
      }
      this.node.apply(change.value);
      this.ownership.changed();
      return change;
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  /**
   * Use another cluster file from now on.
   *
   * A scope that exists keeps its writer: only a move changes it. New scopes get the writer of the file, if that changes
   * no owner; scopes that the file lacks are dropped.
   */
  async reload(cluster: Cluster): Promise<Result<Change, ReloadError>> {
    const changed = await this.change((node) => node.reload(withCurrentWriters(cluster.table, node)));
    if (changed.ok) this.ownership.follow(cluster.addresses);
    return changed;
  }
}

function withCurrentWriters(table: OwnershipTable, node: OwnershipNode): OwnershipTable {
  const current = new Map(node.snapshot.table.scopes().map((scope) => [keyOf(scope), scope.writer]));
  const scopes = table.scopes().map((scope) => {
    const { prefix, fallback } = scope;
    const writer = current.get(keyOf(scope)) ?? scope.writer;
    return new Scope({ prefix, writer, ...(fallback === undefined || fallback === writer ? {} : { fallback }) });
  });
  return unwrap(OwnershipTable.build(scopes, { nested: "longest" }));
}

function keyOf({ prefix }: Scope): string {
  return Buffer.from(prefix).toString("latin1");
}
