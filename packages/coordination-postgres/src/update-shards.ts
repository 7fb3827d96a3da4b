import type { CommitAnswer, ShardRecord, ShardWrite, UpdateShardSet } from "@gossip/coordination";
import { assertOwn } from "./assert-own.ts";
import type { ClaimLister } from "./claim-lister.ts";
import type { Database } from "./database.ts";
import { hintOf, type HintRow } from "./hints.ts";
import { Moments, type CapacityRow } from "./moments.ts";
import { readRunVersion, readShardVersion, shardVersion, type RowVersion } from "./record-version.ts";
import { int8Array, u64Array } from "./server-array.ts";
import { cursorColumns, encodeOne, moveColumns, stateColumns } from "./shard-columns.ts";
import { ADVANCE_SHARD, ADVANCE_SHARDS } from "./sql/advance-shards.ts";
import { UPDATE_SHARDS, UPDATE_SHARDS_OF_RUNS } from "./sql/update-shards.ts";
import { u64Bytes } from "./u64-bytes.ts";

const CONFLICT: CommitAnswer = Object.freeze({ kind: "Conflict" });

/** A set whose guards can hold: they are versions that we gave out. */
interface Candidate {
  /** Its place among the answers. */
  readonly index: number;
  readonly set: UpdateShardSet;
  readonly guard: RowVersion;
  readonly runGuard: number | null;
}

/** How many were written and, where it is not all of them, which; or something of a run's capacity. */
type BatchRow = { readonly written: number | null; readonly which: readonly number[] | null } & CapacityRow;

/** Update shards, each for itself, in one statement. */
export async function updateShards(database: Database, sets: readonly UpdateShardSet[], claims: ClaimLister): Promise<readonly CommitAnswer[]> {
  const answers: CommitAnswer[] = sets.map(() => CONFLICT);
  const candidates = toCandidates(sets);
  const [first] = candidates;
  if (first === undefined) return answers;
  const isInPlace = candidates.every(({ set, runGuard }) => runGuard === null && staysInPlace(set.shard));
  if (isInPlace && candidates.length === 1) {
    answers[first.index] = await advanceOne(database, first);
    return answers;
  }

  const moments = new Moments();
  for (const { guard, set } of candidates) if (set.hintAt !== undefined) moments.add(guard.runId, set.hintAt, () => claims.startOf(set));
  const rows = await (isInPlace ? advance(database, candidates, moments) : update(database, candidates, moments));
  const written = writtenOf(candidates, rows);
  moments.answer(rows, isInPlace ? [] : written.map(({ guard, set }) => ({ runId: guard.runId, shard: set.shard.after })));
  for (const { index, set, guard } of written) {
    answers[index] = committed(guard, set.hintAt === undefined ? undefined : moments.hintAt(guard.runId, set.hintAt));
  }
  return answers;
}

function toCandidates(sets: readonly UpdateShardSet[]): Candidate[] {
  const candidates: Candidate[] = [];
  for (const [index, set] of sets.entries()) {
    assertOwn(set, set.shard.after);
    const guard = readShardVersion(set.shard.guard);
    if (guard === undefined) continue;
    const run = readRunVersion(set.runGuard);
    if (set.runGuard !== undefined && run?.runId !== guard.runId) continue;
    candidates.push({ index, set, guard, runGuard: run?.version ?? null });
  }
  return candidates.sort(byRow);
}

/** All writers go through rows in the same order, so that two of them wait for each other as seldom as can be. */
function byRow(a: Candidate, b: Candidate): number {
  if (a.guard.runId !== b.guard.runId) return a.guard.runId - b.guard.runId;
  return a.set.shard.after.shard < b.set.shard.after.shard ? -1 : 1;
}

/** Whether it changes nothing but progress, so that its place stays and its run's capacity too. The guard vouches for what was. */
function staysInPlace({ before, after }: ShardWrite): boolean {
  return before.status === after.status && before.parkReason === after.parkReason && before.lease === after.lease && before.fenceEpoch === after.fenceEpoch;
}

async function advanceOne(database: Database, { set, guard }: Candidate): Promise<CommitAnswer> {
  const { after } = set.shard;
  const now = set.hintAt === undefined ? null : u64Bytes(set.hintAt);
  const values = [guard.runId, u64Bytes(after.shard), guard.version, after.attempts, after.cursor.lastKey ?? null, encodeOne(after), now];
  const [row] = await database.run<HintRow & { free: number }>(ADVANCE_SHARD, values);
  if (row === undefined) return CONFLICT;
  return committed(guard, set.hintAt === undefined ? undefined : hintOf(row, row.free, set.hintAt));
}

function advance(database: Database, candidates: readonly Candidate[], moments: Moments): Promise<BatchRow[]> {
  return database.run<BatchRow>(ADVANCE_SHARDS, [...rowColumns(candidates), ...cursorColumns(recordsOf(candidates)), ...moments.columns()]);
}

function update(database: Database, candidates: readonly Candidate[], moments: Moments): Promise<BatchRow[]> {
  const statement = candidates.some(({ runGuard }) => runGuard !== null) ? UPDATE_SHARDS_OF_RUNS : UPDATE_SHARDS;
  const records = recordsOf(candidates);
  const runGuards = int8Array(candidates.map(({ runGuard }) => runGuard));
  const moves = moveColumns(candidates.map(({ set }) => set.shard));
  return database.run<BatchRow>(statement, [...rowColumns(candidates), ...cursorColumns(records), ...stateColumns(records), runGuards, ...moves, ...moments.columns()]);
}

function rowColumns(candidates: readonly Candidate[]): Buffer[] {
  return [
    int8Array(candidates.map(({ guard }) => guard.runId)),
    u64Array(candidates.map(({ set }) => set.shard.after.shard)),
    int8Array(candidates.map(({ guard }) => guard.version)),
  ];
}

function recordsOf(candidates: readonly Candidate[]): ShardRecord[] {
  return candidates.map(({ set }) => set.shard.after);
}

function writtenOf(candidates: readonly Candidate[], rows: readonly BatchRow[]): readonly Candidate[] {
  const summary = rows.find(({ about }) => about === "Written");
  if (summary?.written === candidates.length) return candidates;
  return (summary?.which ?? []).map((ordinal) => candidates[ordinal - 1]!);
}

function committed({ runId, version }: RowVersion, hint: Extract<CommitAnswer, { kind: "Committed" }>["hint"]): CommitAnswer {
  return { kind: "Committed", version: shardVersion({ runId, version: version + 1 }), hint };
}
