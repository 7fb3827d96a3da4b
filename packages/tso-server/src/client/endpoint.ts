import { err, ok, type Brand, type Result } from "@gossip/stdx";
import { PeerEndpoint, type InvalidEndpoint } from "../driver/peer-endpoint.ts";

/** Where a client may connect: `host:port`, or `unix:` and a path. */
export type ClientEndpoint = Brand<string, "ClientEndpoint"> | PeerEndpoint;

const UNIX = "unix:";

export function parseClientEndpoint(text: string): Result<ClientEndpoint, InvalidEndpoint> {
  if (typeof text === "string" && text.startsWith(UNIX)) {
    return text.length > UNIX.length ? ok(text as ClientEndpoint) : err({ kind: "InvalidEndpoint", reason: "Empty" });
  }
  return PeerEndpoint.parse(text);
}

/** The endpoint as the options of a socket. */
export function socketOptions(
  endpoint: ClientEndpoint,
): { readonly path: string } | { readonly host: string; readonly port: number } {
  if (endpoint.startsWith(UNIX)) return { path: endpoint.slice(UNIX.length) };
  return PeerEndpoint.split(endpoint as PeerEndpoint);
}
