import { assert, assertCount } from "@gossip/stdx";
import { Client, Pool, type PoolConfig } from "pg";
import { isName, MAX_NAME_SIZE } from "./table-name.ts";

export interface PostgresTableOptions {
  /** `postgres://user:password@host:port/database`, with options such as `?sslmode=verify-full`. This or `pool`. */
  readonly url?: string;
  /** Connections of the caller, who also closes them. Their settings stay as they are. This or `url`. */
  readonly pool?: Pool;
  /** The exact name, without quotes. `parseTableName` reads names as they are written in SQL. */
  readonly table: string;
  /** Default: `public`. */
  readonly schema?: string;
  /** The columns of a unique index, in its order, none of which may be null. Default: the primary key. */
  readonly key?: readonly string[];
  /**
   * An SQL condition on the columns of the table, such as `state = 'open'`: other rows are not items. It is part of
   * every query, with the rights of the login: never take it from someone else.
   */
  readonly where?: string;
  /** The columns of an item. Default: all. The key is always read. */
  readonly columns?: readonly string[];
  /** Rows per query. Default: 1000. */
  readonly batchSize?: number;
  /**
   * Whether to read a large table without an index in byte order, although every query scans all of it.
   * Default: refuse.
   */
  readonly withoutIndex?: "refuse" | "allow";
  /** Most connections at once, for a `url`. Default: 4. */
  readonly maxConnections?: number;
  /** How long to wait for a connection, for a `url`. Default: 10 seconds. */
  readonly connectTimeoutMs?: number;
  /** How long to wait for a reply, for a `url`. Default: 60 seconds. */
  readonly statementTimeoutMs?: number;
  /** Node's TLS options, for a `url` without `sslmode`. */
  readonly ssl?: PoolConfig["ssl"];
}

const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_BATCH_SIZE = 100_000;
const MAX_PORT = 65_535;
/**
 * Makes the server read pages in index order. A plan made before the table had statistics would sort the whole table
 * instead.
 */
const TUNE_SESSION = "SET enable_sort = off; SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off";

/** A pool for a `url`; `undefined` if the URL is invalid. The driver's message would quote it. */
export function makePool(options: PostgresTableOptions): Pool | undefined {
  const { url = "", maxConnections = 4, connectTimeoutMs = 10_000, statementTimeoutMs = 60_000, ssl } = options;
  if (!isUsableUrl(url)) return undefined;
  try {
    const pool = new Pool({
      connectionString: url,
      // A name in the URL or in PGAPPNAME wins. The PostgreSQL store recognizes this name as not that of an older store.
      fallback_application_name: "gossip source",
      max: maxConnections,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: statementTimeoutMs,
      keepAlive: true,
      // An open source does not keep an idle process alive.
      allowExitOnIdle: true,
      // The pool awaits the promise, although its type does not mention it.
      onConnect: tune as NonNullable<PoolConfig["onConnect"]>,
      ...(ssl === undefined ? {} : { ssl }),
    });
    // The pool itself removes an idle connection that breaks.
    pool.on("error", () => undefined);
    return pool;
  } catch {
    return undefined;
  }
}

async function tune(client: { query(text: string): Promise<unknown> }): Promise<void> {
  await client.query(TUNE_SESSION);
}

/** With an invalid port the driver throws where nothing catches it, and `connect` never settles. */
function isUsableUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, searchParams } = new URL(text);
  if (protocol !== "postgres:" && protocol !== "postgresql:") return false;
  if (!/^\d{0,5}$/.test(searchParams.get("port") ?? "")) return false;
  try {
    // It connects to nothing, and reads the environment as the connections will.
    const { port } = new Client({ connectionString: text });
    return port >= 1 && port <= MAX_PORT;
  } catch {
    return false;
  }
}

export function assertOptions(options: PostgresTableOptions): void {
  assert(
    typeof options === "object" && options !== null,
    () => `postgres table options must be an object, got ${typeof options}`,
  );
  const {
    url,
    pool,
    table,
    schema,
    columns,
    key,
    where,
    batchSize,
    withoutIndex,
    maxConnections,
    connectTimeoutMs,
    statementTimeoutMs,
  } = options;
  assert((url === undefined) !== (pool === undefined), "a postgres table needs either a url or a pool");
  assert(url === undefined || typeof url === "string", () => `url must be a text, got a value of type ${typeof url}`);
  assert(
    pool === undefined || typeof (pool as { connect?: unknown } | null)?.connect === "function",
    "pool must be a Pool of the pg package",
  );
  assertName(table, "table");
  if (schema !== undefined) assertName(schema, "schema");
  for (const [what, names] of Object.entries({ columns, key })) {
    if (names === undefined) continue;
    assert(Array.isArray(names), `${what} must be an array of names`);
    for (const name of names) assertName(name, "a column");
  }
  assert(key === undefined || key.length > 0, "key must name at least one column");
  assert(
    where === undefined || (typeof where === "string" && where.trim() !== "" && !where.includes("\0")),
    "where must be an SQL condition",
  );
  assert(
    withoutIndex === undefined || withoutIndex === "refuse" || withoutIndex === "allow",
    'withoutIndex must be "refuse" or "allow"',
  );
  if (batchSize !== undefined) assertCount(batchSize, "batchSize", { min: 1, max: MAX_BATCH_SIZE });
  if (maxConnections !== undefined) assertCount(maxConnections, "maxConnections", { min: 1, max: 10_000 });
  for (const [name, value] of Object.entries({ connectTimeoutMs, statementTimeoutMs })) {
    if (value !== undefined) assertCount(value, name, { min: 1, max: MAX_TIMEOUT_MS });
  }
}

function assertName(name: unknown, what: string): void {
  assert(typeof name === "string" && isName(name), `${what} must be a name of 1 to ${MAX_NAME_SIZE} bytes`);
}
