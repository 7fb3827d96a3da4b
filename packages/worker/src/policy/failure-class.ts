import { Redacted } from "@gossip/stdx";
import { codeOf } from "../sources/system-words.ts";

/**
 * What a failure says about its item.
 *
 * - `Item`: the item failed. It is retried a few times.
 * - `Dependency`: something that the item needs is down or overloaded. It is retried for as long as `patienceMs` allows,
 *   with longer pauses.
 * - `Permanent`: the item fails at once, without retries.
 */
export type FailureClass = "Item" | "Dependency" | "Permanent";

/** Returns `undefined` to leave the decision to `classifyFailure` of this package. */
export type ClassifyFailure = (error: unknown) => FailureClass | undefined;

const DEPENDENCY_CODES: ReadonlySet<string> = /* @__PURE__ */ new Set([
  // Sockets and name resolution.
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOTCONN",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EAI_FAIL",
  "ESTALE",
  // Node's `fetch`.
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  // PostgreSQL: shutting down, starting up, too many connections.
  "57P01",
  "57P02",
  "57P03",
  "53300",
]);

/** PostgreSQL's class of connection errors. */
const CONNECTION_SQLSTATE = /^08[0-9A-Z]{3}$/;

/** Too Many Requests, Bad Gateway, Service Unavailable, Gateway Timeout. */
const DEPENDENCY_STATUS: ReadonlySet<unknown> = /* @__PURE__ */ new Set([429, 502, 503, 504]);

/** Causes of causes are followed this far. */
const MAX_DEPTH = 8;

/**
 * Whether a thrown value means that a dependency is unavailable: a connection that is refused, reset or times out, a
 * name that cannot be resolved, HTTP status 429, 502, 503 or 504 in a field `status` or `statusCode`, an error named
 * `TimeoutError`, or a `RetryAfter`. Looks at the causes of the value too. Everything else is a failure of the item.
 */
export function classifyFailure(error: unknown): FailureClass {
  return isDependencyFailure(error, MAX_DEPTH) ? "Dependency" : "Item";
}

function isDependencyFailure(thrown: unknown, depth: number): boolean {
  const value = thrown instanceof Redacted ? Redacted.reveal(thrown as Redacted<unknown>) : thrown;
  if (typeof value !== "object" || value === null || depth === 0) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  const { name, cause, errors } = fields;
  const code = codeOf(value);
  if (code !== undefined && (DEPENDENCY_CODES.has(code) || CONNECTION_SQLSTATE.test(code))) return true;
  if (DEPENDENCY_STATUS.has(fields["status"]) || DEPENDENCY_STATUS.has(fields["statusCode"])) return true;
  if (name === "TimeoutError" || typeof fields["retryAfterMs"] === "number") return true;
  // Node tries every address of a host and collects the errors.
  if (Array.isArray(errors) && errors.some((each) => isDependencyFailure(each, depth - 1))) return true;
  return isDependencyFailure(cause, depth - 1);
}
