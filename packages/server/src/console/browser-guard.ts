import { protocolError, type ProtocolError } from "@gossip/protocol";
import type { IncomingMessage } from "node:http";

/** The header that the page sends with every action. A page of another site cannot send it. */
export const ACTION_HEADER = "gossip-console";

const LOOPBACK_NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

export interface GuardOptions {
  /** Whether the server relies on being reachable from this machine only. */
  readonly isOpen: boolean;
}

/**
 * Refuse what a browser was tricked into sending. `undefined` if the request is fine.
 *
 * - A server without authentication answers to loopback names only: a site that resolves its own name to 127.0.0.1 would
 *   otherwise read everything.
 * - A browser that changes something must come from our own page, and send a header that only a page of the same origin
 *   can send.
 */
export function refuseForeignPage(request: IncomingMessage, { isOpen }: GuardOptions): ProtocolError | undefined {
  const { host, origin, "sec-fetch-site": site } = request.headers;
  if (isOpen && host !== undefined && !LOOPBACK_NAME.test(host))
    return protocolError("Forbidden", "this server answers to the names of this machine only: use 127.0.0.1");
  const isBrowser = origin !== undefined || site !== undefined;
  if (!isBrowser || request.method === "GET" || request.method === "HEAD") return undefined;
  const isOurs = site === "same-origin" || (site === undefined && hostOf(origin) === host);
  if (isOurs && request.headers[ACTION_HEADER] !== undefined) return undefined;
  return protocolError(
    "Forbidden",
    `a page may act only with the header ${ACTION_HEADER}, and from this server itself`,
  );
}

function hostOf(origin: string | undefined): string | undefined {
  return /^https?:\/\/(.+)$/i.exec(origin ?? "")?.[1];
}
