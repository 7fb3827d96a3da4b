import type {
  CommitAnswer,
  Eventually,
  PutRunSet,
  RemoveRunSet,
  SplitShardSet,
  UpdateShardSet,
  WriteNotesSet,
  WriteSet,
} from "@gossip/coordination";
import { assert } from "@gossip/stdx";
import { assertWriteSet } from "./assertions.ts";

/** The answer to a write set whose guard does not hold. */
export const CONFLICT: CommitAnswer = /* @__PURE__ */ Object.freeze({ kind: "Conflict" });

/** How a store commits each kind of write set. */
export interface CommitHandlers {
  /** Commit at least one update, each on its own, and return the answers in the same order. */
  updateShards(sets: readonly UpdateShardSet[]): Eventually<readonly CommitAnswer[]>;
  splitShard(set: SplitShardSet): Eventually<CommitAnswer>;
  putRun(set: PutRunSet): Eventually<CommitAnswer>;
  removeRun(set: RemoveRunSet): Eventually<CommitAnswer>;
  writeNotes(set: WriteNotesSet): Eventually<CommitAnswer>;
}

/** `CommitHandlers` of a store whose engine needs no waiting. */
export interface CommitHandlersAtOnce extends CommitHandlers {
  updateShards(sets: readonly UpdateShardSet[]): readonly CommitAnswer[];
  splitShard(set: SplitShardSet): CommitAnswer;
  putRun(set: PutRunSet): CommitAnswer;
  removeRun(set: RemoveRunSet): CommitAnswer;
  writeNotes(set: WriteNotesSet): CommitAnswer;
}

/**
 * Passes write sets to the handler for their kind.
 *
 * Throws, before any handler runs, unless the call carries either one set of any kind or several updates, which is what
 * `CoordinationStore.commit` allows, and every set is well-formed and holds records of its own run only. Returns a
 * promise only if the handler does.
 */
export function dispatchCommit(sets: readonly WriteSet[], handlers: CommitHandlersAtOnce): readonly CommitAnswer[];
export function dispatchCommit(
  sets: readonly WriteSet[],
  handlers: CommitHandlers,
): Eventually<readonly CommitAnswer[]>;
export function dispatchCommit(
  sets: readonly WriteSet[],
  handlers: CommitHandlers,
): Eventually<readonly CommitAnswer[]> {
  assert(Array.isArray(sets), "write sets must come in an array");
  const [first] = sets;
  if (first === undefined) return [];
  for (const set of sets) assertWriteSet(set);
  if (first.kind === "UpdateShard") {
    assert(sets.every(isUpdate), "several write sets must all be shard updates");
    return handlers.updateShards(sets);
  }
  assert(sets.length === 1, "a write set other than a shard update must be committed alone");
  const answer = commitAlone(first, handlers);
  return answer instanceof Promise ? answer.then((settled) => [settled]) : [answer];
}

function commitAlone(set: Exclude<WriteSet, UpdateShardSet>, handlers: CommitHandlers): Eventually<CommitAnswer> {
  switch (set.kind) {
    case "SplitShard":
      return handlers.splitShard(set);
    case "PutRun":
      return handlers.putRun(set);
    case "RemoveRun":
      return handlers.removeRun(set);
    case "WriteNotes":
      return handlers.writeNotes(set);
  }
}

function isUpdate(set: WriteSet): set is UpdateShardSet {
  return set.kind === "UpdateShard";
}
