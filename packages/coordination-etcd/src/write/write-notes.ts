import { MAX_NOTES_PER_SET, type CommitAnswer, type NoteWrite, type WriteNotesSet } from "@gossip/coordination";
import type { Compare, TxnOperation } from "@gossip/etcd-client";
import { assertCount } from "@gossip/stdx";
import { CONFLICT } from "@gossip/store-kit";
import { MAX_CAPACITY_LOOKS } from "../capacity/capacity.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { groupsFor, planTxn } from "../cluster/txn-budget.ts";
import type { Layout, RunAddress } from "../layout/layout.ts";
import { noteKey } from "../layout/note-keys.ts";
import { runVersion } from "../layout/record-version.ts";

/** Conditions and operations of an update of a shard, without its notes. */
const UPDATE_COMPARES = 2;
const UPDATE_OPS = 3;

/** Maximum number of notes in one write set. Each may have a condition. */
export function maxNotesPerSet(maxTxnOps: number): number {
  for (let notes = MAX_NOTES_PER_SET; notes > 0; notes--) {
    const alone = groupsFor(maxTxnOps, { compares: 1 + notes, outer: 0, inner: notes });
    const update = { compares: UPDATE_COMPARES, outer: MAX_CAPACITY_LOOKS, inner: UPDATE_OPS + notes };
    if (alone !== undefined && groupsFor(maxTxnOps, update) !== undefined) return notes;
  }
  return 0;
}

/** Throws unless the notes of a set fit into a transaction. */
export function assertNotesFit({ maxTxnOps }: Cluster, notes: readonly NoteWrite[]): void {
  assertCount(notes.length, "number of notes in a write set", { min: 0, max: maxNotesPerSet(maxTxnOps) });
}

export function noteOperations(layout: Layout, address: RunAddress, notes: readonly NoteWrite[]): TxnOperation[] {
  return notes.map(({ space, key, value }) => {
    const at = noteKey(layout, address, space, key);
    return value === undefined ? { delete: at } : { put: at, value };
  });
}

/** Writes notes in one transaction, if the run exists and all guards hold. */
export async function writeNotes(cluster: Cluster, set: WriteNotesSet): Promise<CommitAnswer> {
  const { layout, maxTxnOps } = cluster;
  assertNotesFit(cluster, set.notes);
  const hasRun: Compare = { key: layout.head(set), target: "CREATE", is: "GREATER", revision: 0n };
  const guards = set.notes.flatMap(({ space, key, guard }): Compare[] => {
    if (guard === undefined) return [];
    const at = noteKey(layout, set, space, key);
    if (guard === "absent") return [{ key: at, target: "CREATE", is: "EQUAL", revision: 0n }];
    return [{ key: at, target: "VALUE", is: "EQUAL", value: guard }];
  });
  const many = noteOperations(layout, set, set.notes);
  const done = await cluster.write(planTxn(maxTxnOps, { compare: [hasRun, ...guards], few: [], many }));
  // Notes have no versions.
  return done.succeeded ? { kind: "Committed", version: runVersion(done.revision) } : CONFLICT;
}
