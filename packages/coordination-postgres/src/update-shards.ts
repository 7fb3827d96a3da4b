import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint, CommitAnswer, ShardRecord, ShardWrite, UpdateShardSet } from "@gossip/coordination";
import { assertOwn } from "./assert-own.ts";
import type { ClaimLister } from "./claim-lister.ts";
import type { Database } from "./database.ts";
import { hintOf, type HintRow } from "./hints.ts";
import { Moments, type CapacityRow } from "./moments.ts";
import { readRunVersion, readShardVersion, shardVersion, type RowVersion } from "./record-version.ts";
import { RunTimes, type RangeRow } from "./run-times.ts";
import { int8Array, u64Array } from "./server-array.ts";
import { cursorColumns, encodeOne, moveColumns, stateColumns } from "./shard-columns.ts";
import { ADVANCE_SHARD, ADVANCE_SHARDS, ADVANCE_SHARDS_OF_RUN } from "./sql/advance-shards.ts";
import { UPDATE_SHARDS, UPDATE_SHARDS_OF_GUARDED_RUN, UPDATE_SHARDS_OF_RUN, UPDATE_SHARDS_OF_RUNS } from "./sql/update-shards.ts";
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

/** How many were written and, where it is not all of them, which. */
interface WrittenRow {
  readonly written: number | null;
  readonly which: readonly number[] | null;
}

/** What was written, or something of a run's capacity. */
type BatchRow = WrittenRow & CapacityRow;

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
  // They are in the order of their runs.
  const isOneRun = first.guard.runId === candidates.at(-1)!.guard.runId;
  const make = isOneRun ? updateOneRun : updateRuns;
  await make({ database, claims, candidates, isInPlace }, (written, hintOf) => {
    for (const { index, set, guard } of written) answers[index] = committed(guard, set.hintAt === undefined ? undefined : hintOf(guard.runId, set.hintAt));
  });
  return answers;
}

interface Batch {
  readonly database: Database;
  readonly claims: ClaimLister;
  readonly candidates: readonly Candidate[];
  readonly isInPlace: boolean;
}

type Tell = (written: readonly Candidate[], hintAt: (runId: number, now: LogicalTime) => CapacityHint | undefined) => void;

async function updateOneRun({ database, claims, candidates, isInPlace }: Batch, tell: Tell): Promise<void> {
  const { guard, set } = candidates[0]!;
  const times = new RunTimes();
  for (const each of candidates) if (each.set.hintAt !== undefined) times.add(each.set.hintAt);
  const statement = isInPlace ? ADVANCE_SHARDS_OF_RUN : isGuarded(candidates) ? UPDATE_SHARDS_OF_GUARDED_RUN : UPDATE_SHARDS_OF_RUN;
  const [row] = await database.run<WrittenRow & RangeRow>(statement, [guard.runId, ...changes(candidates, isInPlace), ...times.columns(claims.startOf(set))]);
  const written = writtenOf(candidates, row);
  if (row !== undefined) times.answer(row, isInPlace ? [] : recordsOf(written));
  tell(written, (_runId, now) => times.hintAt(now));
}

async function updateRuns({ database, claims, candidates, isInPlace }: Batch, tell: Tell): Promise<void> {
  const moments = new Moments();
  for (const { guard, set } of candidates) if (set.hintAt !== undefined) moments.add(guard.runId, set.hintAt, () => claims.startOf(set));
  const statement = isInPlace ? ADVANCE_SHARDS : isGuarded(candidates) ? UPDATE_SHARDS_OF_RUNS : UPDATE_SHARDS;
  const runIds = int8Array(candidates.map(({ guard }) => guard.runId));
  const rows = await database.run<BatchRow>(statement, [runIds, ...changes(candidates, isInPlace), ...moments.columns()]);
  const written = writtenOf(candidates, rows.find(({ about }) => about === "Written"));
  moments.answer(rows, isInPlace ? [] : written.map(({ guard, set }) => ({ runId: guard.runId, shard: set.shard.after })));
  tell(written, (runId, now) => moments.hintAt(runId, now));
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

function isGuarded(candidates: readonly Candidate[]): boolean {
  return candidates.some(({ runGuard }) => runGuard !== null);
}

/** An array a column: which shards, what they must be, and what they become. */
function changes(candidates: readonly Candidate[], isInPlace: boolean): readonly Buffer[] {
  const records = recordsOf(candidates);
  const columns = [u64Array(records.map(({ shard }) => shard)), int8Array(candidates.map(({ guard }) => guard.version)), ...cursorColumns(records)];
  if (isInPlace) return columns;
  const runGuards = int8Array(candidates.map(({ runGuard }) => runGuard));
  return [...columns, ...stateColumns(records), runGuards, ...moveColumns(candidates.map(({ set }) => set.shard))];
}

function recordsOf(candidates: readonly Candidate[]): ShardRecord[] {
  return candidates.map(({ set }) => set.shard.after);
}

function writtenOf(candidates: readonly Candidate[], row: WrittenRow | undefined): readonly Candidate[] {
  if (row?.written === candidates.length) return candidates;
  return (row?.which ?? []).map((ordinal) => candidates[ordinal - 1]!);
}

function committed({ runId, version }: RowVersion, hint: Extract<CommitAnswer, { kind: "Committed" }>["hint"]): CommitAnswer {
  return { kind: "Committed", version: shardVersion({ runId, version: version + 1 }), hint };
}
