import { err, ok, type Result } from "@gossip/stdx";
import type { SourceError } from "@gossip/worker";
import type { Pool } from "pg";
import { kindOf, type KeyColumn } from "./key-column.ts";
import { indexColumns, keyCondition, keySelection, orderOf, quoteName, ROWS } from "./sql.ts";

/** A table that can be read in the order of its primary key. */
export interface Table {
  /** With its schema, quoted for SQL. */
  readonly sqlName: string;
  readonly oid: string;
  /** In the order of the key. */
  readonly key: readonly KeyColumn[];
}

export interface TableRequest {
  readonly schema: string;
  readonly table: string;
  readonly withoutIndex: "refuse" | "allow";
}

const FIND_TABLE = `
  SELECT c.oid::text AS oid, c.relkind::text AS kind, pg_encoding_to_char(d.encoding) AS encoding
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, pg_database d
  WHERE n.nspname = $1 AND c.relname = $2 AND d.datname = current_database()`;

/** The columns of the key; for a domain, its base type. Collations equivalent to "C" sort by bytes too. */
const FIND_KEY = `
  SELECT a.attname::text AS name, CASE WHEN b.typnamespace = 'pg_catalog'::regnamespace THEN b.typname::text END AS base, format_type(a.atttypid, a.atttypmod) AS type,
    l.oid IS NULL OR l.collname IN ('C', 'POSIX', 'ucs_basic') OR l.collprovider::text = 'b'
      OR (l.collname = 'default' AND (d.datlocprovider::text = 'b' OR (d.datlocprovider::text = 'c' AND d.datcollate IN ('C', 'POSIX')))) AS by_bytes
  FROM pg_index i
    CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
    JOIN pg_type t ON t.oid = a.atttypid
    JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
    JOIN pg_database d ON d.datname = current_database()
  WHERE i.indrelid = $1::oid AND i.indisprimary AND k.place <= i.indnkeyatts
  ORDER BY k.place`;

/** An ordinary table has no partition tree. */
const READ_SIZE = `
  SELECT coalesce((SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree($1::oid::regclass)), pg_relation_size($1::oid::regclass))::text AS size`;

/** Up to this size, reading pages without an index is slow but acceptable. */
const LARGE_TABLE_BYTES = 16 * 1024 * 1024;

/** Looks a table up, and checks that its primary key can be a tuple key. */
export async function findTable(pool: Pool, request: TableRequest): Promise<Result<Table, SourceError>> {
  const { schema, table } = request;
  const shown = `${schema}.${table}`;
  const found = (await pool.query<{ oid: string; kind: string; encoding: string }>(FIND_TABLE, [schema, table]))
    .rows[0];
  if (found === undefined) return err({ kind: "SourceMissing", reason: `there is no table ${shown}` });
  if (found.kind !== "r" && found.kind !== "p") return invalid(`${shown} is not a table`);
  const { rows } = await pool.query<{ name: string; base: string | null; type: string; by_bytes: boolean }>(FIND_KEY, [
    found.oid,
  ]);
  if (rows.length === 0) return invalid(`the table ${shown} has no primary key`);

  const key: KeyColumn[] = [];
  for (const { name, base, type, by_bytes: isByBytes } of rows) {
    const kind = base === null ? undefined : kindOf(base);
    if (base === null || kind === undefined)
      return invalid(`the column ${name} of the key of ${shown} has the type ${type}, whose order no key can follow`);
    if (kind === "text" && found.encoding !== "UTF8")
      return invalid(`the database is encoded in ${found.encoding}, and a key with text needs UTF8`);
    key.push({ name, kind, sqlType: base, needsCollation: kind === "text" && !isByBytes });
  }
  const answer = { sqlName: `${quoteName(schema)}.${quoteName(table)}`, oid: found.oid, key };
  if (
    request.withoutIndex === "refuse" &&
    !(await isServedByIndex(pool, answer)) &&
    (await tableSize(pool, answer)) > LARGE_TABLE_BYTES
  ) {
    return invalid(
      `no index of ${shown} is in the order of bytes: CREATE INDEX ON ${answer.sqlName} (${indexColumns(key)}), or allow reading without one`,
    );
  }
  return ok(answer);
}

/** The size of a table and its partitions, in bytes. */
export async function tableSize(pool: Pool, { oid }: Table): Promise<number> {
  const { rows } = await pool.query<{ size: string }>(READ_SIZE, [oid]);
  return Number(rows[0]?.size ?? 0);
}

/** Whether the server can read a page in key order without sorting the table, if sorting is disabled. */
async function isServedByIndex(pool: Pool, { sqlName, key }: Table): Promise<boolean> {
  if (!key.some(({ needsCollation }) => needsCollation)) return true;
  const page = `SELECT ${keySelection(key)} FROM ${sqlName} AS ${ROWS} WHERE ${keyCondition(key, ">", key.length)} ORDER BY ${orderOf(key)} LIMIT 1`;
  const client = await pool.connect();
  // A connection that breaks between two statements emits an `error` event; without a listener the process would end.
  const ignore = (): void => {};
  client.on("error", ignore);
  let isBroken = true;
  try {
    await client.query(
      "BEGIN; SET LOCAL enable_sort = off; SET LOCAL enable_incremental_sort = off; SET LOCAL enable_seqscan = off",
    );
    const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN ${page}`, key.map(sampleValue));
    await client.query("ROLLBACK");
    isBroken = false;
    return !rows.some((row) => /\bSort\b/.test(row["QUERY PLAN"]));
  } finally {
    client.off("error", ignore);
    client.release(isBroken);
  }
}

function sampleValue({ kind }: KeyColumn): string {
  switch (kind) {
    case "integer":
      return "0";
    case "uuid":
      return "00000000-0000-0000-0000-000000000000";
    case "boolean":
      return "false";
    case "text":
    case "bytes":
      return "";
  }
}

function invalid(reason: string): Result<never, SourceError> {
  return err({ kind: "SourceInvalid", reason });
}
