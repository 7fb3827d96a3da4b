import { hostname } from "node:os";
import { Pool, type PoolClient, type PoolConfig } from "pg";
import { markSession } from "../sql/connected-versions.ts";
import { TUNE_SESSION } from "../sql/tune-session.ts";
import { VERSION } from "./version.ts";

export interface PoolSettings {
  readonly url: string;
  /** As SQL quotes it. */
  readonly schema: string;
  readonly schemaVersion: number;
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly ssl: PoolConfig["ssl"];
}

const ignore = (): void => undefined;

/** Our own connections. Every one carries the mark of the newest tables that this version knows. */
export function makePool({ url, schema, schemaVersion, ...settings }: PoolSettings): Pool {
  const prepare = `${TUNE_SESSION}; ${markSession(schema, schemaVersion)}`;
  const onConnect = async (client: { query(text: string): Promise<unknown> }): Promise<void> => {
    await client.query(prepare);
  };
  const pool = new Pool({
    connectionString: url,
    // A name in the URL or in PGAPPNAME wins.
    fallback_application_name: applicationName(schemaVersion),
    max: settings.maxConnections,
    // One stays, so that an idle process still shows which version it is.
    min: 1,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    query_timeout: settings.statementTimeoutMs,
    keepAlive: true,
    // A program that ends without closing the store does not wait for idle connections.
    allowExitOnIdle: true,
    // The pool awaits the promise, although its type does not mention it.
    onConnect: onConnect as NonNullable<PoolConfig["onConnect"]>,
    ...(settings.ssl === undefined ? {} : { ssl: settings.ssl }),
  });
  // The pool itself removes an idle connection that breaks.
  pool.on("error", ignore);
  return pool;
}

/** The server cuts longer names. */
const MAX_NAME_LENGTH = 63;

/** What `pg_stat_activity` shows for our connections: the versions, then the host and the process that holds them. */
export function applicationName(schemaVersion: number): string {
  const [versions, pid] = [`gossip ${VERSION} tables ${schemaVersion} `, `:${process.pid}`];
  const host = hostname().replaceAll(/[^\x21-\x7e]/g, "?");
  return `${versions}${host.slice(0, MAX_NAME_LENGTH - versions.length - pid.length)}${pid}`;
}

/** Thrown if no connection was made in time. */
export class ConnectTimeout extends Error {
  readonly code = "ETIMEDOUT";
}

/**
 * Opens the first connection within a time limit. Throws `ConnectTimeout`, or what the driver threw.
 *
 * The timer also keeps the process alive meanwhile: a driver that forgets to settle its promise would let it end in the middle.
 */
export async function connectWithin(pool: Pool, timeoutMs: number): Promise<PoolClient> {
  let timer: NodeJS.Timeout | undefined;
  const connecting = pool.connect();
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ConnectTimeout("no connection in time")), timeoutMs);
  });
  try {
    return await Promise.race([connecting, timeout]);
  } catch (thrown) {
    // One that comes too late is closed.
    if (thrown instanceof ConnectTimeout) connecting.then((client) => client.release(true), ignore);
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
}
