import { err, ok, type Result } from "@gossip/stdx";
import type { SourceError } from "@gossip/worker";
import type { Pool, QueryConfig } from "pg";
import { codeOf } from "./database-failure.ts";
import { kindOf, type KeyColumn } from "./key-column.ts";
import type { KeyBound } from "./key-bound.ts";
import { parameterOf } from "./key-value.ts";
import { indexColumns, keyCondition, keySelection, orderOf, quoteName, ROWS, whereAll } from "./sql.ts";

/** A table that can be read in the order of a unique key. */
export interface Table {
  /** With its schema, quoted for SQL. */
  readonly sqlName: string;
  readonly oid: string;
  /** In the order of the key. */
  readonly key: readonly KeyColumn[];
  /** Only rows that meet this SQL condition are items. */
  readonly where: string | undefined;
}

export interface TableRequest {
  readonly schema: string;
  readonly table: string;
  /** The columns of the key. Default: those of the primary key. */
  readonly key?: readonly string[] | undefined;
  readonly where?: string | undefined;
  /** The columns of an item. Default: all. */
  readonly columns?: readonly string[] | undefined;
  readonly withoutIndex: "refuse" | "allow";
}

const FIND_TABLE = `
  SELECT c.oid::text AS oid, c.relkind::text AS kind, pg_encoding_to_char(d.encoding) AS encoding, current_setting('server_version_num')::int AS version
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, pg_database d
  WHERE n.nspname = $1 AND c.relname = $2 AND d.datname = current_database()`;

interface FoundTable {
  readonly oid: string;
  readonly kind: string;
  readonly encoding: string;
  readonly version: number;
}

/**
 * The columns of every unique index; for a domain, its base type. Collations equivalent to "C" sort by bytes too.
 * Indexes over expressions or over a part of the rows are left out.
 */
const FIND_KEYS = `
  SELECT i.indexrelid::text AS index, i.indisprimary AS is_primary, a.attname::text AS name, a.attnotnull AS not_null,
    CASE WHEN b.typnamespace = 'pg_catalog'::regnamespace THEN b.typname::text END AS base, format_type(a.atttypid, a.atttypmod) AS type,
    l.oid IS NULL OR l.collname IN ('C', 'POSIX', 'ucs_basic') OR l.collprovider::text = 'b'
      OR (l.collname = 'default' AND (d.datlocprovider::text = 'b' OR (d.datlocprovider::text = 'c' AND d.datcollate IN ('C', 'POSIX')))) AS by_bytes
  FROM pg_index i
    CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
    JOIN pg_type t ON t.oid = a.atttypid
    JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
    JOIN pg_database d ON d.datname = current_database()
  WHERE i.indrelid = $1::oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL AND k.place <= i.indnkeyatts
  ORDER BY i.indisprimary DESC, i.indexrelid, k.place`;

interface FoundColumn {
  readonly index: string;
  readonly is_primary: boolean;
  readonly name: string;
  readonly not_null: boolean;
  readonly base: string | null;
  readonly type: string;
  readonly by_bytes: boolean;
}

/** Before this version the server computes seconds as floating point numbers, which are not exact. */
const EXACT_TIMES_VERSION = 140_000;

/** An ordinary table has no partition tree. */
const READ_SIZE = `
  SELECT coalesce((SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree($1::oid::regclass)), pg_relation_size($1::oid::regclass))::text AS size`;

/** Up to this size, reading pages without an index is slow but acceptable. */
const LARGE_TABLE_BYTES = 16 * 1024 * 1024;

/** Looks a table up, and checks that its key can be a tuple key, and that the condition and the columns are valid. */
export async function findTable(pool: Pool, request: TableRequest): Promise<Result<Table, SourceError>> {
  const { schema, table, where, columns = [] } = request;
  const shown = `${schema}.${table}`;
  const found = (await pool.query<FoundTable>(FIND_TABLE, [schema, table])).rows[0];
  if (found === undefined) return err({ kind: "SourceMissing", reason: `there is no table ${shown}` });
  if (found.kind !== "r" && found.kind !== "p") return invalid(`${shown} is not a table`);
  const { rows } = await pool.query<FoundColumn>(FIND_KEYS, [found.oid]);
  const chosen = chooseKey(rows, request.key, shown);
  if (!chosen.ok) return chosen;
  const key = keyColumns(chosen.value, found, shown);
  if (!key.ok) return key;

  const answer: Table = {
    sqlName: `${quoteName(schema)}.${quoteName(table)}`,
    oid: found.oid,
    key: key.value,
    where,
  };
  if (where !== undefined && !(await isCondition(pool, answer, where)))
    return invalid(`the condition for the rows of ${shown} is not a valid SQL condition`);
  const missing = await missingColumns(pool, answer, columns);
  if (missing.length > 0)
    return invalid(`the table ${shown} has no column${missing.length === 1 ? "" : "s"} ${missing.join(", ")}`);
  if (
    request.withoutIndex === "refuse" &&
    !(await isServedByIndex(pool, answer)) &&
    (await tableSize(pool, answer)) > LARGE_TABLE_BYTES
  ) {
    return invalid(
      `no index of ${shown} is in the order of bytes: CREATE INDEX ON ${answer.sqlName} (${indexColumns(key.value)}), or allow reading without one`,
    );
  }
  return ok(answer);
}

