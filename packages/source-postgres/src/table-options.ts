import { assert, assertCount } from "@gossip/stdx";
import { Client, Pool, type PoolConfig } from "pg";

export interface PostgresTableOptions {
  /** `postgres://user:password@host:port/database`, with `?sslmode=verify-full` and the like where wanted. This or `pool`. */
  readonly url?: string;
  /** Connections of the caller, who also closes them. Their settings stay as they are. This or `url`. */
  readonly pool?: Pool;
  readonly table: string;
  /** `public` where it is left out. */
  readonly schema?: string;
  /** The columns that items carry: all where it is left out. The key is always read. */
  readonly columns?: readonly string[];
  /** Rows a query. 1000 where it is left out. */
  readonly batchSize?: number;
  /**
   * Whether to read a large table that has no index in the order of bytes, where every query goes through all of it.
   * Refused where it is left out.
   */
  readonly withoutIndex?: "refuse" | "allow";
  /** Most connections at once, for a `url`. 4 where it is left out. */
  readonly maxConnections?: number;
  /** How long to wait for a connection, for a `url`. 10 seconds where it is left out. */
  readonly connectTimeoutMs?: number;
  /** How long to wait for an answer, for a `url`. 60 seconds where it is left out. */
  readonly statementTimeoutMs?: number;
  /** TLS as Node has it, for a `url` that does not say. */
  readonly ssl?: PoolConfig["ssl"];
}

const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_BATCH_SIZE = 100_000;
const MAX_PORT = 65_535;
/** Longest name that the server takes, in bytes. */
const MAX_NAME_SIZE = 63;

/** Pages are read through an index in its order. A plan that was made before the table had statistics would sort all of it instead. */
const TUNE_SESSION = "SET enable_sort = off; SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off";

/** Connections for a `url`; `undefined` where it cannot be used. The driver's own message would quote it. */
export function makePool(options: PostgresTableOptions): Pool | undefined {
  const { url = "", maxConnections = 4, connectTimeoutMs = 10_000, statementTimeoutMs = 60_000, ssl } = options;
  if (!isUsableUrl(url)) return undefined;
  try {
    const pool = new Pool({
      connectionString: url,
      // A name in the URL or in PGAPPNAME wins. The PostgreSQL store knows by ours that it is no store of an older version.
      fallback_application_name: "gossip source",
      max: maxConnections,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: statementTimeoutMs,
      keepAlive: true,
      // A process that has nothing left to do ends, even where the source was not closed.
      allowExitOnIdle: true,
      // The pool awaits it, whatever its type says.
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

/** With a port that is not one the driver throws where nothing catches it, and `connect` never settles. */
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
  if (columns !== undefined) {
    assert(Array.isArray(columns), "columns must be an array of names");
    for (const column of columns) assertName(column, "a column");
  }
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
  const isName =
    typeof name === "string" && name.length > 0 && !name.includes("\0") && Buffer.byteLength(name) <= MAX_NAME_SIZE;
  assert(isName, `${what} must be a name of 1 to ${MAX_NAME_SIZE} bytes`);
}
