import { assert, type Redacted } from "@gossip/stdx";

/**
 * Why a database could not be opened as a store. Nothing was written to it.
 *
 * No error holds the URL, a password, or the text of the server, which may quote either.
 *
 * - `InvalidUrl`        — it is no URL of the form `postgres://user:password@host:port/database`.
 * - `Unreachable`       — no server answers there. `code` is the system's name for it, such as `ECONNREFUSED`.
 * - `AccessDenied`      — the server refuses the login: a wrong password, or nobody may connect from here.
 * - `MissingDatabase`   — the server has no database of that name.
 * - `NotPermitted`      — the login may not create the tables, or may not use them.
 * - `OldServer`         — the server is older than what is supported.
 * - `NewerSchema`       — a later version of this package made the tables. Use that one, or a later.
 * - `MigrationNeeded`   — the tables are older or missing, and the store was told not to change them.
 * - `Unavailable`       — anything else; `code` is the server's or the system's for it.
 */
export type PostgresOpenError =
  | { readonly kind: "InvalidUrl" }
  | (Failed & { readonly kind: "Unreachable" })
  | (Failed & { readonly kind: "AccessDenied" })
  | (Failed & { readonly kind: "MissingDatabase" })
  | (Failed & { readonly kind: "NotPermitted" })
  | { readonly kind: "OldServer"; readonly found: number; readonly supported: number }
  | { readonly kind: "NewerSchema"; readonly found: number; readonly supported: number }
  | { readonly kind: "MigrationNeeded"; readonly found: number; readonly supported: number }
  | (Failed & { readonly kind: "Unavailable" });

interface Failed {
  readonly code: string | undefined;
  /** What was thrown. Nothing prints it. */
  readonly cause: Redacted<unknown>;
}

type Sentences = {
  readonly [K in PostgresOpenError["kind"]]: (error: Extract<PostgresOpenError, { readonly kind: K }>) => string;
};

const SENTENCES: Sentences = {
  InvalidUrl: () => "the URL cannot be read; write postgres://USER:PASSWORD@HOST:PORT/DATABASE",
  Unreachable: ({ code }) => `no server answers${shown(code)}; start it, or correct host and port`,
  AccessDenied: ({ code }) =>
    `the server refuses the login${shown(code)}; correct user and password, or let this machine connect in pg_hba.conf`,
  MissingDatabase: () => "the server has no such database; create it with createdb, or correct its name",
  NotPermitted: () => "the login may not make or use the tables; GRANT it CREATE on the database, or use another login",
  OldServer: ({ found, supported }) =>
    `the server is PostgreSQL ${found}, and ${supported} is the oldest that works; upgrade it`,
  NewerSchema: ({ found, supported }) =>
    `the tables are of version ${found}, and this version knows up to ${supported}; use the newer version that made them`,
  MigrationNeeded: ({ found, supported }) =>
    found === 0
      ? "the database has no tables of a store, and none may be made; open it once with leave to migrate, and a login that may"
      : `the tables are of version ${found} and must be brought to ${supported}; open the store once with leave to migrate, and a login that may`,
  Unavailable: ({ code }) => `the database failed${shown(code)}; look at the server's log, then try again`,
};

/** What is wrong and what to do about it, in a sentence for people. It tells neither the address, which the caller knows, nor what the server said. */
export function postgresOpenErrorMessage(error: PostgresOpenError): string {
  assert(typeof error === "object" && error !== null, "error must be one of openPostgresStore");
  if (!Object.hasOwn(SENTENCES, error.kind)) return "the store cannot be opened, for an unknown reason";
  return (SENTENCES[error.kind] as (error: PostgresOpenError) => string)(error);
}

function shown(code: string | undefined): string {
  return code === undefined ? "" : ` (${code})`;
}
