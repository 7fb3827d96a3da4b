import { splitPointsFromSamples } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";
import type { Pool } from "pg";
import { boundFrom, type KeyBound } from "./key-bound.ts";
import { keyOf } from "./key-value.ts";
import { keyCondition, keySelection, orderOf, ROWS } from "./sql.ts";
import { tableSize, type Table } from "./table.ts";

const BLOCK_SIZE = 8192;
/** Blocks to sample per part. Rows of one block are neighbors, so a few blocks say little about the table. */
const BLOCKS_PER_PART = 32;
const FEWEST_BLOCKS = 256;
/** About how many keys a sample should have. */
const KEYS_WANTED = 16_384;
const ROWS_PER_BLOCK = 64;
/** Rows to read one by one before a sample stands for the rest. */
const ROWS_PROBED = 4096;
/** With fewer keys of a range, its beginning is a better guess. */
const FEWEST_SAMPLES = 8;

/** Keys of a table, or from `bound` on, in no order: all keys of a small table, otherwise a sample of its blocks. */
export async function sampleKeys(
  pool: Pool,
  table: Table,
  partCount: number,
  bound?: KeyBound,
): Promise<readonly Uint8Array[]> {
  const blocks = (await tableSize(pool, table)) / BLOCK_SIZE;
  const wanted = Math.max(FEWEST_BLOCKS, BLOCKS_PER_PART * partCount);
  const isSampled = blocks > wanted;
  const looked = Math.min(blocks, wanted);
  const share = Math.min(1, KEYS_WANTED / (looked * ROWS_PER_BLOCK || 1));
  const conditions = [
    ...(bound === undefined || bound.values.length === 0
      ? []
      : [keyCondition(table.key, bound.operator, bound.values.length)]),
    ...(share < 1 ? [`random() < ${share}`] : []),
  ];
  const from = isSampled
    ? `${table.sqlName} AS ${ROWS} TABLESAMPLE SYSTEM (${Math.min(100, (100 * wanted) / blocks)})`
    : `${table.sqlName} AS ${ROWS}`;
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  return readKeys(pool, table, `SELECT ${keySelection(table.key)} FROM ${from} ${where}`, bound?.values ?? []);
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
  const condition =
    bound.values.length === 0 ? "" : `WHERE ${keyCondition(table.key, bound.operator, bound.values.length)}`;
  const probe = `SELECT ${keySelection(table.key)} FROM ${table.sqlName} AS ${ROWS} ${condition} ORDER BY ${orderOf(table.key)} LIMIT ${ROWS_PROBED}`;
  const probed = await readKeys(pool, table, probe, bound.values);
  const near = probed.filter(isInside);
  const [lowest] = near;
  if (lowest === undefined) return undefined;
  const isAll = probed.length < ROWS_PROBED || !isInside(probed.at(-1)!);
  // The probe reads only the beginning of the range. Finding the middle of a larger range needs a sample.
  const sample = isAll ? near : (await sampleKeys(pool, table, 2, bound)).filter(isInside);
  return splitPointsFromSamples({ start: lowest, end }, isAll || sample.length >= FEWEST_SAMPLES ? sample : near, 2)[0];
}

async function readKeys(
  pool: Pool,
  { key }: Table,
  text: string,
  values: readonly string[],
): Promise<readonly Uint8Array[]> {
  const { rows } = await pool.query<string[]>({ text, values: [...values], rowMode: "array" });
  return rows.flatMap((texts) => keyOf(key, texts) ?? []);
}
