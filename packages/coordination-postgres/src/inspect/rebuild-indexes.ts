import type { ShardId, ShardStatus } from "@gossip/contracts";
import { StatusCounts, type RebuiltIndexes } from "@gossip/coordination-fsck";
import { writeMissingCensus } from "../write/census.ts";
import { correctResting, correctStatusCounts, isResting, removeLostCounts } from "../write/status-counts.ts";
import type { Connection, Database } from "../database/database.ts";
import {
  expectedEntry,
  isRunRowRight,
  listEntries,
  listRunRows,
  listShardRows,
  nameOfEntry,
  readRunRow,
  storedShardOf,
  type InspectedEntry,
  type InspectedRunRow,
} from "./inspected-rows.ts";
import { digestOf, runColumnsIn, runColumnsOf, shardColumnsIn, shardColumnsOf } from "./record-columns.ts";
import { shardIdOf } from "../layout/rows.ts";
import { INSPECT_ORDER, LOCK_INSPECTED_RUN, LOCK_SHARDS, READ_THROUGH_INDEXES } from "../sql/inspect.ts";
import { LOCK_TOTALS } from "../sql/locks.ts";
import { COUNT_BY_OURSELVES } from "../sql/status-counts.ts";
import {
  ADD_ENTRY,
  REBUILD_RUN,
  REBUILD_SHARD,
  RECOUNT_RUN,
  RECOUNT_TENANTS,
  RECOUNT_TOTALS,
  reindex,
  REMOVE_LOST_ENTRIES,
  REMOVE_ENTRY,
} from "../sql/rebuild.ts";

/** Removed and added entries, corrected counts, and added censuses. */
interface Difference {
  removed: number;
  added: number;
  corrected: number;
  censuses: number;
}

type EntryDifference = Pick<Difference, "removed" | "added">;

/**
 * Rebuilds columns, claim index entries, counts and the server's own index from the records, one run at a time, and writes missing censuses.
 *
 * Each run is one transaction, which blocks writers of the run. It does not change anything of a shard that cannot be read, nor an existing census.
 */
export async function rebuildIndexes(database: Database): Promise<RebuiltIndexes> {
  const difference: Difference = { removed: 0, added: 0, corrected: 0, censuses: 0 };
  let isIndexBroken = false;
  for (const id of await listRunIds(database)) {
    await inTransaction(database, (connection) => rebuildRun(connection, id, difference));
    const lost = await inTransaction(database, (connection) => compareOrder(connection, id));
    isIndexBroken ||= lost.removed + lost.added > 0;
    add(difference, lost);
  }
  if (isIndexBroken) await database.execute(reindex(database.schema));
  const lostEntries = await database.run(REMOVE_LOST_ENTRIES, []);
  const lostCounts = await database.use(removeLostCounts);
  const corrected = await inTransaction(database, recount);
  return {
    removedEntries: difference.removed + lostEntries.length + lostCounts.resting,
    addedEntries: difference.added,
    correctedCounts: difference.corrected + corrected + lostCounts.counts,
    addedCensuses: difference.censuses,
  };
}

function inTransaction<T>(database: Database, body: (connection: Connection) => Promise<T>): Promise<T> {
  return database.transact(async (connection) => ({ commit: true, answer: await body(connection) }));
}

function listRunIds(database: Database): Promise<string[]> {
  return database.use(async (connection) => {
    const ids: string[] = [];
    for await (const { id } of listRunRows(connection)) ids.push(id);
    return ids;
  });
}

async function rebuildRun(connection: Connection, id: string, difference: Difference): Promise<void> {
  const [row] = await connection.run<InspectedRunRow>(LOCK_INSPECTED_RUN, [id]);
  if (row === undefined) return;
  await connection.execute(COUNT_BY_OURSELVES);
  const stored = readRunRow(row);
  if (!isRunRowRight(row, stored)) {
    const columns = stored.kind === "Found" ? runColumnsOf(stored.record) : ["Deleted", ...runColumnsIn(row).slice(1)];
    await connection.run(REBUILD_RUN, [id, ...columns]);
    add(difference, { removed: 1, added: 1 });
  }
  const entries = new Map<string, InspectedEntry>();
  const shards: ShardId[] = [];
  const unreadable = new Set<ShardId>();
  const resting = new Set<ShardId>();
  const statuses: { readonly status: ShardStatus }[] = [];
  for await (const shardRow of listShardRows(connection, id, { statement: LOCK_SHARDS })) {
    const { shard, record } = storedShardOf(shardRow);
    shards.push(shard);
    if (!record.ok || record.value.shard !== shard) {
      unreadable.add(shard);
      continue;
    }
    statuses.push({ status: record.value.status });
    if (isResting(record.value)) resting.add(shard);
    const entry = expectedEntry(record.value);
    if (entry !== undefined) entries.set(nameOfEntry(entry), entry);
    const columns = shardColumnsOf(record.value);
    if (digestOf(columns) === digestOf(shardColumnsIn(shardRow))) continue;
    await connection.run(REBUILD_SHARD, [id, shardRow.shard, ...columns]);
    add(difference, { removed: 1, added: 1 });
  }
  add(difference, await rebuildEntries(connection, id, { entries, unreadable }));
  add(difference, await correctResting(connection, id, { expected: resting, unreadable }));
  if (unreadable.size === 0)
    difference.corrected += await correctStatusCounts(connection, id, StatusCounts.of(statuses));
  difference.corrected += (await connection.run(RECOUNT_RUN, [id, shards.length])).length;
  if (shards.length > 0 && (await writeMissingCensus(connection, id, shards))) difference.censuses++;
}

/** Leaves a run exactly `entries`, and the entries of shards that cannot be read. */
async function rebuildEntries(
  connection: Connection,
  id: string,
  { entries, unreadable }: { readonly entries: Map<string, InspectedEntry>; readonly unreadable: ReadonlySet<ShardId> },
): Promise<EntryDifference> {
  const stray: InspectedEntry[] = [];
  for await (const entry of listEntries(connection, id)) {
    if (!entries.delete(nameOfEntry(entry)) && !unreadable.has(entry.shard)) stray.push(entry);
  }
  for (const { bytes } of stray) await connection.run(REMOVE_ENTRY, [id, bytes]);
  for (const { bytes } of entries.values()) await connection.run(ADD_ENTRY, [id, bytes]);
  return { removed: stray.length, added: entries.size };
}

/** Surplus and missing entries of the server's index of the order. */
async function compareOrder(connection: Connection, runId: string): Promise<EntryDifference> {
  await connection.execute(READ_THROUGH_INDEXES);
  const expected = new Set<ShardId>();
  for await (const row of listShardRows(connection, runId, { statement: LOCK_SHARDS }))
    expected.add(shardIdOf(row.shard));
  let removed = 0;
  for (const { shard } of await connection.run<{ shard: Buffer }>(INSPECT_ORDER, [runId])) {
    if (!expected.delete(shardIdOf(shard))) removed++;
  }
  return { removed, added: expected.size };
}

/** Corrects what is summed over runs, and returns how many counts were wrong. */
async function recount(connection: Connection): Promise<number> {
  await connection.run(LOCK_TOTALS, []);
  let corrected = 0;
  for (const statement of [RECOUNT_TENANTS, RECOUNT_TOTALS]) corrected += (await connection.run(statement, [])).length;
  return corrected;
}

function add(sum: Difference, { removed, added }: EntryDifference): void {
  sum.removed += removed;
  sum.added += added;
}
