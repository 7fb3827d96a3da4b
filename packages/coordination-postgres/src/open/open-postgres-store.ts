import { assert, assertCount, err, InvariantViolation, ok, Redacted, type Result } from "@gossip/stdx";
import type { Pool, PoolClient, PoolConfig } from "pg";
import { ConnectTimeout, connectWithin, makePool } from "./connect.ts";
import { findUrlFault } from "./connection-url.ts";
import { Database } from "../database/database.ts";
import { migrate, SCHEMA_VERSION, type Migrated, type MigratePermission } from "./migrate.ts";
import { codeOf } from "../database/postgres-failure.ts";
import type { PostgresOpenError } from "./postgres-open-error.ts";
import { STATUS_COUNTS, STATUS_COUNTS_SINCE } from "../write/status-counts.ts";
import { PostgresStore } from "../postgres-store.ts";
import { READ_SERVER_VERSION } from "../sql/migrations.ts";

/** Where the tables of a store are. */
export interface PostgresLocation {
  /** `postgres://user:password@host:port/database`, with options such as `?sslmode=verify-full`. This or `pool`. */
  readonly url?: string;
  /** Connections of the caller, who also closes them. Their settings stay as they are. This or `url`. */
  readonly pool?: Pool;
  /** The schema of the tables: lower-case letters, digits and `_`. Default: `gossip`. */
  readonly schema?: string;
  /** Most connections at once, for a `url`. Default: 8. */
  readonly maxConnections?: number;
  /** How long to wait for a connection, for a `url`. Default: 10 seconds. */
  readonly connectTimeoutMs?: number;
  /** How long to wait for a reply before the outcome counts as unknown, for a `url`. Default: 60 seconds. */
  readonly statementTimeoutMs?: number;
  /** Node's TLS options, for a `url` without `sslmode`. */
  readonly ssl?: PoolConfig["ssl"];
}

export interface PostgresStoreOptions extends PostgresLocation {
  /**
   * Whether missing tables may be created and older ones brought up to date. Default: true.
   *
   * Older tables are changed only where they hold no run, or where no session of another version is connected to the database. Otherwise
   * they are used as they are, or the error is `MigrationUnsafe` where this version cannot use them.
   */
  readonly migrate?: boolean;
}

/** The oldest server that this is tested on. */
const OLDEST_SERVER = 15;
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const ignore = (): void => undefined;

/** Opens a database as a store, and creates or migrates its tables where that is safe. */
export async function openPostgresStore(
  options: PostgresStoreOptions,
): Promise<Result<PostgresStore, PostgresOpenError>> {
  assertLocation(options);
  const { migrate: mayMigrate = true } = options;
  assert(typeof mayMigrate === "boolean", () => `migrate must be a boolean, got a value of type ${typeof mayMigrate}`);
  const connected = await prepare(options, mayMigrate ? "WhenUnused" : "Never");
  if (!connected.ok) return connected;
  const { pool, schema, migrated, release } = connected.value;
  const database = new Database(pool, schema, migrated.to < STATUS_COUNTS_SINCE ? [] : [STATUS_COUNTS]);
  return ok(new PostgresStore({ database, release }));
}

/**
 * Creates the tables of a store or brings them up to date, even while other sessions are connected. For operators and deployments.
 *
 * Stop the processes of older versions first where the release notes ask for it. They cannot open the store afterwards.
 */
export async function migratePostgresStore(options: PostgresLocation): Promise<Result<Migrated, PostgresOpenError>> {
  assertLocation(options);
  const connected = await prepare(options, "Always");
  if (!connected.ok) return connected;
  await connected.value.release();
  return ok(connected.value.migrated);
}

interface Connected {
  readonly pool: Pool;
  /** As SQL quotes it. */
  readonly schema: string;
  readonly migrated: Migrated;
  /** Closes our own connections, and leaves the caller's open. */
  readonly release: () => Promise<void>;
}

async function prepare(
  options: PostgresLocation,
  permission: MigratePermission,
): Promise<Result<Connected, PostgresOpenError>> {
  const { url = "", maxConnections = 8, connectTimeoutMs = 10_000, statementTimeoutMs = 60_000, ssl } = options;
  const part = options.pool === undefined ? findUrlFault(url) : undefined;
  if (part !== undefined) return err({ kind: "InvalidUrl", part });
  const schema = `"${options.schema ?? "gossip"}"`;
  const timeouts = { connectTimeoutMs, statementTimeoutMs };
  const pool =
    options.pool ?? makePool({ url, schema, schemaVersion: SCHEMA_VERSION, maxConnections, ...timeouts, ssl });
  const release = async () => {
    if (options.pool === undefined) await pool.end();
  };
  try {
    const client = await (options.pool === undefined ? connectWithin(pool, connectTimeoutMs) : pool.connect());
    const migrated = await prepareTables(client, { schema, permission });
    if (migrated.ok) return ok({ pool, schema, migrated: migrated.value, release });
    await release();
    return migrated;
  } catch (thrown) {
    // After a timeout the driver may never finish closing.
    if (thrown instanceof ConnectTimeout) void release().catch(ignore);
    else await release();
    if (thrown instanceof InvariantViolation) throw thrown;
    return err(openErrorFrom(thrown));
  }
}

async function prepareTables(
  client: PoolClient,
  options: { readonly schema: string; readonly permission: MigratePermission },
): Promise<Result<Migrated, PostgresOpenError>> {
  // A connection that breaks rejects the pending query and emits an event, which must have a listener.
  client.on("error", ignore);
  let isUsable = false;
  try {
    const { rows } = await client.query<{ version: number }>(READ_SERVER_VERSION);
    const found = Math.floor((rows[0]?.version ?? 0) / 10_000);
    const migrated =
      found < OLDEST_SERVER
        ? err({ kind: "OldServer", found, supported: OLDEST_SERVER } as const)
        : await migrate(client, options);
    isUsable = true;
    return migrated;
  } finally {
    client.off("error", ignore);
    client.release(!isUsable);
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
    case "EHOSTDOWN":
    case "ENETUNREACH":
    case "EADDRNOTAVAIL":
    case "ETIMEDOUT":
    case "EAI_AGAIN":
    // The file of a Unix socket that is missing, or may not be used.
    case "ENOENT":
    case "EACCES":
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

function assertLocation(options: PostgresLocation): void {
  assert(
    typeof options === "object" && options !== null,
    () => `postgres store options must be an object, got ${typeof options}`,
  );
  const { url, pool, schema, maxConnections, connectTimeoutMs, statementTimeoutMs } = options;
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
  if (maxConnections !== undefined) assertCount(maxConnections, "max connections", { min: 1, max: 10_000 });
  for (const [name, value] of Object.entries({ connectTimeoutMs, statementTimeoutMs })) {
    if (value !== undefined) assertCount(value, name, { min: 1, max: MAX_TIMEOUT_MS });
  }
}
