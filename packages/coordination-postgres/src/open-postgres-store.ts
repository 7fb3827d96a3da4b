import { assert, assertCount, err, InvariantViolation, ok, Redacted, type Result } from "@gossip/stdx";
import { Pool, type PoolConfig } from "pg";
import { Database } from "./database.ts";
import { migrate } from "./migrate.ts";
import { codeOf } from "./postgres-failure.ts";
import type { PostgresOpenError } from "./postgres-open-error.ts";
import { PostgresStore } from "./postgres-store.ts";
import { READ_SERVER_VERSION } from "./sql/migrations.ts";
import { TUNE_SESSION } from "./sql/tune-session.ts";

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`, with `?sslmode=verify-full` and the like where wanted. This or `pool`. */
  readonly url?: string;
  /** Connections of the caller, who also closes them. Their settings stay as they are. This or `url`. */
  readonly pool?: Pool;
  /** Where the tables are: lower-case letters, digits and `_`. `gossip` where it is left out. */
  readonly schema?: string;
  /** Whether missing or older tables are made or brought up to date. True where it is left out. */
  readonly migrate?: boolean;
  /** Most connections at once, for a `url`. 8 where it is left out. */
  readonly maxConnections?: number;
  /** How long to wait for a connection, for a `url`. 10 seconds where it is left out. */
  readonly connectTimeoutMs?: number;
  /** How long to wait for an answer before its outcome counts as unknown, for a `url`. 60 seconds where it is left out. */
  readonly statementTimeoutMs?: number;
  /** TLS as Node has it, for a `url` that does not say. */
  readonly ssl?: PoolConfig["ssl"];
}

/** The oldest server that this is tested on. */
const OLDEST_SERVER = 15;
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const ignore = (): void => undefined;

/** Open a database as a store, and see to its tables. */
export async function openPostgresStore(
  options: PostgresStoreOptions,
): Promise<Result<PostgresStore, PostgresOpenError>> {
  assertOptions(options);
  const { schema = "gossip", migrate: mayMigrate = true } = options;
  const pool = options.pool ?? makePool(options);
  if (pool === undefined) return err({ kind: "InvalidUrl" });
  const release = async () => {
    if (options.pool === undefined) await pool.end();
  };
  const opened = await open(pool, { schema, migrate: mayMigrate });
  if (opened.ok) return ok(new PostgresStore({ database: new Database(pool, quoted(schema)), release }));
  await release();
  return opened;
}

async function open(
  pool: Pool,
  options: { readonly schema: string; readonly migrate: boolean },
): Promise<Result<void, PostgresOpenError>> {
  try {
    const { rows } = await pool.query<{ version: number }>(READ_SERVER_VERSION);
    const found = Math.floor((rows[0]?.version ?? 0) / 10_000);
    if (found < OLDEST_SERVER) return err({ kind: "OldServer", found, supported: OLDEST_SERVER });
    return await migrate(pool, { schema: quoted(options.schema), migrate: options.migrate });
  } catch (thrown) {
    if (thrown instanceof InvariantViolation) throw thrown;
    return err(openErrorFrom(thrown));
  }
}

/** `undefined` where the URL is none. The driver's own complaint would quote it. */
function makePool(options: PostgresStoreOptions): Pool | undefined {
  const { url = "", maxConnections = 8, connectTimeoutMs = 10_000, statementTimeoutMs = 60_000, ssl } = options;
  if (!isPostgresUrl(url)) return undefined;
  try {
    const pool = new Pool({
      connectionString: url,
      max: maxConnections,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: statementTimeoutMs,
      keepAlive: true,
      // A program that ends without closing the store must not wait for connections that nobody uses.
      allowExitOnIdle: true,
      // It is waited for, whatever its type says.
      onConnect: tune as NonNullable<PoolConfig["onConnect"]>,
      ...(ssl === undefined ? {} : { ssl }),
    });
    // An idle connection that breaks is taken out of the pool by the pool; that is all there is to do.
    pool.on("error", ignore);
    return pool;
  } catch {
    return undefined;
  }
}

async function tune(client: { query(text: string): Promise<unknown> }): Promise<void> {
  await client.query(TUNE_SESSION);
}

function isPostgresUrl(url: string): boolean {
  try {
    const { protocol } = new URL(url);
    return protocol === "postgres:" || protocol === "postgresql:";
  } catch {
    return false;
  }
}

function openErrorFrom(thrown: unknown): PostgresOpenError {
  const failed = { code: codeOf(thrown), cause: new Redacted(thrown) };
  switch (failed.code) {
    case "28000":
    case "28P01":
      return { kind: "AccessDenied", ...failed };
    case "3D000":
      return { kind: "MissingDatabase", ...failed };
    case "42501":
      return { kind: "NotPermitted", ...failed };
    case "ECONNREFUSED":
    case "ENOTFOUND":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "ETIMEDOUT":
    case "EAI_AGAIN":
      return { kind: "Unreachable", ...failed };
    case undefined:
      return { kind: isConnectTimeout(thrown) ? "Unreachable" : "Unavailable", ...failed };
    default:
      return { kind: "Unavailable", ...failed };
  }
}

/** The driver has no code for it. */
function isConnectTimeout(thrown: unknown): boolean {
  return thrown instanceof Error && /timeout/i.test(thrown.message);
}

function quoted(schema: string): string {
  return `"${schema}"`;
}

function assertOptions(options: PostgresStoreOptions): void {
  assert(
    typeof options === "object" && options !== null,
    () => `postgres store options must be an object, got ${typeof options}`,
  );
  const { url, pool, schema, migrate: mayMigrate, maxConnections, connectTimeoutMs, statementTimeoutMs } = options;
  assert((url === undefined) !== (pool === undefined), "a postgres store needs either a url or a pool");
  assert(url === undefined || typeof url === "string", () => `url must be a text, got a value of type ${typeof url}`);
  assert(
    pool === undefined || typeof (pool as { connect?: unknown } | null)?.connect === "function",
    "pool must be a Pool of the pg package",
  );
  assert(
    schema === undefined || (typeof schema === "string" && SCHEMA.test(schema)),
    "schema must be lower-case letters, digits and _, up to 63 of them, and not begin with a digit",
  );
  assert(
    mayMigrate === undefined || typeof mayMigrate === "boolean",
    () => `migrate must be a boolean, got a value of type ${typeof mayMigrate}`,
  );
  if (maxConnections !== undefined) assertCount(maxConnections, "max connections", { min: 1, max: 10_000 });
  for (const [name, value] of Object.entries({ connectTimeoutMs, statementTimeoutMs })) {
    if (value !== undefined) assertCount(value, name, { min: 1, max: MAX_TIMEOUT_MS });
  }
}
