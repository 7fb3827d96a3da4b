import type { CommitAnswer, WriteSet } from "@gossip/coordination";
import { InvariantViolation } from "@gossip/stdx";
import { dispatchCommit, type CommitHandlers } from "@gossip/store-kit";
import { failureFrom, isUndone, isWorthRepeating, NoConnection, UnknownOutcome } from "../database/postgres-failure.ts";
import { writeNotes } from "./notes.ts";
import { putRun, removeRun, splitShard } from "./run-writes.ts";
import type { UpdateParts } from "./update-parts.ts";
import { updateShards } from "./update-shards.ts";

/** How often a write is retried that the server rolled back because of a conflict. */
const MAX_REPEATS = 4;

/** Commits write sets, and decides whether the outcome of one that failed is `Failed` or `Unknown`. */
export class Committer {
  readonly #handlers: CommitHandlers;

  constructor(parts: UpdateParts) {
    const { database, capacities } = parts;
    this.#handlers = {
      updateShards: (sets) => updateShards(parts, sets),
      splitShard: (set) => capacities.changing(() => splitShard(database, set)),
      putRun: (set) => capacities.changing(() => putRun(database, set)),
      removeRun: (set) => capacities.changing(() => removeRun(database, set)),
      // Notes do not change the capacity of their run.
      writeNotes: (set) => writeNotes(database, set),
    };
  }

  async commit(sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
    for (let repeats = 0; ; repeats++) {
      try {
        return await dispatchCommit(sets, this.#handlers);
      } catch (thrown) {
        if (thrown instanceof InvariantViolation) throw thrown;
        if (repeats < MAX_REPEATS && isWorthRepeating(thrown)) continue;
        const kind = isKnownNotMade(sets[0]!, thrown) ? "Failed" : "Unknown";
        const error = failureFrom("postgres.commit", thrown);
        return sets.map(() => ({ kind, error }));
      }
    }
  }
}

/**
 * Whether it is certain that nothing was written.
 *
 * An update is a statement that commits itself: once it is sent, only the server knows whether it was rolled back. Other
 * writes take effect with their commit, so a failure before it leaves nothing.
 */
function isKnownNotMade({ kind }: WriteSet, thrown: unknown): boolean {
  if (kind === "UpdateShard") return thrown instanceof NoConnection || isUndone(thrown);
  return !(thrown instanceof UnknownOutcome);
}
