import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint, CommitAnswer, UpdateShardSet } from "@gossip/coordination";
import type { ShardEncoder } from "@gossip/coordination-codec/internal";
import { CONFLICT } from "@gossip/store-kit";
import { advanceShards, areAdvances } from "./advance-shards.ts";
import {
  committed,
  isOneRun,
  recordsOf,
  toCandidates,
  whichWritten,
  type Candidate,
  type WrittenRow,
} from "./candidate.ts";
import type { Database } from "../database/database.ts";
import { putNotes } from "./notes.ts";
import { Moments, type CapacityRow } from "../capacity/moments.ts";
import { claimIndexEntryArray } from "../claim/claim-index-entry.ts";
import { RunTimes, type RangeRow } from "../capacity/run-times.ts";
import { int8Array, u64Array, type ServerArray } from "../layout/server-array.ts";
import { stateColumns, updatedCursorColumns } from "../layout/shard-columns.ts";
import { STATUS_COUNTS } from "./status-counts.ts";
import type { UpdateParts } from "./update-parts.ts";
import {
  UPDATE_SHARDS,
  UPDATE_SHARDS_OF_GUARDED_RUN,
  UPDATE_SHARDS_OF_RUN,
  UPDATE_SHARDS_OF_RUNS,
} from "../sql/update-shards.ts";

/** A row about what was written, or about a run's capacity. */
type BatchRow = WrittenRow & CapacityRow;

/** What a statement that moves shards needs. It may run in a transaction. */
interface MoveParts extends Pick<UpdateParts, "claims" | "encoder"> {
  readonly database: Pick<Database, "run">;
  /** Whether the statement counts changes of status. Otherwise triggers do, one by one. */
  readonly isCounted: boolean;
}

/** Updates shards in one statement, each with its own guard and result. */
export async function updateShards(
  parts: UpdateParts,
  sets: readonly UpdateShardSet[],
): Promise<readonly CommitAnswer[]> {
  const answers: CommitAnswer[] = sets.map(() => CONFLICT);
  const candidates = toCandidates(sets);
  if (candidates.length === 0) return answers;
  const made = await make(parts, candidates);
  for (let index = 0; index < made.length; index++) answers[candidates[index]!.index] = made[index]!;
  return answers;
}

function make(parts: UpdateParts, candidates: readonly Candidate[]): Promise<readonly CommitAnswer[]> {
  if (hasNotes(candidates)) return parts.capacities.changing(() => moveWithNotes(parts, candidates));
  if (areAdvances(candidates)) return advanceShards(parts, candidates);
  return parts.capacities.changing(() => move({ ...parts, isCounted: changesStatus(parts, candidates) }, candidates));
}

/** Most updates change no status. They need not count, nor write that they do. */
function changesStatus({ database }: UpdateParts, candidates: readonly Candidate[]): boolean {
  return (
    database.knowsTable(STATUS_COUNTS) &&
    candidates.some(({ set }) => set.shard.before.status !== set.shard.after.status)
  );
}

function move(parts: MoveParts, candidates: readonly Candidate[]): Promise<readonly CommitAnswer[]> {
  return isOneRun(candidates) ? moveInRun(parts, candidates) : moveInRuns(parts, candidates);
}

/** Notes go into the same transaction as the whole batch. They are rare, so that it may take four round trips. */
function moveWithNotes(parts: UpdateParts, candidates: readonly Candidate[]): Promise<readonly CommitAnswer[]> {
  const { database, claims, encoder } = parts;
  return database.transact(async (connection) => {
    const inTransaction = { database: connection, claims, encoder, isCounted: changesStatus(parts, candidates) };
    const answer = await move(inTransaction, candidates);
    const written = candidates.filter((_, index) => answer[index]!.kind === "Committed");
    await putNotes(
      connection,
      written.flatMap(({ set, guard }) => (set.notes ?? []).map((note) => ({ ...note, runId: guard.runId }))),
    );
    return { commit: true, answer };
  });
}

function hasNotes(candidates: readonly Candidate[]): boolean {
  return candidates.some(({ set }) => set.notes !== undefined);
}

async function moveInRun(
  { database, claims, encoder, isCounted }: MoveParts,
  candidates: readonly Candidate[],
): Promise<readonly CommitAnswer[]> {
  const { guard, set } = candidates[0]!;
  const times = new RunTimes();
  for (const each of candidates) if (each.set.hintAt !== undefined) times.add(each.set.hintAt);
  const statement = isGuarded(candidates) ? UPDATE_SHARDS_OF_GUARDED_RUN : UPDATE_SHARDS_OF_RUN;
  const [row] = await database.run<WrittenRow & RangeRow>(isCounted ? statement.counting : statement, [
    guard.runId,
    ...changes(candidates, encoder),
    ...times.columns(claims.startOf(set)),
  ]);
  const isWritten = whichWritten(row, candidates.length);
  if (row !== undefined) times.answer(row, recordsOf(candidates.filter((_, index) => isWritten(index))));
  return toAnswers(candidates, isWritten, (_runId, now) => times.hintAt(now));
}

async function moveInRuns(
  { database, claims, encoder, isCounted }: MoveParts,
  candidates: readonly Candidate[],
): Promise<readonly CommitAnswer[]> {
  const moments = new Moments();
  for (const { guard, set } of candidates)
    if (set.hintAt !== undefined) moments.add(guard.runId, set.hintAt, () => claims.startOf(set));
  const statement = isGuarded(candidates) ? UPDATE_SHARDS_OF_RUNS : UPDATE_SHARDS;
  const runIds = int8Array(candidates.map(({ guard }) => guard.runId));
  const values = [runIds, ...changes(candidates, encoder), ...moments.columns()];
  const rows = await database.run<BatchRow>(isCounted ? statement.counting : statement, values);
  const isWritten = whichWritten(
    rows.find(({ about }) => about === "Written"),
    candidates.length,
  );
  const written = candidates.filter((_, index) => isWritten(index));
  moments.answer(
    rows,
    written.map(({ guard, set }) => ({ runId: guard.runId, shard: set.shard.after })),
  );
  return toAnswers(candidates, isWritten, (runId, now) => moments.hintAt(runId, now));
}

type HintAt = (runId: number, now: LogicalTime) => CapacityHint | undefined;

function toAnswers(
  candidates: readonly Candidate[],
  isWritten: (index: number) => boolean,
  hintAt: HintAt,
): readonly CommitAnswer[] {
  return candidates.map((candidate, index) => {
    const now = candidate.set.hintAt;
    return isWritten(index)
      ? committed(candidate, now === undefined ? undefined : hintAt(candidate.guard.runId, now))
      : CONFLICT;
  });
}

function isGuarded(candidates: readonly Candidate[]): boolean {
  return candidates.some(({ runGuard }) => runGuard !== null);
}

/** One array per column: the shards, their guards, and their new values. */
function changes(candidates: readonly Candidate[], encoder: ShardEncoder): readonly ServerArray[] {
  const records = recordsOf(candidates);
  return [
    u64Array(records.map(({ shard }) => shard)),
    int8Array(candidates.map(({ guard }) => guard.version)),
    ...updatedCursorColumns(
      candidates.map(({ set }) => set.shard),
      encoder,
    ),
    ...stateColumns(records),
    int8Array(candidates.map(({ runGuard }) => runGuard)),
    claimIndexEntryArray(candidates.map(({ set }) => set.shard.before)),
    claimIndexEntryArray(records),
  ];
}
