import type { CommitAnswer, RemoveRunSet, WriteNotesSet, WriteSet } from "@gossip/coordination";
import { dispatchCommit, type CommitHandlers } from "@gossip/store-kit";
import { answerFrom } from "../cluster/etcd-failure.ts";
import { pathOf } from "../layout/layout.ts";
import { putRun } from "./put-run.ts";
import { removeRun } from "./remove-run.ts";
import { splitShard } from "./split-shard.ts";
import type { StoreParts } from "../store-parts.ts";
import type { Sweeper } from "./sweep.ts";
import { updateShards } from "./update-shards.ts";
import { writeNotes } from "./write-notes.ts";

/** Commits write sets, and decides whether the outcome of one that failed is `Failed` or `Unknown`. */
export class Committer {
  readonly #parts: StoreParts;
  readonly #sweeper: Sweeper;
  readonly #handlers: CommitHandlers = {
    updateShards: (sets) => updateShards(this.#parts, sets),
    splitShard: (set) => this.#alone(set, () => splitShard(this.#parts.cluster, set)),
    putRun: (set) => this.#alone(set, () => putRun(this.#parts.cluster, set, (space) => this.#sweeper.giveUp(space))),
    removeRun: (set) => this.#alone(set, () => this.#removeRun(set)),
    writeNotes: (set) => this.#writeNotes(set),
  };

  constructor(parts: StoreParts, sweeper: Sweeper) {
    this.#parts = parts;
    this.#sweeper = sweeper;
  }

  async commit(sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
    return dispatchCommit(sets, this.#handlers);
  }

  /** A write that may change the capacity of its run. A write that throws is answered, never rejected. */
  async #alone(set: WriteSet, write: () => Promise<CommitAnswer>): Promise<CommitAnswer> {
    try {
      return await this.#parts.capacities.changing([pathOf(set)], write);
    } catch (thrown) {
      return answerFrom(thrown);
    }
  }

  /** Notes do not change the capacity of their run. */
  async #writeNotes(set: WriteNotesSet): Promise<CommitAnswer> {
    try {
      return await writeNotes(this.#parts.cluster, set);
    } catch (thrown) {
      return answerFrom(thrown);
    }
  }

  async #removeRun(set: RemoveRunSet): Promise<CommitAnswer> {
    const answer = await removeRun(this.#parts.cluster, set);
    if (answer.kind === "Committed") this.#sweeper.start();
    return answer;
  }
}
