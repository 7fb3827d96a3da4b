import type { ShardId } from "@gossip/contracts";
import type { RebuiltIndexes } from "@gossip/coordination-fsck";
import { writeMissingCensus } from "../write/census.ts";
import type { Connection, Database } from "../database/database.ts";
import {
  expectedPlace,
  isRunRowRight,
  listPlaces,
  listRunRows,
  listShardRows,
  nameOfPlace,
  readRunRow,
  storedShardOf,
  type InspectedPlace,
  type InspectedRunRow,
} from "./inspected-rows.ts";
import { digestOf, runColumnsIn, runColumnsOf, shardColumnsIn, shardColumnsOf } from "./record-columns.ts";
import { shardIdOf } from "../layout/rows.ts";
import { INSPECT_ORDER, LOCK_INSPECTED_RUN, LOCK_SHARDS, READ_THROUGH_INDEXES } from "../sql/inspect.ts";
import { LOCK_TOTALS } from "../sql/lock-totals.ts";
import {
  ADD_PLACE,
  REBUILD_RUN,
  REBUILD_SHARD,
  RECOUNT_RUN,
  RECOUNT_TENANTS,
  RECOUNT_TOTALS,
  reindex,
  REMOVE_LOST_PLACES,
  REMOVE_PLACE,
} from "../sql/rebuild.ts";

/** Entries that were too many and that were missing; counts that were wrong; censuses that were missing. */
interface Difference {
  removed: number;
  added: number;
  corrected: number;
  censuses: number;
}

type EntryDifference = Pick<Difference, "removed" | "added">;

/**
 * Makes columns, places, the server's index of the order and counts what the records say, a run at a time, and writes missing censuses.
 *
 * Each run is one transaction, which blocks writers of the run. Everything of a shard that cannot be read stays as it is, and so does a census.
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
  const lostPlaces = await database.run(REMOVE_LOST_PLACES, []);
  const corrected = await inTransaction(database, recount);
  return {
    removedEntries: difference.removed + lostPlaces.length,
    addedEntries: difference.added,
    correctedCounts: difference.corrected + corrected,
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
  const stored = readRunRow(row);
  if (!isRunRowRight(row, stored)) {
    const columns = stored.kind === "Found" ? runColumnsOf(stored.record) : ["Deleted", ...runColumnsIn(row).slice(1)];
    await connection.run(REBUILD_RUN, [id, ...columns]);
    add(difference, { removed: 1, added: 1 });
  }
  const places = new Map<string, InspectedPlace>();
  const shards: ShardId[] = [];
  const unreadable = new Set<ShardId>();
  for await (const shardRow of listShardRows(connection, id, { statement: LOCK_SHARDS })) {
    const { shard, record } = storedShardOf(shardRow);
    shards.push(shard);
    if (!record.ok || record.value.shard !== shard) {
      unreadable.add(shard);
      continue;
    }
    const place = expectedPlace(record.value);
    if (place !== undefined) places.set(nameOfPlace(place), place);
    const columns = shardColumnsOf(record.value);
    if (digestOf(columns) === digestOf(shardColumnsIn(shardRow))) continue;
    await connection.run(REBUILD_SHARD, [id, shardRow.shard, ...columns]);
    add(difference, { removed: 1, added: 1 });
  }
  add(difference, await rebuildPlaces(connection, id, { places, unreadable }));
  difference.corrected += (await connection.run(RECOUNT_RUN, [id, shards.length])).length;
  if (shards.length > 0 && (await writeMissingCensus(connection, id, shards))) difference.censuses++;
}

/** Leaves a run exactly `places`, and those of shards that cannot be read. */
async function rebuildPlaces(
  connection: Connection,
  id: string,
  { places, unreadable }: { readonly places: Map<string, InspectedPlace>; readonly unreadable: ReadonlySet<ShardId> },
): Promise<EntryDifference> {
  const stray: InspectedPlace[] = [];
  for await (const place of listPlaces(connection, id)) {
    if (!places.delete(nameOfPlace(place)) && !unreadable.has(place.shard)) stray.push(place);
  }
  for (const { place } of stray) await connection.run(REMOVE_PLACE, [id, place]);
  for (const { place } of places.values()) await connection.run(ADD_PLACE, [id, place]);
  return { removed: stray.length, added: places.size };
}

/** What the server's index of the order has too many of, and lacks. */
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
