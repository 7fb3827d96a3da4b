import type { EtcdOpenError } from "@gossip/coordination-etcd";
import type { LmdbOpenError } from "@gossip/coordination-lmdb";
import type { PostgresOpenError } from "@gossip/coordination-postgres";
import type { CliError } from "../output/cli-error.ts";

/** Why a folder cannot be opened, and what to do. `where` is the folder. */
export function lmdbSentence(error: LmdbOpenError, where: string): CliError {
  switch (error.kind) {
    case "ReadOnlyFolder":
      return { kind: "StoreNotWritable", message: `the store in ${where} may not be written to: give this user the right to write there, or name another folder with --store.` };
    case "DiskFull":
      return { kind: "StoreFull", message: `the disk of the store in ${where} is full: make room, or name a folder on another disk with --store.` };
    case "NewerFormat":
      return { kind: "StoreNewer", message: `the store in ${where} has format ${error.found}, and this version knows up to ${error.supported}: use the newer gossip that made it.` };
    case "NotAStore":
      return { kind: "NotAStore", message: `what is in ${where} is no store: name another folder with --store.` };
    case "Truncated":
      return { kind: "StoreDamaged", message: `the store in ${where} has ${error.size} bytes of ${error.expected}: copy it again from where it came, or remove it to start over.` };
    case "OtherDurability":
      return { kind: "StoreFailed", message: `the store in ${where} is open already with durability ${error.openWith}: open it once.` };
    case "Unavailable":
      return folderSentence(error.code, where);
  }
}

/** Why a folder cannot be made or used, by the system's name for it. */
export function folderSentence(code: string | undefined, where: string): CliError {
  if (code === "EACCES" || code === "EPERM" || code === "EROFS" || code === "ENOENT") return { kind: "StoreNotWritable", message: `the folder ${where} cannot be made: give this user the right to write where it is to be, or name another with --store.` };
  if (code === "ENOTDIR" || code === "EEXIST") return { kind: "NotAStore", message: `${where} is, or lies below, something that is no folder: name a folder with --store.` };
  return { kind: "StoreFailed", message: `the store in ${where} cannot be opened (${code ?? "for an unknown reason"}): \`gossip doctor\` looks at what is wrong.` };
}

/** Why a database cannot be opened, and what to do. `where` names server and database, without credentials. */
export function postgresSentence(error: PostgresOpenError, where: string): CliError {
  switch (error.kind) {
    case "InvalidUrl":
      return { kind: "BadCommandLine", message: "the PostgreSQL URL cannot be read: write postgres://USER:PASSWORD@HOST:PORT/DATABASE." };
    case "Unreachable":
      return { kind: "StoreUnreachable", message: `no server answers for ${where}${codeIn(error.code)}: start it, or correct host and port. Nothing was lost; run the same command again.` };
    case "AccessDenied":
      return { kind: "StoreAccessDenied", message: `${where} refuses the login: correct user and password, or let this machine connect in pg_hba.conf.` };
    case "MissingDatabase":
      return { kind: "StoreFailed", message: `the server has no database for ${where}: create it with createdb, or correct its name.` };
    case "NotPermitted":
      return { kind: "StoreNotWritable", message: `the login may not make or use tables at ${where}: GRANT it CREATE on the database, or use another login.` };
    case "OldServer":
      return { kind: "StoreFailed", message: `${where} runs PostgreSQL ${error.found}, and ${error.supported} is the oldest that works: upgrade it.` };
    case "NewerSchema":
      return { kind: "StoreNewer", message: `the tables at ${where} are of version ${error.found}, and this version knows up to ${error.supported}: use the newer gossip that made them.` };
    case "MigrationNeeded":
      if (error.found === 0) return { kind: "RunNotFound", message: `there is no store in ${where}: \`gossip run\` makes one, and --store names another.` };
      return { kind: "StoreFailed", message: `the tables at ${where} are of version ${error.found} and must be brought to ${error.supported}: \`gossip run\` does so, with a login that may.` };
    case "Unavailable":
      return { kind: "StoreFailed", message: `${where} failed${codeIn(error.code)}: look at the server's log, then run the same command again.` };
  }
}

/** Why a cluster cannot be used, and what to do. `where` names its members, without credentials. */
export function etcdSentence(error: EtcdOpenError, where: string): CliError {
  switch (error.kind) {
    case "Unavailable":
      return { kind: "StoreUnreachable", message: `no member answers for ${where}: start it, or correct host and port. Nothing was lost; run the same command again.` };
    case "Refused":
      return { kind: "StoreAccessDenied", message: `${where} refuses the login, or what it may do: correct user and password, or GRANT it the prefix.` };
    case "NotAStore":
      return { kind: "NotAStore", message: `something else is below the prefix at ${where}: name another behind the address, as in etcd://HOST:2379/PREFIX.` };
    case "NewerFormat":
      return { kind: "StoreNewer", message: `the store of ${where} has format ${error.found}, and this version knows up to ${error.supported}: use the newer gossip that made it.` };
    case "TxnBudgetTooSmall":
      return { kind: "StoreFailed", message: `${where} takes fewer than ${error.needed} operations in a transaction: start it with --max-txn-ops=${error.needed} or more.` };
  }
}

function codeIn(code: string | undefined): string {
  return code === undefined ? "" : ` (${code})`;
}
