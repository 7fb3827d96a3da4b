import type { Redacted } from "@gossip/stdx";

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
