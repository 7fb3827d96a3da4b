import { RunId, TenantId, type ShardId } from "@gossip/contracts";
import type { Note, ShardRecord } from "@gossip/coordination";
import type { Result } from "@gossip/stdx";
import type { InfraError } from "@gossip/coordination-errors";
import type {
  CountScope,
  FsckSource,
  IndexEntry,
  RebuiltIndexes,
  RunCensus,
  RunView,
  StatusCounts,
  StoredCount,
  StoredRunRecord,
  StoredShard,
  StoreView,
} from "@gossip/coordination-fsck";
import { listLostCensuses, readCensus } from "../write/census.ts";
import { isResting, listLostCounts, listResting, readStatusCounts, STATUS_COUNTS } from "../write/status-counts.ts";
import type { Connection, Database, HeldConnection } from "../database/database.ts";
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
  type InspectedShardRow,
} from "./inspected-rows.ts";
import type { KnownCapacities } from "../capacity/known-capacities.ts";
import { failureFrom } from "../database/postgres-failure.ts";
import { listLostNotes, listNoteRows } from "./inspected-notes.ts";
import { rebuildIndexes } from "./rebuild-indexes.ts";
import { digestOf, shardColumnsIn, shardColumnsOf } from "./record-columns.ts";
import { runIdOf, shardIdOf, tenantOf } from "../layout/rows.ts";
import {
  BEGIN_INSPECTION,
  INSPECT_LOST_RUNS,
  INSPECT_ORDER,
  INSPECT_TENANTS,
  INSPECT_TOTALS,
  READ_THROUGH_INDEXES,
} from "../sql/inspect.ts";
import type { UpdateParts } from "../write/update-parts.ts";

const COUNT_SCOPES: ReadonlySet<CountScope> = new Set<CountScope>(["Run", "Tenant", "Total"]);

/** The tables of a store, for checks and repairs. Columns beside a record count as an index. */
export class PostgresInspection implements FsckSource {
  readonly #database: Database;
  readonly #capacities: KnownCapacities;

  constructor({ database, capacities }: Pick<UpdateParts, "database" | "capacities">) {
    this.#database = database;
    this.#capacities = capacities;
  }

  async look(): Promise<StoreView> {
    const held = await this.#database.hold();
    try {
      await held.execute(BEGIN_INSPECTION);
      await held.execute(READ_THROUGH_INDEXES);
    } catch (thrown) {
      held.release({ isBroken: true });
      throw thrown;
    }
    return new PostgresView(held);
  }

  rebuildIndexes(): Promise<RebuiltIndexes> {
    return this.#capacities.changing(() => rebuildIndexes(this.#database));
  }

  explain(thrown: unknown): InfraError {
    return failureFrom("postgres.inspect", thrown);
  }
}

class PostgresView implements StoreView {
  readonly countScopes = COUNT_SCOPES;
  readonly #held: HeldConnection;
  #isClosed = false;

  constructor(held: HeldConnection) {
    this.#held = held;
  }

  async *runs(): AsyncGenerator<RunView> {
    const held = this.#held;
    const hasResting = await held.hasTable(STATUS_COUNTS);
    for await (const row of listRunRows(held)) {
      const census = await readCensus(held, row.id, Number(row.shard_count));
      const statusCounts = await readStatusCounts(held, row.id);
      yield new PostgresRunView(held, row, { census, statusCounts, hasResting });
    }
    const lost = (await held.run<{ id: string }>(INSPECT_LOST_RUNS, [])).map(({ id }) => id);
    const others = [...(await listLostCensuses(held)), ...(await listLostNotes(held)), ...(await listLostCounts(held))];
    for (const id of new Set([...lost, ...others])) yield await nameLostRun(held, id);
  }

  async *counts(): AsyncGenerator<StoredCount> {
    for (const { shard_count: count } of await this.#held.run<{ shard_count: string }>(INSPECT_TOTALS, [])) {
      yield { scope: "Total", tenant: undefined, run: undefined, count: Number(count) };
    }
    for (const { tenant, shard_count: count } of await this.#held.run<{ tenant: Buffer; shard_count: string }>(
      INSPECT_TENANTS,
      [],
    )) {
      yield { scope: "Tenant", tenant: tenantOf(tenant), run: undefined, count: Number(count) };
    }
    for await (const { tenant, run, shard_count: count } of listRunRows(this.#held)) {
      yield { scope: "Run", tenant: tenantOf(tenant), run: runIdOf(run), count: Number(count) };
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#held.execute("ROLLBACK").then(
      () => this.#held.release({ isBroken: false }),
      () => this.#held.release({ isBroken: true }),
    );
  }
}

