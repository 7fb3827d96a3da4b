import { assert, type Redacted } from "@gossip/stdx";
import type { UrlPart } from "./connection-url.ts";

/**
 * Why a database could not be opened as a store. Nothing was written to it.
 *
 * No error holds the URL, a password, or the server's text, which may quote either.
 *
 * - `InvalidUrl`      — the URL cannot be used; `part` says which part of it.
 * - `Unreachable`     — no server answers there. `code` is the system's name for it, such as `ECONNREFUSED`.
 * - `AccessDenied`    — the server refuses the login: a wrong password, or no login is allowed from this machine.
 * - `MissingDatabase` — the server has no database of that name.
 * - `NotPermitted`    — the login may not create the tables, or may not use them.
 * - `OldServer`       — the server is older than what is supported.
 * - `NewerSchema`     — a later version of this package made the tables. Use that version or a later one.
 * - `MigrationNeeded` — the tables are missing, or too old to be used, and the options forbid to change them.
 * - `MigrationUnsafe` — the tables are too old to be used, and sessions that may be of another version are connected.
 *                       `gossip store migrate`, or `migratePostgresStore`, migrates them all the same.
 * - `Unavailable`     — anything else; `code` is the server's or the system's.
 */
export type PostgresOpenError =
  | { readonly kind: "InvalidUrl"; readonly part: UrlPart }
  | (Failed & { readonly kind: "Unreachable" })
  | (Failed & { readonly kind: "AccessDenied" })
  | (Failed & { readonly kind: "MissingDatabase" })
  | (Failed & { readonly kind: "NotPermitted" })
  | { readonly kind: "OldServer"; readonly found: number; readonly supported: number }
  | { readonly kind: "NewerSchema"; readonly found: number; readonly supported: number }
  | { readonly kind: "MigrationNeeded"; readonly found: number; readonly supported: number }
  | {
      readonly kind: "MigrationUnsafe";
      readonly found: number;
      readonly supported: number;
      /** Other sessions of the database that do not show a version that knows the newest tables. */
      readonly otherSessions: number;
    }
  | (Failed & { readonly kind: "Unavailable" });

interface Failed {
  readonly code: string | undefined;
  /** What was thrown. Nothing prints it. */
  readonly cause: Redacted<unknown>;
}

type Sentences = {
  readonly [K in PostgresOpenError["kind"]]: (error: Extract<PostgresOpenError, { readonly kind: K }>) => string;
};

const URL_FAULTS: Readonly<Record<UrlPart, string>> = {
  Form: "the URL cannot be read; write postgres://USER:PASSWORD@HOST:PORT/DATABASE",
  Port: "the port of the URL is not a number from 1 to 65535; correct it, or PGPORT where the URL has none",
  Ssl: "the URL has an sslmode or ssl that does not exist; write sslmode=disable, require, verify-ca, verify-full or no-verify",
  Setting:
    "a part of the URL cannot be used; check its percent signs, and the files that sslcert, sslkey and sslrootcert name",
};

const SENTENCES: Sentences = {
  InvalidUrl: ({ part }) => URL_FAULTS[part],
  Unreachable: ({ code }) => `no server answers${shown(code)}; start it, or correct host and port`,
  AccessDenied: ({ code }) =>
    `the server refuses the login${shown(code)}; correct user and password, or let this machine connect in pg_hba.conf`,
  MissingDatabase: () => "the server has no such database; create it with createdb, or correct its name",
  NotPermitted: () =>
    "the login may not create or use the tables; GRANT it CREATE on the database, or use another login",
  OldServer: ({ found, supported }) =>
    `the server is PostgreSQL ${found}, and ${supported} is the oldest that works; upgrade it`,
  NewerSchema: ({ found, supported }) =>
    `the tables have version ${found}, and this version knows up to ${supported}; use the newer version that made them`,
  MigrationNeeded: ({ found, supported }) =>
    found === 0
      ? "the database has no tables of a store, and the options forbid to create them; run `gossip store migrate` once"
      : `the tables have version ${found} and must be brought to ${supported}; run \`gossip store migrate\` once`,
  MigrationUnsafe: ({ found, supported, otherSessions }) =>
    `the tables have version ${found} and must be brought to ${supported}, while ${otherSessions === 1 ? "1 other session is" : `${otherSessions} other sessions are`} connected that may be of an older version; stop those processes, then run \`gossip store migrate\` once`,
  Unavailable: ({ code }) => `the database failed${shown(code)}; look at the server's log, then try again`,
};

/** What is wrong and what to do about it, in a sentence for people. It holds neither the address nor the server's text. */
export function postgresOpenErrorMessage(error: PostgresOpenError): string {
  assert(typeof error === "object" && error !== null, "error must be one of openPostgresStore");
  if (!Object.hasOwn(SENTENCES, error.kind)) return "the store cannot be opened, for an unknown reason";
  return (SENTENCES[error.kind] as (error: PostgresOpenError) => string)(error);
}

function shown(code: string | undefined): string {
  return code === undefined ? "" : ` (${code})`;
}
