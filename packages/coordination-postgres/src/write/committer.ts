import type { CommitAnswer, UpdateShardSet, WriteSet } from "@gossip/coordination";
import { assert, InvariantViolation } from "@gossip/stdx";
import type { Database } from "../database/database.ts";
import { failureFrom, isUndone, isWorthRepeating, NoConnection, UnknownOutcome } from "../database/postgres-failure.ts";
import { writeNotes } from "./notes.ts";
import { putRun, removeRun, splitShard } from "./run-writes.ts";
import type { UpdateParts } from "./update-parts.ts";
import { updateShards } from "./update-shards.ts";

/** How often a write is retried that the server rolled back because of a conflict. */
const MAX_REPEATS = 4;

/** Commits write sets, and returns the outcome of each. */
export async function commitSets(parts: UpdateParts, sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
  const [first] = sets;
  if (first === undefined) return [];
  if (first.kind === "UpdateShard") assert(sets.every(isUpdate), "several write sets must all be updates of shards");
  else assert(sets.length === 1, "a write set that is no update of a shard must come alone");

  for (let repeats = 0; ; repeats++) {
    try {
      return await make(parts, sets);
    } catch (thrown) {
      if (thrown instanceof InvariantViolation) throw thrown;
      if (repeats < MAX_REPEATS && isWorthRepeating(thrown)) continue;
      const kind = isKnownNotMade(first, thrown) ? "Failed" : "Unknown";
      const error = failureFrom("postgres.commit", thrown);
      return sets.map(() => ({ kind, error }));
    }
  }
}

async function make(parts: UpdateParts, sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
  const first = sets[0]!;
  if (first.kind === "UpdateShard") return updateShards(parts, sets as readonly UpdateShardSet[]);
  return [await parts.capacities.changing(() => makeAlone(parts.database, first))];
}

function makeAlone(database: Database, set: Exclude<WriteSet, UpdateShardSet>): Promise<CommitAnswer> {
  switch (set.kind) {
    case "SplitShard":
      return splitShard(database, set);
    case "PutRun":
      return putRun(database, set);
    case "RemoveRun":
      return removeRun(database, set);
    case "WriteNotes":
      return writeNotes(database, set);
  }
}

/**
 * Whether it is certain that nothing was written.
 *
 * An update is a statement that commits itself: once it is sent, only the server knows whether it was rolled back. Other writes take
 * effect with their commit, so a failure before it leaves nothing.
 */
function isKnownNotMade({ kind }: WriteSet, thrown: unknown): boolean {
  if (kind === "UpdateShard") return thrown instanceof NoConnection || isUndone(thrown);
  return !(thrown instanceof UnknownOutcome);
}

function isUpdate(set: WriteSet): set is UpdateShardSet {
  return set.kind === "UpdateShard";
}