/** What a run has beside its row and its shards. */
interface RunCounts {
  readonly census: RunCensus | undefined;
  readonly statusCounts: StatusCounts | undefined;
  /** Whether the tables list resting shards. */
  readonly hasResting: boolean;
}

class PostgresRunView implements RunView {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly record: StoredRunRecord;
  readonly census: RunCensus | undefined;
  readonly statusCounts: StatusCounts | undefined;
  readonly #hasResting: boolean;
  readonly #connection: Connection;
  readonly #row: InspectedRunRow;
  readonly #lostShards = new Set<ShardId>();
  /** Keys of entries. */
  readonly #lostEntries = new Set<string>();

  constructor(connection: Connection, row: InspectedRunRow, { census, statusCounts, hasResting }: RunCounts) {
    this.census = census;
    this.statusCounts = statusCounts;
    this.#hasResting = hasResting;
    this.#connection = connection;
    this.#row = row;
    this.tenant = tenantOf(row.tenant);
    this.run = runIdOf(row.run);
    this.record = readRunRow(row);
  }

  async *shards(): AsyncGenerator<StoredShard> {
    const onLost = (row: InspectedShardRow) => void this.#lostShards.add(shardIdOf(row.shard));
    for await (const row of listShardRows(this.#connection, this.#row.id, { onLost })) yield storedShardOf(row);
  }

  notes(): AsyncIterable<Result<Note, string>> {
    return listNoteRows(this.#connection, this.#row.id);
  }

  /** A page of shards was looked up when it was listed. */
  findShard(shard: ShardId): Promise<boolean> {
    return Promise.resolve(!this.#lostShards.has(shard));
  }

  findEntry({ key }: IndexEntry): Promise<boolean> {
    return Promise.resolve(!this.#lostEntries.has(key));
  }

  async *entries(): AsyncGenerator<IndexEntry> {
    if (!isRunRowRight(this.#row, this.record)) yield { index: "run", shard: undefined, key: "run" };
    for await (const row of listShardRows(this.#connection, this.#row.id))
      yield columnsEntry(shardIdOf(row.shard), digestOf(shardColumnsIn(row)));
    const onLost = (entry: InspectedEntry) => void this.#lostEntries.add(nameOfEntry(entry));
    for await (const entry of listEntries(this.#connection, this.#row.id, onLost)) yield toIndexEntry(entry);
    for (const { shard } of await this.#connection.run<{ shard: Buffer }>(INSPECT_ORDER, [this.#row.id]))
      yield orderEntry(shardIdOf(shard));
    for (const shard of await listResting(this.#connection, this.#row.id)) yield restingEntry(shard);
  }

  entriesOf(record: ShardRecord): readonly IndexEntry[] {
    const entry = expectedEntry(record);
    return [
      columnsEntry(record.shard, digestOf(shardColumnsOf(record))),
      orderEntry(record.shard),
      ...(entry === undefined ? [] : [toIndexEntry(entry)]),
      ...(this.#hasResting && isResting(record) ? [restingEntry(record.shard)] : []),
    ];
  }
}

/** A run without a row gets its address from its first readable shard, if any. */
async function nameLostRun(connection: Connection, id: string): Promise<RunView> {
  let name: { readonly tenant: TenantId; readonly run: RunId } = { tenant: TenantId.ZERO, run: RunId.fromRaw(0n) };
  for await (const row of listShardRows(connection, id)) {
    const { record } = storedShardOf(row);
    if (!record.ok) continue;
    name = record.value;
    break;
  }
  return {
    tenant: name.tenant,
    run: name.run,
    record: { kind: "Missing" },
    census: await readCensus(connection, id, 0),
    statusCounts: await readStatusCounts(connection, id),
    shards: async function* () {
      for await (const row of listShardRows(connection, id)) yield storedShardOf(row);
    },
    entries: async function* () {
      for await (const entry of listEntries(connection, id)) yield toIndexEntry(entry);
      for (const shard of await listResting(connection, id)) yield restingEntry(shard);
    },
    entriesOf: () => [],
    notes: () => listNoteRows(connection, id),
  };
}

function columnsEntry(shard: ShardId, digest: string): IndexEntry {
  return { index: "columns", shard, key: `columns ${shard} ${digest}` };
}

function toIndexEntry(entry: InspectedEntry): IndexEntry {
  return { index: "places", shard: entry.shard, key: nameOfEntry(entry) };
}

function orderEntry(shard: ShardId): IndexEntry {
  return { index: "order", shard, key: `order ${shard}` };
}

function restingEntry(shard: ShardId): IndexEntry {
  return { index: "resting", shard, key: `resting ${shard}` };
}
