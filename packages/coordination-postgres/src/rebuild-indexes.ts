import type { RebuiltIndexes } from "@gossip/coordination-fsck";
import type { Connection, Database } from "./database.ts";
import { indexesOf, isRunRowRight, listRunRows, listShardRows, readRunRow, storedShardOf, type InspectedRunRow } from "./inspected-rows.ts";
import { digestOf, runColumnsIn, runColumnsOf, shardColumnsIn, shardColumnsOf } from "./record-columns.ts";
import { shardIdOf } from "./rows.ts";
import { INDEXED_SHARDS, LOCK_INSPECTED_RUN, LOCK_SHARDS, READ_THROUGH_INDEXES } from "./sql/inspect.ts";
import { LOCK_TOTALS } from "./sql/lock-totals.ts";
import { REBUILD_RUN, REBUILD_SHARD, RECOUNT_RUNS, RECOUNT_TENANTS, RECOUNT_TOTALS, reindex } from "./sql/rebuild.ts";

interface Difference {
  readonly removed: number;
  readonly added: number;
}

/**
 * Make columns, the server's indexes and counts what the records say, a run at a time.
 *
 * Each run is one transaction, for which its writers wait. Of a shard that cannot be read everything stays as it is.
 */
export async function rebuildIndexes(database: Database): Promise<RebuiltIndexes> {
  let corrected = 0;
  const lost = { removed: 0, added: 0 };
  for (const id of await listRunIds(database)) {
    corrected += await inTransaction(database, (connection) => rebuildRun(connection, id));
    const { removed, added } = await inTransaction(database, (connection) => compareIndexes(connection, id));
    lost.removed += removed;
    lost.added += added;
  }
  if (lost.removed + lost.added > 0) await database.execute(reindex(database.schema));
  const correctedCounts = await inTransaction(database, recount);
  return { removedEntries: corrected + lost.removed, addedEntries: corrected + lost.added, correctedCounts };
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

/** How many rows said something else than their records. */
async function rebuildRun(connection: Connection, id: string): Promise<number> {
  const [row] = await connection.run<InspectedRunRow>(LOCK_INSPECTED_RUN, [id]);
  if (row === undefined) return 0;
  let corrected = 0;
  const stored = readRunRow(row);
  if (!isRunRowRight(row, stored)) {
    const columns = stored.kind === "Found" ? runColumnsOf(stored.record) : ["Deleted", ...runColumnsIn(row).slice(1)];
    await connection.run(REBUILD_RUN, [id, ...columns]);
    corrected++;
  }
  for await (const shardRow of listShardRows(connection, id, LOCK_SHARDS)) {
    const { shard, record } = storedShardOf(shardRow);
    if (!record.ok || record.value.shard !== shard) continue;
    const columns = shardColumnsOf(record.value);
    if (digestOf(columns) === digestOf(shardColumnsIn(shardRow))) continue;
    await connection.run(REBUILD_SHARD, [id, shardRow.shard, ...columns]);
    corrected++;
  }
  return corrected;
}

/** Entries that the server's indexes have too many of, and lack. */
async function compareIndexes(connection: Connection, runId: string): Promise<Difference> {
  await connection.execute(READ_THROUGH_INDEXES);
  const expected = { claim: new Set<bigint>(), setAside: new Set<bigint>(), order: new Set<bigint>() };
  for await (const row of listShardRows(connection, runId, LOCK_SHARDS)) {
    for (const index of indexesOf(row.status)) expected[index].add(shardIdOf(row.shard));
  }
  let removed = 0;
  let added = 0;
  for (const index of ["claim", "setAside", "order"] as const) {
    for (const { shard } of await connection.run<{ shard: Buffer }>(INDEXED_SHARDS[index], [runId])) {
      if (!expected[index].delete(shardIdOf(shard))) removed++;
    }
    added += expected[index].size;
  }
  return { removed, added };
}

/** How many counts were wrong. */
async function recount(connection: Connection): Promise<number> {
  await connection.run(LOCK_TOTALS, []);
  let corrected = 0;
  for (const statement of [RECOUNT_RUNS, RECOUNT_TENANTS, RECOUNT_TOTALS]) corrected += (await connection.run(statement, [])).length;
  return corrected;
}
