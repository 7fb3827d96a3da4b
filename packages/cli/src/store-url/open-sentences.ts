import type { EtcdOpenError } from "@gossip/coordination-etcd";
import type { LmdbOpenError } from "@gossip/coordination-lmdb";
import type { PostgresOpenError } from "@gossip/coordination-postgres";
import type { CliError, CliErrorKind } from "../output/cli-error.ts";

/** The kind of error for a reason, and advice to add to the store's message. */
interface Ending {
  readonly kind: CliErrorKind;
  readonly advice?: string;
}

/** How a store describes itself and its error. Passed in, because engines are loaded only when they are used. */
export interface Told {
  /** The folder, or the server and database, without credentials. */
  readonly where: string;
  /** The store's own message. */
  readonly why: string;
}

const ELSEWHERE = "--store names another folder";
const AGAIN = "Nothing was lost; run the same command again";

const LMDB: Readonly<Record<Exclude<LmdbOpenError["kind"], "Unavailable">, Ending>> = {
  ReadOnlyFolder: { kind: "StoreNotWritable", advice: ELSEWHERE },
  DiskFull: { kind: "StoreFull", advice: ELSEWHERE },
  NewerFormat: { kind: "StoreNewer" },
  NotAStore: { kind: "NotAStore", advice: ELSEWHERE },
  Truncated: { kind: "StoreDamaged" },
  StoreDamaged: { kind: "StoreDamaged" },
  GateDamaged: { kind: "StoreDamaged" },
  OtherDurability: { kind: "StoreFailed" },
};

const POSTGRES: Readonly<Record<PostgresOpenError["kind"], Ending>> = {
  InvalidUrl: { kind: "BadCommandLine" },
  Unreachable: { kind: "StoreUnreachable", advice: AGAIN },
  AccessDenied: { kind: "StoreAccessDenied" },
  MissingDatabase: { kind: "StoreFailed" },
  NotPermitted: { kind: "StoreNotWritable" },
  OldServer: { kind: "StoreFailed" },
  NewerSchema: { kind: "StoreNewer" },
  MigrationNeeded: { kind: "StoreOlder" },
  MigrationUnsafe: { kind: "StoreOlder" },
  Unavailable: { kind: "StoreFailed", advice: AGAIN },
};

/** By gRPC status code. For a wrong password etcd returns "invalid argument". */
const ETCD_REFUSED: Readonly<Record<number, CliErrorKind>> = {
  3: "StoreAccessDenied",
  7: "StoreAccessDenied",
  8: "StoreFull",
  16: "StoreAccessDenied",
};

const ETCD: Readonly<Record<Exclude<EtcdOpenError["kind"], "Refused">, Ending>> = {
  Unavailable: { kind: "StoreUnreachable", advice: AGAIN },
  NotAStore: { kind: "NotAStore", advice: "It is named behind the address, as in etcd://HOST:2379/PREFIX" },
  NewerFormat: { kind: "StoreNewer" },
  TxnBudgetTooSmall: { kind: "StoreFailed" },
};

/** Why a folder cannot be opened, and what to do. */
export function lmdbSentence(error: LmdbOpenError, told: Told): CliError {
  if (error.kind !== "Unavailable") return sentence(LMDB[error.kind], told);
  return sentence(
    isNoFolder(error.code)
      ? { kind: "NotAStore", advice: ELSEWHERE }
      : { kind: "StoreFailed", advice: "`gossip doctor` looks at what is wrong" },
    told,
  );
}

/** Why a folder cannot be created, by system error code. */
export function folderSentence(code: string, where: string): CliError {
  if (isNoFolder(code))
    return {
      kind: "NotAStore",
      message: `${where} is, or lies below, something that is not a folder: name a folder with --store.`,
    };
  if (code === "ENOSPC" || code === "EDQUOT")
    return {
      kind: "StoreFull",
      message: `the folder ${where} cannot be created, because its disk is full: make room, or name another with --store.`,
    };
  if (code === "EACCES" || code === "EPERM" || code === "EROFS" || code === "ENOENT")
    return {
      kind: "StoreNotWritable",
      message: `the folder ${where} cannot be created: give this user the right to write where it is to be, or name another with --store.`,
    };
  return {
    kind: "StoreFailed",
    message: `the folder ${where} cannot be created (${code}): name another with --store.`,
  };
}

/** Why a database cannot be opened, and what to do. */
export function postgresSentence(error: PostgresOpenError, told: Told): CliError {
  if (error.kind === "MigrationNeeded" && error.found === 0)
    return {
      kind: "RunNotFound",
      message: `there is no store in ${told.where}: start a run first, or name another store with --store.`,
    };
  return { ...sentence(POSTGRES[error.kind], told), ...outageOf(error) };
}

/** What PostgreSQL returns while it starts or shuts down. */
const STARTING = "57P03";

function outageOf(error: PostgresOpenError): Pick<CliError, "outage"> {
  if (error.kind === "Unavailable") return error.code === STARTING ? { outage: STARTING } : {};
  return error.kind === "Unreachable" ? passing(error.code ?? "no response") : {};
}

/** A name that does not exist is a mistake in the command. */
export function passing(code: string): Pick<CliError, "outage"> {
  return code.includes("ENOTFOUND") ? {} : { outage: code };
}

/** Why a cluster cannot be used, and what to do. */
export function etcdSentence(error: EtcdOpenError, told: Told): CliError {
  if (error.kind === "Refused") return sentence({ kind: ETCD_REFUSED[error.code] ?? "StoreFailed" }, told);
  return { ...sentence(ETCD[error.kind], told), ...(error.kind === "Unavailable" ? passing(error.reason) : {}) };
}

function sentence({ kind, advice }: Ending, { where, why }: Told): CliError {
  return { kind, message: `${where} cannot be opened: ${why}.${advice === undefined ? "" : ` ${advice}.`}` };
}

function isNoFolder(code: string | undefined): boolean {
  return code === "ENOTDIR" || code === "EEXIST";
}
