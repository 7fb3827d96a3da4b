import { assert } from "@gossip/stdx";
import type { Pool } from "pg";

/** Most statements in flight at once. */
export interface BatchedRowsOptions {
  readonly inFlight: number;
}

interface Waiting {
  readonly row: number;
  readonly record: Buffer;
  readonly settle: () => void;
  readonly fail: (thrown: unknown) => void;
}

const CREATE = `
CREATE TABLE IF NOT EXISTS best (run_id bigint, shard bytea, version bigint NOT NULL, record bytea NOT NULL, PRIMARY KEY (run_id, shard)) WITH (fillfactor = 80)`;

// The records are one buffer, which the driver sends unchanged. It would convert an array of them to text, twice as long.
const COMPARE_AND_SET = {
  name: "compare_and_set",
  text: `UPDATE best b SET version = b.version + 1, record = substring($4::bytea FROM given.start FOR given.size)
         FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $5::int[], $6::int[]) AS given(run_id, shard, guard, start, size)
         WHERE b.run_id = given.run_id AND b.shard = given.shard AND b.version = given.guard RETURNING b.shard`,
};
const SINGLE_COMPARE_AND_SET = {
  name: "single_compare_and_set",
  text: "UPDATE best SET version = version + 1, record = $4 WHERE run_id = $1 AND shard = $2 AND version = $3 RETURNING shard",
};

/**
 * The best that the engine can do for callers that each write their own row, guarded by its version: writes that arrive while a
 * statement is in flight share the next.
 */
export class BatchedRows {
  readonly #pool: Pool;
  readonly #inFlight: number;
  readonly #runId: number;
  readonly #shards: readonly Buffer[];
  readonly #versions: number[];
  #waiting: Waiting[] = [];
  #underWay = 0;
  #isScheduled = false;

  private constructor(
    pool: Pool,
    runId: number,
    { inFlight, shards }: BatchedRowsOptions & { readonly shards: readonly Buffer[] },
  ) {
    this.#pool = pool;
    this.#runId = runId;
    this.#inFlight = inFlight;
    this.#shards = shards;
    this.#versions = shards.map(() => 0);
  }

  static async make(
    pool: Pool,
    runId: number,
    { inFlight, count, recordSize }: BatchedRowsOptions & { readonly count: number; readonly recordSize: number },
  ): Promise<BatchedRows> {
    const shards = Array.from({ length: count }, (_, index) => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt32BE(index, 4);
      return bytes;
    });
    await pool.query(CREATE);
    for (const shard of shards)
      await pool.query("INSERT INTO best VALUES ($1, $2, 0, $3)", [runId, shard, Buffer.alloc(recordSize)]);
    return new BatchedRows(pool, runId, { inFlight, shards });
  }

  /** Write a row. Settles when it is committed. */
  put(row: number, record: Buffer): Promise<void> {
    return new Promise((settle, fail) => {
      this.#waiting.push({ row, record, settle, fail });
      if (this.#isScheduled || this.#underWay >= this.#inFlight) return;
      this.#isScheduled = true;
      queueMicrotask(() => {
        this.#isScheduled = false;
        void this.#send();
      });
    });
  }

  /** Write a row by itself. */
  async putAlone(row: number, record: Buffer): Promise<void> {
    const { rowCount } = await this.#pool.query({
      ...SINGLE_COMPARE_AND_SET,
      values: [this.#runId, this.#shards[row], this.#versions[row], record],
    });
    assert(rowCount === 1, "the guard holds");
    this.#versions[row]! += 1;
  }

  async #send(): Promise<void> {
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    this.#underWay++;
    try {
      const { rowCount } = await this.#pool.query({ ...COMPARE_AND_SET, values: this.#valuesOf(batch) });
      assert(rowCount === batch.length, "every guard holds");
      for (const { row, settle } of batch) {
        this.#versions[row]! += 1;
        settle();
      }
    } catch (thrown) {
      for (const { fail } of batch) fail(thrown);
    } finally {
      this.#underWay--;
    }
    void this.#send();
  }

  #valuesOf(batch: readonly Waiting[]): unknown[] {
    let offset = 1;
    const offsets = batch.map(({ record }) => {
      const start = offset;
      offset += record.length;
      return start;
    });
    return [
      batch.map(() => this.#runId),
      batch.map(({ row }) => this.#shards[row]),
      batch.map(({ row }) => this.#versions[row]),
      Buffer.concat(batch.map(({ record }) => record)),
      offsets,
      batch.map(({ record }) => record.length),
    ];
  }
}
