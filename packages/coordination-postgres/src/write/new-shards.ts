import type { CommitAnswer, ShardLimits, ShardRecord } from "@gossip/coordination";
import { checkQuota, type RunAddress } from "@gossip/store-kit";
import { addToCensus } from "./census.ts";
import type { Connection } from "../database/database.ts";
import { claimIndexEntryArray } from "../claim/claim-index-entry.ts";
import { shardIdOf, tenantBytes } from "../layout/rows.ts";
import { u64Array, type ServerArray } from "../layout/server-array.ts";
import { birthColumns, cursorColumns, stateColumns } from "../layout/shard-columns.ts";
import { ADD_TO_COUNTS, CHECK_NEW_SHARDS, READ_COUNTS } from "../sql/counts.ts";
import { INSERT_SHARDS } from "../sql/insert-shards.ts";
import { LOCK_TOTALS } from "../sql/locks.ts";

/** Most rows of one statement. They travel in one message, which the server holds in memory several times over. */
const MAX_ROWS = 1024;

interface CountsRow {
  readonly total: string | null;
  readonly of_tenant: string | null;
}

export interface NewShardsOptions extends RunAddress {
  readonly created: readonly ShardRecord[];
  readonly limits: ShardLimits;
}

export interface RunOfNewShards {
  readonly runId: number;
  /** The run has no shard yet, so that no id can be taken. */
  readonly isEmpty: boolean;
}

/**
 * Shards that a transaction creates, encoded before it begins. The transaction has locked the run.
 *
 * Every tenant shares the row of totals. So the shards are inserted first, and the totals are locked last, for two short statements and the
 * commit: otherwise a registration of 10,000 shards would block the splits of all tenants. The quota is checked twice. The check before the inserts
 * keeps a tenant without quota from making the server insert rows that it then discards. The check behind the lock is exact.
 */
export class NewShards {
  readonly #options: NewShardsOptions;
  readonly #chunks: readonly ServerArray[][];

  constructor(options: NewShardsOptions) {
    const { created } = options;
    const chunks: ServerArray[][] = [];
    for (let start = 0; start < created.length; start += MAX_ROWS)
      chunks.push(columnsOf(created.slice(start, start + MAX_ROWS)));
    this.#options = options;
    this.#chunks = chunks;
  }

  /** Returns why the shards cannot be created, as of now. */
  async refuse(connection: Connection, { runId, isEmpty }: RunOfNewShards): Promise<CommitAnswer | undefined> {
    const { tenant, created } = this.#options;
    if (created.length === 0) return undefined;
    const ids = isEmpty ? null : u64Array(created.map(({ shard }) => shard));
    const [row] = await connection.run<CountsRow & { readonly taken: Buffer | null }>(CHECK_NEW_SHARDS, [
      runId,
      tenantBytes(tenant),
      ids,
    ]);
    const taken = row?.taken ?? null;
    return this.#overdrawn(row) ?? (taken === null ? undefined : { kind: "Exists", shard: shardIdOf(taken) });
  }

  /** Inserts the shards, and adds them to the run's census. */
  async insert(connection: Connection, { runId, isEmpty }: RunOfNewShards): Promise<void> {
    const { created } = this.#options;
    if (created.length === 0) return;
    for (const columns of this.#chunks) await connection.run(INSERT_SHARDS, [runId, ...columns]);
    await addToCensus(connection, runId, { shards: created.map(({ shard }) => shard), isEmpty });
  }

  /** Counts the shards, or returns which quota they exceed. The last statements of the transaction. */
  async count(connection: Connection, { runId }: RunOfNewShards): Promise<CommitAnswer | undefined> {
    const { tenant, created } = this.#options;
    if (created.length === 0) return undefined;
    await connection.run(LOCK_TOTALS, []);
    const [row] = await connection.run<CountsRow & Record<string, unknown>>(READ_COUNTS, [tenantBytes(tenant)]);
    const overdrawn = this.#overdrawn(row);
    if (overdrawn === undefined) await connection.run(ADD_TO_COUNTS, [runId, tenantBytes(tenant), created.length]);
    return overdrawn;
  }

  #overdrawn(row: CountsRow | undefined): CommitAnswer | undefined {
    const { created, limits } = this.#options;
    const counts = { tenant: Number(row?.of_tenant ?? 0), total: Number(row?.total ?? 0) };
    return checkQuota(counts, created.length, limits);
  }
}

function columnsOf(records: readonly ShardRecord[]): ServerArray[] {
  const shards = u64Array(records.map(({ shard }) => shard));
  return [
    shards,
    ...cursorColumns(records),
    ...stateColumns(records),
    ...birthColumns(records),
    claimIndexEntryArray(records),
  ];
}
