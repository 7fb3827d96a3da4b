import type {
  CommitAnswer,
  PutRunSet,
  RemoveRunSet,
  ShardRecord,
  ShardWrite,
  SplitShardSet,
} from "@gossip/coordination";
import { encodeDeletedRun } from "@gossip/coordination-codec";
import { encodeRunRecordInto, RecordWriter } from "@gossip/coordination-codec/internal";
import { CONFLICT, type RunAddress } from "@gossip/store-kit";
import { removeCensus } from "./census.ts";
import type { Connection, Database } from "../database/database.ts";
import { NewShards } from "./new-shards.ts";
import { removeNotes } from "./notes.ts";
import { letterOf, claimIndexEntryOf } from "../claim/claim-index-entry.ts";
import {
  readRunVersion,
  readShardVersion,
  runVersion,
  shardVersion,
  type RowVersion,
} from "../layout/record-version.ts";
import { rowVersionOf, tenantBytes } from "../layout/rows.ts";
import { byteaArray } from "../layout/server-array.ts";
import { encodeOne } from "../layout/shard-columns.ts";
import { ADD_TO_COUNTS } from "../sql/counts.ts";
import { HAS_SHARD_IN, INSERT_RUN, REMOVE_RUN, UPDATE_RUN } from "../sql/runs.ts";
import { LOCK_RUN, LOCK_SHARD, LOCK_TOTALS } from "../sql/locks.ts";
import { MOVE_ENTRY } from "../sql/move-claim-index-entries.ts";
import { UPDATE_SPLIT_SHARD } from "../sql/update-split-shard.ts";
import { u64Bytes } from "../layout/u64-bytes.ts";

// Shared by all calls: encoding is synchronous.
const writer = new RecordWriter();

interface LockedRun extends RowVersion {
  readonly shardCount: number;
}

type RunRow = { readonly id: string; readonly version: string; readonly status: string; readonly shard_count: string };

// Each of these encodes first, then locks rows in the same order: the run, the shard, the totals, the tenant. So they may wait
// for one another, but never in a circle. The totals are locked last, because every tenant shares them. A refused set changes nothing: its
// transaction is rolled back.

export function splitShard(database: Database, set: SplitShardSet): Promise<CommitAnswer> {
  const { shard, runGuard } = set;
  const guard = readShardVersion(shard.guard);
  const run = readRunVersion(runGuard);
  const values = shardValues(shard.after);
  const added = new NewShards(set);
  if (guard === undefined || run === undefined || run.runId !== guard.runId) return Promise.resolve(CONFLICT);

  return write(database, async (connection) => {
    const locked = await lockRun(connection, set);
    if (locked === undefined || !isAt(locked, run)) return CONFLICT;
    const id = u64Bytes(shard.after.shard);
    const [row] = await connection.run<{ version: string }>(LOCK_SHARD, [guard.runId, id]);
    if (row === undefined || Number(row.version) !== guard.version) return CONFLICT;
    const to = { runId: guard.runId, isEmpty: false };
    const refusal = await added.refuse(connection, to);
    if (refusal !== undefined) return refusal;

    await connection.run(UPDATE_SPLIT_SHARD, [guard.runId, id, ...values]);
    await moveEntry(connection, guard.runId, shard);
    await added.insert(connection, to);
    const overdrawn = await added.count(connection, to);
    return overdrawn ?? { kind: "Committed", version: shardVersion(next(guard)) };
  });
}

export function putRun(database: Database, set: PutRunSet): Promise<CommitAnswer> {
  const { guard, noShardsIn } = set;
  const values = runValues(set);
  const added = new NewShards(set);
  const expected = readRunVersion(guard);
  if (guard !== undefined && expected === undefined) return Promise.resolve(CONFLICT);

  return write(database, async (connection) => {
    const written = expected === undefined ? await insertRun(connection, set, values) : await lockRun(connection, set);
    if (written === undefined || (expected !== undefined && !isAt(written, expected))) return CONFLICT;
    if (expected !== undefined && noShardsIn.length > 0 && (await hasShardIn(connection, written.runId, noShardsIn)))
      return CONFLICT;
    const to = { runId: written.runId, isEmpty: written.shardCount === 0 };
    const refusal = await added.refuse(connection, to);
    if (refusal !== undefined) return refusal;

    if (expected !== undefined) await connection.run(UPDATE_RUN, [written.runId, ...values]);
    await added.insert(connection, to);
    const overdrawn = await added.count(connection, to);
    return overdrawn ?? { kind: "Committed", version: runVersion(expected === undefined ? written : next(expected)) };
  });
}

