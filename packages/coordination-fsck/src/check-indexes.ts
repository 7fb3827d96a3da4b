import type { ShardId } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import type { RunAddress, FsckFinding } from "./finding.ts";
import type { IndexEntry, RunView } from "./fsck-source.ts";

/**
 * Compares the entries of a run in all indexes with those that its shards must have.
 *
 * The entries are held in memory, a run's at a time.
 */
export class IndexCheck {
  readonly #address: RunAddress;
  readonly #view: RunView;
  readonly #unclaimed = new Map<string, IndexEntry>();
  /** Entries that several shards need, and that are there. */
  readonly #shared = new Set<string>();
  readonly #lost: IndexEntry[] = [];

  private constructor(view: RunView) {
    this.#view = view;
    this.#address = { tenant: view.tenant, run: view.run };
  }

  static async of(view: RunView): Promise<IndexCheck> {
    const check = new IndexCheck(view);
    for await (const entry of view.entries()) {
      check.#unclaimed.set(entry.key, entry);
      if ((await view.findEntry?.(entry)) === false) check.#lost.push(entry);
    }
    return check;
  }

  /** Entries that are listed and not found by their keys. */
  *lost(): Generator<FsckFinding> {
    for (const { shard, index } of this.#lost) yield { kind: "NotFoundByKey", ...this.#address, shard, index };
  }

  /** What of a shard's entries is missing. */
  *claim(record: ShardRecord): Generator<FsckFinding> {
    for (const entry of this.#view.entriesOf(record)) {
      if (this.#unclaimed.delete(entry.key)) {
        if (entry.shard === undefined) this.#shared.add(entry.key);
      } else if (!this.#shared.has(entry.key)) {
        yield { kind: "MissingEntry", ...this.#address, shard: record.shard, index: entry.index };
      }
    }
  }

  /** What is left when every shard has claimed its own. Of a shard that cannot be read nothing is known. */
  *strays(unreadable: ReadonlySet<ShardId>): Generator<FsckFinding> {
    for (const { shard, index } of this.#unclaimed.values()) {
      const isUnjudged = shard === undefined ? unreadable.size > 0 : unreadable.has(shard);
      if (!isUnjudged) yield { kind: "StrayEntry", ...this.#address, shard, index };
    }
  }
}
