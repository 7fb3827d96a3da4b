import { PROTOCOL_ERRORS, writeProtocolError, type ProtocolError } from "@gossip/protocol";
import type { ServerResponse } from "node:http";
import type { Failure } from "../execute/element-context.ts";

/** Send JSON. Nothing that is sent may be cached. */
export function respond(
  response: ServerResponse,
  status: number,
  json: unknown,
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify(json);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
    ...headers,
  });
  // A text, not its bytes: Node then sends it together with the headers.
  response.end(text);
}

export function respondText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
  response.end(text);
}

/** Send an error of the protocol. */
export function respondError(
  response: ServerResponse,
  error: ProtocolError,
  headers: Record<string, string> = {},
): void {
  const { status } = PROTOCOL_ERRORS[error.kind];
  respondFailure(response, { error: writeProtocolError(error), status }, headers);
}

/** Send a failed call, with `Retry-After` where a later try can succeed. */
export function respondFailure(
  response: ServerResponse,
  { error, status }: Failure,
  headers: Record<string, string> = {},
): void {
  const wait =
    status === 429 || status === 503 ? { "retry-after": String(Math.ceil((error.retryAfterMs ?? 1_000) / 1_000)) } : {};
  respond(response, status, { error }, { ...wait, ...headers });
}
