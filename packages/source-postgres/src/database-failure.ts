import { Redacted } from "@gossip/stdx";
import { SourceReadFailed, type SourceError } from "@gossip/worker";

/** The SQLSTATE, or the system's error code for the connection. */
export function codeOf(thrown: unknown): string | undefined {
  const code = typeof thrown === "object" && thrown !== null ? (thrown as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : undefined;
}

const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "EPIPE",
  "EADDRNOTAVAIL",
  // The file of a Unix socket that is missing, or may not be used.
  "ENOENT",
  "EACCES",
]);

/** Converts what was thrown to an error without the driver's or the server's text, which may quote the login or rows. */
export function sourceErrorFrom(thrown: unknown): SourceError {
  if (thrown instanceof SourceReadFailed) return thrown.error;
  const code = codeOf(thrown);
  const shown = code === undefined ? "" : ` (${code})`;
  if (code !== undefined && UNREACHABLE.has(code)) return unreadable(`the database cannot be reached${shown}`);
  switch (code) {
    case "28000":
    case "28P01":
      return unreadable(`the database refuses the login${shown}`);
    case "42501":
      return unreadable(`the login may not read the table${shown}`);
    case "3D000":
      return { kind: "SourceMissing", reason: `the server has no such database${shown}` };
    case "42P01":
      return { kind: "SourceMissing", reason: `the table is no more${shown}` };
    case "42703":
      return { kind: "SourceInvalid", reason: `the table has no such column${shown}` };
    case "57014":
      return unreadable(`a query took too long${shown}`);
    case undefined:
    default:
      return unreadable(wordsWithoutCode(thrown) ?? `the database failed${shown}`);
  }
}

/** Thrown by a read. */
export function readFailureFrom(thrown: unknown): SourceReadFailed {
  if (thrown instanceof SourceReadFailed) return thrown;
  return new SourceReadFailed(sourceErrorFrom(thrown), { cause: new Redacted(thrown) });
}

function unreadable(reason: string): SourceError {
  return { kind: "SourceUnreadable", reason };
}

/** The driver has no error code for these. */
function wordsWithoutCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  if (/timeout/i.test(thrown.message)) return "the database did not answer in time";
  return thrown.message.startsWith("Connection terminated") ? "the connection to the database was lost" : undefined;
}
