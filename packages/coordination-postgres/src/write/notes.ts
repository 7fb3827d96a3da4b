import { NoteSpace, type CommitAnswer, type GuardedNoteWrite, type WriteNotesSet } from "@gossip/coordination";
import { InfraError } from "@gossip/coordination-errors";
import { compareBytes } from "@gossip/stdx";
import { CONFLICT, CorruptStore } from "@gossip/store-kit";
import type { Connection, Database } from "../database/database.ts";
import { tenantBytes } from "../layout/rows.ts";
import { byteaArray, int8Array, type ServerArray } from "../layout/server-array.ts";
import { u64Bytes } from "../layout/u64-bytes.ts";
import {
  FIND_NOTES,
  HOLD_RUN,
  PUT_NEW_NOTES,
  PUT_NOTES,
  REMOVE_NOTES,
  REMOVE_NOTES_OF_RUN,
  REPLACE_NOTES,
} from "../sql/notes.ts";

/** A note of a run that is known by its number. */
export interface RunNote extends GuardedNoteWrite {
  readonly runId: number;
}

const TABLE = "notes";

/** Notes have no versions. */
const COMMITTED: CommitAnswer = Object.freeze({ kind: "Committed", version: 0 });

/** Writes notes alone. Removal of the run waits until they are committed, and then removes them too. */
export function writeNotes(database: Database, { tenant, run, notes }: WriteNotesSet): Promise<CommitAnswer> {
  return database.transact(async (connection) => {
    const [row] = await connection.run<{ id: string }>(HOLD_RUN, [tenantBytes(tenant), u64Bytes(run)]);
    const refused = { commit: false, answer: CONFLICT };
    if (row === undefined) return refused;
    const runId = Number(row.id);
    const all = notes.map((note) => ({ ...note, runId }));
    const isHeld = await putGuarded(
      connection,
      all.filter(({ guard }) => guard !== undefined),
    );
    if (!isHeld) return refused;
    await putNotes(
      connection,
      all.filter(({ guard }) => guard === undefined),
    );
    return { commit: true, answer: COMMITTED };
  });
}

/** Writes notes unconditionally, within a transaction. Of several for one key, the last one counts. */
export async function putNotes(connection: Connection, notes: readonly RunNote[]): Promise<void> {
  if (notes.length === 0 || !(await hasNotes(connection, notes))) return;
  const sorted = toSortedDistinct(notes);
  const puts = sorted.filter(({ value }) => value !== undefined);
  const removals = sorted.filter(({ value }) => value === undefined);
  if (puts.length > 0) await connection.run(PUT_NOTES, [...keyColumns(puts), valueColumn(puts)]);
  if (removals.length > 0) await connection.run(REMOVE_NOTES, [...keyColumns(removals), null]);
}

/**
 * Removes the notes of a run that was just removed. A statement of its own: it also sees notes of updates that the removal of the shards
 * waited for.
 */
export async function removeNotes(connection: Connection, runId: number): Promise<void> {
  if (await connection.hasTable(TABLE)) await connection.run(REMOVE_NOTES_OF_RUN, [runId]);
}

/** Writes notes with guards. Returns whether all guards held; if not, the transaction must be rolled back. */
async function putGuarded(connection: Connection, notes: readonly RunNote[]): Promise<boolean> {
  if (notes.length === 0) return true;
  if (!(await hasNotes(connection, notes))) return notes.every(({ guard }) => guard === "absent");
  const sorted = notes.toSorted(byKey);
  const of = (isAbsent: boolean, isPut: boolean) =>
    sorted.filter(({ guard, value }) => (guard === "absent") === isAbsent && (value !== undefined) === isPut);
  const [created, missing, replaced, removed] = [of(true, true), of(true, false), of(false, true), of(false, false)];
  const count = async (statement: typeof PUT_NOTES, some: readonly RunNote[], columns: readonly ServerArray[]) =>
    some.length === 0 ? 0 : (await connection.run(statement, [...keyColumns(some), ...columns])).length;
  return (
    (await count(FIND_NOTES, missing, [])) === 0 &&
    (await count(PUT_NEW_NOTES, created, [valueColumn(created)])) === created.length &&
    (await count(REPLACE_NOTES, replaced, [valueColumn(replaced), guardColumn(replaced)])) === replaced.length &&
    (await count(REMOVE_NOTES, removed, [guardColumn(removed)])) === removed.length
  );
}

/**
 * Whether the tables have notes. Tables of an earlier version have none, so there is nothing to remove. Throws if there is something to
 * write: a failure that is not recorded must not be passed.
 */
async function hasNotes(connection: Connection, notes: readonly RunNote[]): Promise<boolean> {
  if (await connection.hasTable(TABLE)) return true;
  if (notes.every(({ value }) => value === undefined)) return false;
  throw new CorruptStore(
    InfraError.transient({
      operation: "postgres.commit",
      message: "the tables are of an earlier version and cannot keep notes; run gossip store migrate",
    }),
  );
}

function toSortedDistinct(notes: readonly RunNote[]): RunNote[] {
  // The sort is stable, so of equal keys the last one given comes last.
  const sorted = notes.toSorted(byKey);
  return sorted.filter((note, index) => {
    const next = sorted[index + 1];
    return next === undefined || byKey(note, next) !== 0;
  });
}

function byKey(a: RunNote, b: RunNote): number {
  if (a.runId !== b.runId) return a.runId - b.runId;
  return NoteSpace.codes[a.space] - NoteSpace.codes[b.space] || compareBytes(a.key, b.key);
}

function keyColumns(notes: readonly RunNote[]): ServerArray[] {
  return [
    int8Array(notes.map(({ runId }) => runId)),
    int8Array(notes.map(({ space }) => NoteSpace.codes[space])),
    byteaArray(notes.map(({ key }) => key)),
  ];
}

function valueColumn(notes: readonly RunNote[]): ServerArray {
  return byteaArray(notes.map(({ value }) => value));
}

function guardColumn(notes: readonly RunNote[]): ServerArray {
  return byteaArray(notes.map(({ guard }) => (guard === "absent" ? undefined : guard)));
}
