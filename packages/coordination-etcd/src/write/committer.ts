import type { CommitAnswer, UpdateShardSet, WriteSet } from "@gossip/coordination";
import { assert } from "@gossip/stdx";
import { answerFrom } from "../cluster/etcd-failure.ts";
import { pathOf } from "../layout/layout.ts";
import { putRun } from "./put-run.ts";
import { removeRun } from "./remove-run.ts";
import { splitShard } from "./split-shard.ts";
import type { StoreParts } from "../store-parts.ts";
import type { Sweeper } from "./sweep.ts";
import { updateShards } from "./update-shards.ts";

/** Commits write sets, and maps failures to results. */
export class Committer {
  readonly #parts: StoreParts;
  readonly #sweeper: Sweeper;

  constructor(parts: StoreParts, sweeper: Sweeper) {
    this.#parts = parts;
    this.#sweeper = sweeper;
  }

  async commit(sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
    const [first] = sets;
    if (first === undefined) return [];
    if (first.kind === "UpdateShard") {
      assert(sets.every(isUpdate), "several write sets must all be shard updates");
      return updateShards(this.#parts, sets);
    }
    assert(sets.length === 1, "a write set other than a shard update must be committed alone");
    try {
      return [await this.#parts.capacities.changing([pathOf(first)], () => this.#commitAlone(first))];
    } catch (thrown) {
      return [answerFrom(thrown)];
    }
  }

  #commitAlone(set: Exclude<WriteSet, UpdateShardSet>): Promise<CommitAnswer> {
    const { cluster } = this.#parts;
    switch (set.kind) {
      case "SplitShard":
        return splitShard(cluster, set);
      case "PutRun":
        return putRun(cluster, set, (space) => this.#sweeper.giveUp(space));
      case "RemoveRun":
        return removeRun(cluster, set).then((answer) => {
          if (answer.kind === "Committed") this.#sweeper.start();
          return answer;
        });
    }
  }
}

function isUpdate(set: WriteSet): set is UpdateShardSet {
  return set.kind === "UpdateShard";
}
