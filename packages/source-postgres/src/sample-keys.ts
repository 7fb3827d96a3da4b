import { splitPointsFromSamples } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";
import type { WorkEstimate, WorkSpan } from "@gossip/worker";
import type { Pool } from "pg";
import { boundFrom, type KeyBound } from "./key-bound.ts";
import { keyOf } from "./key-value.ts";
import { keySelection, ROWS, whereAll } from "./sql.ts";
import { boundCondition, parametersOf, rowsFrom, tableSize, type Table } from "./table.ts";

const BLOCK_SIZE = 8192;
/** Blocks to sample per part. Rows of one block are neighbors, so a few blocks say little about the table. */
const BLOCKS_PER_PART = 32;
const FEWEST_BLOCKS = 256;
/** About how many keys a sample should have. */
const KEYS_WANTED = 16_384;
const ROWS_PER_BLOCK = 64;
const SAMPLE_SEED = 1;
/** Rows to read one by one before a sample stands for the rest. */
const ROWS_PROBED = 4096;
/** With fewer keys of a range, its beginning is a better guess. */
const FEWEST_SAMPLES = 8;
/** Parts of an estimate. */
const SPANS = 64;

const NO_BOUND = /* @__PURE__ */ new Uint8Array(0);
const FROM_START: KeyBound = { operator: ">=", values: [] };

/** Keys of a table, in no order. */
export interface KeySample {
  readonly keys: readonly Uint8Array[];
  /** How many rows each key stands for. */
  readonly rowsPerKey: number;
}

/** Keys of a table, or from `bound` on: all keys of a small table, otherwise a sample of its blocks. */
export async function sampleKeys(pool: Pool, table: Table, partCount: number, bound = FROM_START): Promise<KeySample> {
  const blocks = (await tableSize(pool, table)) / BLOCK_SIZE;
  const wanted = Math.max(FEWEST_BLOCKS, BLOCKS_PER_PART * partCount);
  const blockShare = Math.min(1, wanted / (blocks || 1));
  const rowShare = Math.min(1, KEYS_WANTED / (Math.min(blocks, wanted) * ROWS_PER_BLOCK || 1));
  const where = whereAll([
    boundCondition(table.key, bound),
    table.where,
    rowShare < 1 ? `random() < ${rowShare}` : undefined,
  ]);
  // Repeatable: a table that did not change is cut in the same places every time.
  const sample = blockShare < 1 ? `TABLESAMPLE SYSTEM (${100 * blockShare}) REPEATABLE (${SAMPLE_SEED})` : "";
  const text = `SELECT ${keySelection(table.key)} FROM ${table.sqlName} AS ${ROWS} ${sample} ${where}`;
  return { keys: await readKeys(pool, table, text, bound), rowsPerKey: 1 / (blockShare * rowShare) };
}

/** The middle key of the rows from `from` to below `end`; exact if there are few rows. */
export async function middleKey(
  pool: Pool,
  table: Table,
  { from, end }: { readonly from: Uint8Array; readonly end: Uint8Array },
): Promise<Uint8Array | undefined> {
  const bound = boundFrom(table.key, from);
  if (bound === undefined) return undefined;
  const isInside = (key: Uint8Array) =>
    compareBytes(key, from) >= 0 && (end.length === 0 || compareBytes(key, end) < 0);
  const probe = `SELECT ${keySelection(table.key)} ${rowsFrom(table, bound)} LIMIT ${ROWS_PROBED}`;
  const probed = await readKeys(pool, table, probe, bound);
  const near = probed.filter(isInside);
  const [lowest] = near;
  if (lowest === undefined) return undefined;
  const isAll = probed.length < ROWS_PROBED || !isInside(probed.at(-1)!);
  // The probe reads only the beginning of the range. Finding the middle of a larger range needs a sample.
  const sample = isAll ? near : (await sampleKeys(pool, table, 2, bound)).keys.filter(isInside);
  return splitPointsFromSamples({ start: lowest, end }, isAll || sample.length >= FEWEST_SAMPLES ? sample : near, 2)[0];
}

/** About how many rows there are, and between which keys. The spans cover all keys. */
export async function estimateRows(pool: Pool, table: Table): Promise<WorkEstimate> {
  const { keys, rowsPerKey } = await sampleKeys(pool, table, SPANS);
  const sorted = keys.toSorted(compareBytes);
  const perSpan = Math.max(1, Math.ceil(sorted.length / SPANS));
  const spans: WorkSpan[] = [];
  for (let from = 0; from === 0 || from < sorted.length; from += perSpan) {
    const to = Math.min(from + perSpan, sorted.length);
    spans.push({
      start: from === 0 ? NO_BOUND : sorted[from]!,
      end: sorted[to] ?? NO_BOUND,
      items: (to - from) * rowsPerKey,
    });
  }
  return { spans, isExact: rowsPerKey === 1 };
}

async function readKeys(pool: Pool, table: Table, text: string, bound: KeyBound): Promise<readonly Uint8Array[]> {
  const { rows } = await pool.query<string[]>({ text, values: parametersOf(table, bound), rowMode: "array" });
  return rows.flatMap((texts) => keyOf(table.key, texts) ?? []);
}
