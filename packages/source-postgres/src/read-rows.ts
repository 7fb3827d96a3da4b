import { compareBytes } from "@gossip/stdx";
import type { ItemBatch, ItemProblem } from "@gossip/worker";
import type { Pool } from "pg";
import { boundFrom, type KeyBound } from "./key-bound.ts";
import { keyOf, shortenedKey } from "./key-value.ts";
import { RowItem } from "./row-item.ts";
import { keySelection, quoteName, ROWS } from "./sql.ts";
import { parametersOf, rowsFrom, type Table } from "./table.ts";

export interface RowsRequest {
  readonly pool: Pool;
  readonly table: Table;
  readonly columns: readonly string[] | undefined;
  readonly batchSize: number;
  /** Keys at or above this and below `end`. An empty key means no bound. */
  readonly from: Uint8Array;
  readonly end: Uint8Array;
  readonly signal: AbortSignal;
}

/**
 * The rows of a range, one query per page, each after the last row of the previous page. Holds no connection in
 * between.
 */
export async function* readRows(request: RowsRequest): AsyncGenerator<ItemBatch<RowItem>> {
  const { table, from, end, batchSize, signal } = request;
  let bound = boundFrom(table.key, from);
  let previous = from;
  while (bound !== undefined) {
    signal.throwIfAborted();
    const page = await untilAborted(readPage(request, bound), signal);
    const items: RowItem[] = [];
    const problems: ItemProblem[] = [];
    let isBehindEnd = false;
    for (const values of page.rows) {
      const texts = values.slice(0, table.key.length) as string[];
      const own = keyOf(table.key, texts);
      const key = own ?? higher(shortenedKey(table.key, texts), previous);
      // A bound that is not the key of a row admits a few rows below it.
      if (compareBytes(key, from) < 0) continue;
      isBehindEnd = end.length > 0 && compareBytes(key, end) >= 0;
      if (isBehindEnd) break;
      previous = key;
      if (own !== undefined) items.push(new RowItem(key, page.names, values, table.key.length));
      else problems.push({ key, reason: "the key of a row is too large" });
    }
    if (items.length > 0 || problems.length > 0) yield { items, problems };
    const last = page.rows.at(-1);
    if (isBehindEnd || last === undefined || page.rows.length < batchSize) return;
    bound = { operator: ">", values: last.slice(0, table.key.length) as string[] };
  }
}

interface Page {
  readonly names: readonly string[];
  /** The parts of the key as text, then the columns. */
  readonly rows: readonly (readonly unknown[])[];
}

async function readPage({ pool, table, columns, batchSize }: RowsRequest, bound: KeyBound): Promise<Page> {
  const selected = columns === undefined ? [`${ROWS}.*`] : columns.map((name) => `${ROWS}.${quoteName(name)}`);
  const text = `SELECT ${[keySelection(table.key), ...selected].join(", ")} ${rowsFrom(table, bound)} LIMIT ${batchSize}`;
  const { fields, rows } = await pool.query<unknown[]>({ text, values: parametersOf(table, bound), rowMode: "array" });
  return { names: fields.slice(table.key.length).map(({ name }) => name), rows };
}

/**
 * Stops waiting for a query on abort, so that a lock cannot block a worker that lost its shard. The query continues, and
 * its connection then returns to the pool.
 */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
    work.catch(() => undefined);
  }
}

/** Keys of problems must not go backwards. */
function higher(a: Uint8Array, b: Uint8Array): Uint8Array {
  return compareBytes(a, b) < 0 ? b : a;
}
