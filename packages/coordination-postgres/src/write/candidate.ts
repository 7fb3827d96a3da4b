import type { CapacityHint, CommitAnswer, ShardRecord, UpdateShardSet } from "@gossip/coordination";
import { readRunVersion, readShardVersion, shardVersion, type RowVersion } from "../layout/record-version.ts";

/** A write set whose guards are versions that this store issued. */
export interface Candidate {
  /** Its index in the batch. */
  readonly index: number;
  readonly set: UpdateShardSet;
  readonly guard: RowVersion;
  readonly runGuard: number | null;
}

/** How many were written and, if not all, which. */
export interface WrittenRow {
  readonly written: number | null;
  readonly which: readonly number[] | null;
}

/** The candidates among the sets, sorted by row: if all writers lock rows in one order, deadlocks are rare. */
export function toCandidates(sets: readonly UpdateShardSet[]): Candidate[] {
  const candidates: Candidate[] = [];
  // By index: an iterator's pairs would double the allocations here.
  for (let index = 0; index < sets.length; index++) {
    const set = sets[index]!;
    const guard = readShardVersion(set.shard.guard);
    if (guard === undefined) continue;
    const run = readRunVersion(set.runGuard);
    if (set.runGuard !== undefined && run?.runId !== guard.runId) continue;
    candidates.push({ index, set, guard, runGuard: run?.version ?? null });
  }
  return candidates.sort(byRow);
}

function byRow(a: Candidate, b: Candidate): number {
  if (a.guard.runId !== b.guard.runId) return a.guard.runId - b.guard.runId;
  return a.set.shard.after.shard < b.set.shard.after.shard ? -1 : 1;
}

/** Whether the candidates, sorted by row, belong to one run. */
export function isOneRun(candidates: readonly Candidate[]): boolean {
  return candidates[0]?.guard.runId === candidates.at(-1)?.guard.runId;
}

export function recordsOf(candidates: readonly Candidate[]): ShardRecord[] {
  return candidates.map(({ set }) => set.shard.after);
}

/** Whether the candidate at an index was written, according to the statement's result. */
export function whichWritten(row: WrittenRow | undefined, count: number): (index: number) => boolean {
  if (row?.written === count) return () => true;
  const ordinals = new Set(row?.which);
  return (index) => ordinals.has(index + 1);
}

export function committed({ guard: { runId, version } }: Candidate, hint: CapacityHint | undefined): CommitAnswer {
  return { kind: "Committed", version: shardVersion({ runId, version: version + 1 }), hint };
}
