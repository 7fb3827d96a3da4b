// A store that mixes kinds in one transaction, or drops a set of a batch, breaks the port without any type error.
import { RunId, TenantId } from "@gossip/contracts";
import type { CommitAnswer, UpdateShardSet, WriteSet } from "@gossip/coordination";
import { InvariantViolation } from "@gossip/stdx";
import { expect, test } from "vitest";
import { CONFLICT, dispatchCommit, type CommitHandlers } from "./dispatch-commit.ts";

const own = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const set = (kind: WriteSet["kind"]) =>
  ({ kind, ...own, shard: { after: own }, after: own, created: [], notes: [] }) as unknown as WriteSet;
const committed = (version: string): CommitAnswer => ({ kind: "Committed", version });

const handlers: CommitHandlers = {
  updateShards: (sets: readonly UpdateShardSet[]) => sets.map((_, index) => committed(`update ${index}`)),
  splitShard: () => committed("split"),
  putRun: () => Promise.resolve(committed("put")),
  removeRun: () => CONFLICT,
  writeNotes: () => CONFLICT,
};

test("every kind of set goes to its own handler, and updates go together", async () => {
  expect(dispatchCommit([], handlers)).toEqual([]);
  expect(dispatchCommit([set("UpdateShard"), set("UpdateShard")], handlers)).toEqual([
    committed("update 0"),
    committed("update 1"),
  ]);
  expect(dispatchCommit([set("SplitShard")], handlers)).toEqual([committed("split")]);
  expect(dispatchCommit([set("RemoveRun")], handlers)).toEqual([CONFLICT]);

  const later = dispatchCommit([set("PutRun")], handlers);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toEqual([committed("put")]);
});

test("a call that the port does not allow throws before any handler runs", () => {
  const untouched: CommitHandlers = {
    updateShards: () => expect.unreachable(),
    splitShard: () => expect.unreachable(),
    putRun: () => expect.unreachable(),
    removeRun: () => expect.unreachable(),
    writeNotes: () => expect.unreachable(),
  };
  for (const sets of [
    [set("UpdateShard"), set("SplitShard")],
    [set("PutRun"), set("UpdateShard")],
    [set("RemoveRun"), set("RemoveRun")],
    [set("UpdateShard"), { ...set("UpdateShard"), run: RunId.fromRaw(2n) } as WriteSet],
    "UpdateShard" as unknown as WriteSet[],
  ])
    expect(() => dispatchCommit(sets, untouched)).toThrow(InvariantViolation);
});
