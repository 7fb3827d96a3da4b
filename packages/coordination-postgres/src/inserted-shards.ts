import type { ShardRecord } from "@gossip/coordination";
import type { Connection } from "./database.ts";
import { assertOwn } from "./assert-own.ts";
import type { RunAddress } from "./rows.ts";
import { ShardPack } from "./shard-pack.ts";
import { INSERT_SHARDS } from "./sql/insert-shards.ts";

/** Most rows of one statement. They travel in one message, which the server holds in memory several times over. */
const MAX_ROWS = 1024;

/** New shards, encoded before anything is locked. */
export class InsertedShards {
  readonly #packs: readonly ShardPack[];

  constructor(address: RunAddress, records: readonly ShardRecord[]) {
    for (const record of records) assertOwn(address, record);
    const packs: ShardPack[] = [];
    for (let start = 0; start < records.length; start += MAX_ROWS) {
      packs.push(new ShardPack(records.slice(start, start + MAX_ROWS), { isNew: true }));
    }
    this.#packs = packs;
  }

  async write(connection: Connection, runId: string): Promise<void> {
    for (const pack of this.#packs) {
      await connection.run(INSERT_SHARDS, [
        pack.bytes,
        runId,
        pack.statuses,
        pack.parkReasons,
        pack.hasLease,
        pack.attempts,
        pack.places,
        pack.recordSizes,
        pack.keySizes,
        pack.startSizes,
        pack.spreads,
        pack.parents,
      ]);
    }
  }
}
