import type { ShardId } from "@gossip/contracts";
import type { ShardRead } from "@gossip/coordination";
import type { RunAddress } from "@gossip/store-kit";
import type { Database } from "../database/database.ts";
import { headOf, joinedShardOf, tenantBytes, type HeadRow, type JoinedShardRow } from "../layout/rows.ts";
import { byteaArray, u64Array } from "../layout/server-array.ts";
import { READ_SHARD, READ_SHARDS } from "../sql/shard-reads.ts";
import { u64Bytes } from "../layout/u64-bytes.ts";

type ShardRow = HeadRow & JoinedShardRow;

interface Waiting {
  readonly address: RunAddress;
  readonly shard: ShardId;
  readonly settle: (read: ShardRead) => void;
  readonly fail: (thrown: unknown) => void;
}

/** Most statements in flight at once. Reads requested meanwhile wait, and share the next statement. */
const MOST_UNDER_WAY = 2;
const MAX_BATCH = 512;

const NOTHING: ShardRead = Object.freeze({ run: undefined, shard: undefined });

/**
 * Reads shards in batches. A claim that lost many shards to others reads all of them again at once, and one by one that would take
 * longer than claiming them.
 */
export class ShardReader {
  readonly #database: Database;
  #waiting: Waiting[] = [];
  #underWay = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  read(address: RunAddress, shard: ShardId): Promise<ShardRead> {
    return new Promise((settle, fail) => {
      this.#waiting.push({ address, shard, settle, fail });
      void this.#send();
    });
  }

  async #send(): Promise<void> {
    while (this.#underWay < MOST_UNDER_WAY && this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, MAX_BATCH);
      this.#waiting = this.#waiting.slice(MAX_BATCH);
      this.#underWay++;
      try {
        await (batch.length === 1 ? this.#readOne(batch[0]!) : this.#readMany(batch));
      } catch (thrown) {
        for (const { fail } of batch) fail(thrown);
      } finally {
        this.#underWay--;
      }
    }
  }

  async #readOne({ address, shard, settle }: Waiting): Promise<void> {
    const [row] = await this.#database.run<ShardRow>(READ_SHARD, [
      tenantBytes(address.tenant),
      u64Bytes(address.run),
      u64Bytes(shard),
    ]);
    settle(row === undefined ? NOTHING : readOf(address, row));
  }

  async #readMany(batch: readonly Waiting[]): Promise<void> {
    const rows = await this.#database.run<ShardRow & { readonly ordinal: number }>(READ_SHARDS, [
      byteaArray(batch.map(({ address }) => tenantBytes(address.tenant))),
      u64Array(batch.map(({ address }) => address.run)),
      u64Array(batch.map(({ shard }) => shard)),
    ]);
    const found = new Map(rows.map((row) => [row.ordinal, row]));
    for (const [index, { address, settle, fail }] of batch.entries()) {
      const row = found.get(index + 1);
      try {
        settle(row === undefined ? NOTHING : readOf(address, row));
      } catch (thrown) {
        // An unreadable record fails only its own read.
        fail(thrown);
      }
    }
  }
}

function readOf(address: RunAddress, row: ShardRow): ShardRead {
  return { run: headOf(address, row), shard: joinedShardOf(address, row) };
}
