import type { ShardSpec } from "@gossip/contracts";
import { splitPointsFromSamples } from "@gossip/frontier";
import { err, ok, type Result } from "@gossip/stdx";
import {
  assertPlanRequest,
  readBounds,
  shardsBetween,
  SourceReadFailed,
  type EstimateRequest,
  type ItemBatch,
  type PlanRequest,
  type ReadRequest,
  type Source,
  type SourceError,
  type SplitRequest,
  type WorkEstimate,
} from "@gossip/worker";
import type { Pool } from "pg";
import { readFailureFrom, sourceErrorFrom } from "./database-failure.ts";
import type { KeyColumn, KeyKind } from "./key-column.ts";
import { describeTableKey } from "./key-value.ts";
import { readRows } from "./read-rows.ts";
import type { RowItem } from "./row-item.ts";
import { estimateRows, middleKey, sampleKeys } from "./sample-keys.ts";
import { assertOptions, makePool, type PostgresTableOptions } from "./table-options.ts";
import { findTable, type Table } from "./table.ts";

/** Below and above every tuple. */
const EVERY_TUPLE = { start: Uint8Array.of(0x00), end: Uint8Array.of(0xff) };

/** A table's rows as a source. If it has a `url`, its creator closes it: `close()`, or `await using`. */
export interface PostgresTableSource<Row extends object = Record<string, unknown>>
  extends Source<RowItem<Row>>, AsyncDisposable {
  /** What the columns of the key are. `undefined` until the table has been looked up, by `plan` or `read`. */
  readonly keyKinds: readonly KeyKind[] | undefined;
  /** Closes the connections that a `url` opened; a `pool` belongs to the caller. Later reads fail. */
  close(): Promise<void>;
}

/**
 * The rows of a table, in the order of its primary key or of another unique key.
 *
 * A row's key is the tuple of its key columns. Every page is a separate query and sees what was committed before it:
 * rows inserted during a run are items if they are after the last row read, and are not otherwise.
 */
export function postgresTableSource<Row extends object = Record<string, unknown>>(
  options: PostgresTableOptions,
): PostgresTableSource<Row> {
  assertOptions(options);
  // The caller vouches for the columns.
  return new TableRows(options) as PostgresTableSource as PostgresTableSource<Row>;
}

class TableRows implements PostgresTableSource {
  readonly name = "postgres";
  readonly #options: PostgresTableOptions;
  #own: Pool | undefined;
  #table: Promise<Result<Table, SourceError>> | undefined;
  /** The columns of the key, once they are known. */
  #columns: readonly KeyColumn[] | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: PostgresTableOptions) {
    this.#options = options;
  }

  async plan(request: PlanRequest): Promise<Result<readonly ShardSpec[], SourceError>> {
    assertPlanRequest(request);
    const { shardCount, signal } = request;
    try {
      const { pool, table } = await this.#open();
      signal?.throwIfAborted();
      const samples = shardCount === 1 ? [] : (await sampleKeys(pool, table, shardCount)).keys;
      return ok(shardsBetween(EVERY_TUPLE, splitPointsFromSamples(EVERY_TUPLE, samples, shardCount)));
    } catch (thrown) {
      signal?.throwIfAborted();
      return err(sourceErrorFrom(thrown));
    }
  }

  async *read(request: ReadRequest): AsyncGenerator<ItemBatch<RowItem>> {
    const bounds = readBounds(request);
    if (bounds === undefined) return;
    const { signal } = request;
    const { columns, batchSize = 1000 } = this.#options;
    try {
      signal.throwIfAborted();
      const { pool, table } = await this.#open();
      yield* readRows({ pool, table, columns, batchSize, ...bounds, signal });
    } catch (thrown) {
      signal.throwIfAborted();
      throw readFailureFrom(thrown);
    }
  }

  async splitPoint(request: SplitRequest): Promise<Uint8Array | undefined> {
    const bounds = readBounds(request);
    if (bounds === undefined) return undefined;
    try {
      const { pool, table } = await this.#open();
      return await middleKey(pool, table, bounds);
    } catch {
      // Only advice: the next read fails the same way, and reports it.
      return undefined;
    }
  }

  /** From a sample of the table's blocks, as for `plan`: it costs a few hundred blocks, however large the table is. */
  async *estimate({ signal }: EstimateRequest): AsyncGenerator<WorkEstimate> {
    signal.throwIfAborted();
    const { pool, table } = await this.#open();
    yield await estimateRows(pool, table);
  }

  /** Times and numerics are shown as such once the table has been looked up. */
  describeKey(key: Uint8Array): string {
    return describeTableKey(this.keyKinds ?? [], key);
  }

  get keyKinds(): readonly KeyKind[] | undefined {
    return this.#columns?.map(({ kind }) => kind);
  }

  close(): Promise<void> {
    this.#closing ??= this.#own?.end() ?? Promise.resolve();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #open(): Promise<{ readonly pool: Pool; readonly table: Table }> {
    if (this.#closing !== undefined)
      throw new SourceReadFailed({ kind: "SourceUnreadable", reason: "the source is closed" });
    const pool = this.#options.pool ?? (this.#own ??= makePool(this.#options));
    if (pool === undefined)
      throw new SourceReadFailed({
        kind: "SourceInvalid",
        reason: "the URL cannot be used: write postgres://user:password@host:port/database",
      });
    const { schema = "public", table, key, where, columns, withoutIndex = "refuse" } = this.#options;
    // Looked up once, and again after a failure: tables get created and servers recover.
    this.#table ??= findTable(pool, { schema, table, key, where, columns, withoutIndex });
    try {
      const found = await this.#table;
      if (found.ok) {
        this.#columns = found.value.key;
        return { pool, table: found.value };
      }
      throw new SourceReadFailed(found.error);
    } catch (thrown) {
      this.#table = undefined;
      throw thrown;
    }
  }
}
