import type { ShardRecord } from "@gossip/coordination";
import type { Connection } from "./database.ts";
import { assertOwn } from "./assert-own.ts";
import { placeArray } from "./place.ts";
import type { RunAddress } from "./rows.ts";
import { u64Array, type ServerArray } from "./server-array.ts";
import { birthColumns, cursorColumns, stateColumns } from "./shard-columns.ts";
import { INSERT_SHARDS } from "./sql/insert-shards.ts";

/** Most rows of one statement. They travel in one message, which the server holds in memory several times over. */
const MAX_ROWS = 1024;

/** New shards, encoded before anything is locked. */
export class InsertedShards {
  readonly #chunks: readonly ServerArray[][];

  constructor(address: RunAddress, records: readonly ShardRecord[]) {
    for (const record of records) assertOwn(address, record);
    const chunks: ServerArray[][] = [];
    for (let start = 0; start < records.length; start += MAX_ROWS)
      chunks.push(columnsOf(records.slice(start, start + MAX_ROWS)));
    this.#chunks = chunks;
  }

  async write(connection: Connection, runId: number): Promise<void> {
    for (const columns of this.#chunks) await connection.run(INSERT_SHARDS, [runId, ...columns]);
  }
}

function columnsOf(records: readonly ShardRecord[]): ServerArray[] {
  const shards = u64Array(records.map(({ shard }) => shard));
  return [shards, ...cursorColumns(records), ...stateColumns(records), ...birthColumns(records), placeArray(records)];
}