export function removeRun(database: Database, set: RemoveRunSet): Promise<CommitAnswer> {
  const mark = encodeDeletedRun({ tenant: set.tenant, run: set.run });
  const guard = readRunVersion(set.guard);
  if (guard === undefined) return Promise.resolve(CONFLICT);

  return write(database, async (connection) => {
    const locked = await lockRun(connection, set);
    if (locked === undefined || !isAt(locked, guard)) return CONFLICT;
    await connection.run(REMOVE_RUN, [guard.runId, mark]);
    await removeCensus(connection, guard.runId);
    await removeNotes(connection, guard.runId);
    const count = locked.shardCount;
    if (count > 0) {
      await connection.run(LOCK_TOTALS, []);
      await connection.run(ADD_TO_COUNTS, [guard.runId, tenantBytes(set.tenant), -count]);
    }
    return { kind: "Committed", version: runVersion(next(guard)) };
  });
}

async function moveEntry(connection: Connection, runId: number, { before, after }: ShardWrite): Promise<void> {
  const [left, taken] = [claimIndexEntryOf(before) ?? null, claimIndexEntryOf(after) ?? null];
  // A residual split does not move the shard's entry.
  if (left !== null && taken?.equals(left) === true) return;
  await connection.run(MOVE_ENTRY, [runId, left, taken]);
}

function write(database: Database, body: (connection: Connection) => Promise<CommitAnswer>): Promise<CommitAnswer> {
  return database.transact(async (connection) => {
    const answer = await body(connection);
    return { commit: answer.kind === "Committed", answer };
  });
}

/** Locks a run. `undefined` if it does not exist or was removed. */
async function lockRun(connection: Connection, { tenant, run }: RunAddress): Promise<LockedRun | undefined> {
  const [row] = await connection.run<RunRow>(LOCK_RUN, [tenantBytes(tenant), u64Bytes(run)]);
  return row === undefined || row.status === "Deleted"
    ? undefined
    : { ...rowVersionOf(row), shardCount: Number(row.shard_count) };
}

async function insertRun(
  connection: Connection,
  { tenant, run }: RunAddress,
  values: readonly unknown[],
): Promise<LockedRun | undefined> {
  const [row] = await connection.run<{ id: string; version: string }>(INSERT_RUN, [
    tenantBytes(tenant),
    u64Bytes(run),
    ...values,
  ]);
  return row && { ...rowVersionOf(row), shardCount: 0 };
}

function isAt({ runId, version }: RowVersion, expected: RowVersion): boolean {
  return runId === expected.runId && version === expected.version;
}

/** The columns that a write sets. */
function next({ runId, version }: RowVersion): RowVersion {
  return { runId, version: version + 1 };
}

async function hasShardIn(connection: Connection, runId: number, statuses: PutRunSet["noShardsIn"]): Promise<boolean> {
  const unfinished = statuses.filter((status) => status !== "Done");
  const [row] = await connection.run<{ found: boolean }>(HAS_SHARD_IN, [
    runId,
    byteaArray(unfinished.map(letterOf)),
    statuses.includes("Done"),
  ]);
  return row?.found === true;
}

function runValues({ after }: PutRunSet): unknown[] {
  const { status, config } = after;
  const { cursorSemantics, leaseDuration, maxShardRetries } = config;
  writer.reset();
  encodeRunRecordInto(after, writer);
  return [status, cursorSemantics, u64Bytes(leaseDuration), maxShardRetries ?? null, writer.toOwned()];
}

function shardValues(record: ShardRecord): unknown[] {
  const { status, parkReason, lease, fenceEpoch, attempts, cursor } = record;
  return [
    status,
    parkReason ?? null,
    lease === undefined ? null : u64Bytes(lease.owner),
    lease === undefined ? null : u64Bytes(lease.deadline),
    u64Bytes(fenceEpoch),
    attempts,
    cursor.lastKey ?? null,
    encodeOne(record),
  ];
}