/** The columns of the unique index that has exactly the wanted columns, or of the primary key. */
function chooseKey(
  rows: readonly FoundColumn[],
  wanted: readonly string[] | undefined,
  shown: string,
): Result<readonly FoundColumn[], SourceError> {
  const indexes = [...new Set(rows.map(({ index }) => index))].map((id) => rows.filter(({ index }) => index === id));
  const isWanted = (columns: readonly FoundColumn[]): boolean =>
    wanted === undefined
      ? columns[0]!.is_primary
      : columns.length === wanted.length && columns.every(({ name }, index) => name === wanted[index]);
  const chosen = indexes.find(isWanted);
  if (chosen === undefined && wanted === undefined)
    return invalid(`the table ${shown} has no primary key, and no other unique key was named`);
  if (chosen === undefined)
    return invalid(`no unique index of ${shown} has exactly the columns ${wanted!.join(", ")}, in this order`);
  const nullable = chosen.find(({ not_null: isNotNull }) => !isNotNull);
  if (nullable !== undefined) return invalid(`the column ${nullable.name} of ${shown} may be null, and a key may not`);
  return ok(chosen);
}

function keyColumns(
  columns: readonly FoundColumn[],
  { encoding, version }: FoundTable,
  shown: string,
): Result<readonly KeyColumn[], SourceError> {
  const key: KeyColumn[] = [];
  for (const { name, base, type, by_bytes: isByBytes } of columns) {
    const kind = base === null ? undefined : kindOf(base);
    if (base === null || kind === undefined)
      return invalid(`the column ${name} of the key of ${shown} has the type ${type}, whose order no key can follow`);
    if (kind === "text" && encoding !== "UTF8")
      return invalid(`the database is encoded in ${encoding}, and a key with text needs UTF8`);
    if (kind === "time" && version < EXACT_TIMES_VERSION)
      return invalid(`the column ${name} of the key of ${shown} has the type ${type}, which needs PostgreSQL 14`);
    key.push({ name, kind, sqlType: base, needsCollation: kind === "text" && !isByBytes });
  }
  return ok(key);
}

/**
 * Whether the server takes a text as a condition. It stands between two words here, so that no parenthesis, comment or
 * semicolon in it can reach the rest of a query.
 */
function isCondition(pool: Pool, { sqlName }: Table, where: string): Promise<boolean> {
  return isValidQuery(pool, `SELECT FROM ${sqlName} AS ${ROWS} WHERE CASE WHEN ${where}\n THEN true END`);
}

/** The columns that the server does not know. A function of the row counts as a column, as in every query. */
async function missingColumns(pool: Pool, { sqlName }: Table, names: readonly string[]): Promise<readonly string[]> {
  const areThere = (some: readonly string[]): Promise<boolean> =>
    isValidQuery(
      pool,
      `SELECT ${some.map((name) => `${ROWS}.${quoteName(name)}`).join(", ")} FROM ${sqlName} AS ${ROWS}`,
    );
  if (names.length === 0 || (await areThere(names))) return [];
  const missing: string[] = [];
  for (const name of names) if (!(await areThere([name]))) missing.push(name);
  return missing;
}

async function isValidQuery(pool: Pool, query: string): Promise<boolean> {
  try {
    // The extended protocol takes one statement only.
    await pool.query({ text: `EXPLAIN ${query}`, queryMode: "extended" } as QueryConfig);
    return true;
  } catch (thrown) {
    // SQLSTATE class 42: syntax errors, unknown columns, wrong types.
    if (codeOf(thrown)?.startsWith("42") === true && codeOf(thrown) !== "42501") return false;
    throw thrown;
  }
}

/** The rows from a bound on, in key order, for the end of a query. */
export function rowsFrom({ sqlName, key, where }: Table, bound: KeyBound): string {
  return `FROM ${sqlName} AS ${ROWS} ${whereAll([boundCondition(key, bound), where])} ORDER BY ${orderOf(key)}`;
}

/** A bound as SQL; `undefined` if every row meets it. */
export function boundCondition(key: readonly KeyColumn[], { operator, values }: KeyBound): string | undefined {
  return values.length === 0 ? undefined : keyCondition(key, operator, values.length);
}

export function parametersOf({ key }: Table, { values }: KeyBound): string[] {
  return values.map((value, index) => parameterOf(key[index]!, value));
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
    case "numeric":
      return "0";
    case "time":
    case "date":
      return "2000-01-01";
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
