import { InfraError } from "@gossip/coordination-errors";
import { CorruptStore, type StoreOperation } from "@gossip/store-kit";

/** Thrown if nothing was sent, because there was no connection. */
export class NoConnection extends Error {
  constructor(cause: unknown) {
    super("no connection to the database", { cause });
  }
}

/** Thrown if it is unknown whether a transaction was committed. */
export class UnknownOutcome extends Error {
  constructor(cause: unknown) {
    super("the reply to a commit was lost", { cause });
  }
}

/** The SQLSTATE, or the system's error code for the connection. */
export function codeOf(thrown: unknown): string | undefined {
  const code = typeof thrown === "object" && thrown !== null ? (thrown as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : undefined;
}

/**
 * Whether the server reported that it rolled the statement back.
 *
 * It does so with `ERROR`. `FATAL` proves nothing: it ends the connection, and may arrive while the server waits for a replica to
 * confirm what it has already committed. Other errors do not come from a server.
 */
export function isUndone(thrown: unknown): boolean {
  if (typeof thrown !== "object" || thrown === null) return false;
  const { severity, code } = thrown as { severity?: unknown; code?: unknown };
  if (severity !== "ERROR" || typeof code !== "string") return false;
  // 40003: the server does not know the outcome. 08: it lost a connection of its own.
  return code !== "40003" && !code.startsWith("08");
}

/** Whether the connection can be used again after this. */
export function leavesConnectionUsable(thrown: unknown): boolean {
  return thrown instanceof CorruptStore || isUndone(thrown);
}

/** Whether the server rolled one of two conflicting writers back. A retry will probably succeed. */
export function isWorthRepeating(thrown: unknown): boolean {
  if (!isUndone(thrown)) return false;
  const code = codeOf(thrown);
  // 23505: an id was taken between the check and the write. The next check finds it.
  return code === "40P01" || code === "40001" || code === "23505";
}

/** Converts what was thrown to an `InfraError`. */
export function failureFrom(operation: StoreOperation<"postgres">, thrown: unknown): InfraError {
  if (thrown instanceof CorruptStore) return thrown.failure;
  const cause = thrown instanceof NoConnection || thrown instanceof UnknownOutcome ? thrown.cause : thrown;
  if (cause instanceof RangeError)
    return InfraError.corruption({ operation, message: "a column is shorter than what it holds", cause });
  const code = codeOf(cause);
  switch (code?.slice(0, 2)) {
    case "XX":
      return InfraError.corruption({ operation, message: "the database reports damaged data", code, cause });
    case "53":
      return InfraError.transient({ operation, message: "the database has run out of something", code, cause });
    case "57":
      return InfraError.transient({ operation, message: "the database was shut down or interrupted", code, cause });
    case "28":
      return InfraError.transient({ operation, message: "the database refused the login", code, cause });
    case "42":
      return InfraError.transient({ operation, message: "the tables are not there or may not be used", code, cause });
    case undefined:
    default:
      if (isUndone(cause))
        return InfraError.transient({ operation, message: "the database refused the statement", code, cause });
      return InfraError.transient({ operation, message: "the connection to the database failed", code, cause });
  }
}
