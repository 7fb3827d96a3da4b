import { assert, err, ok, type Brand, type Result } from "@gossip/stdx";

/** Where a node serves timestamps: `host:port`, without a scheme. IPv6 hosts stand in brackets. */
export type PeerEndpoint = Brand<string, "PeerEndpoint">;

export interface InvalidEndpoint {
  readonly kind: "InvalidEndpoint";
  readonly reason: "Empty" | "SchemeBearing" | "MissingPort" | "EmptyHost" | "InvalidPort" | "TooLong";
}

/** A host name has at most 253 characters; the rest is room for a port and brackets. */
export const MAX_ENDPOINT_SIZE = 270;

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//iu;
const PORT = /^[0-9]{1,5}$/u;

export const PeerEndpoint = {
  /** Checked again wherever an endpoint arrives from elsewhere: a hint decides where a client connects. */
  parse(text: string): Result<PeerEndpoint, InvalidEndpoint> {
    const reason = flawOf(text);
    return reason === undefined ? ok(text as PeerEndpoint) : err({ kind: "InvalidEndpoint", reason });
  },

  /** The two parts, the brackets of an IPv6 host taken off. */
  split(endpoint: PeerEndpoint): { readonly host: string; readonly port: number } {
    assert(typeof endpoint === "string", "an endpoint is a host and a port, as text");
    const colon = endpoint.lastIndexOf(":");
    return { host: endpoint.slice(0, colon).replace(/^\[(.*)\]$/u, "$1"), port: Number(endpoint.slice(colon + 1)) };
  },
} as const;

function flawOf(text: string): InvalidEndpoint["reason"] | undefined {
  if (typeof text !== "string" || text.length === 0) return "Empty";
  if (text.length > MAX_ENDPOINT_SIZE) return "TooLong";
  if (SCHEME.test(text)) return "SchemeBearing";
  // At the last colon, so that a bracketed IPv6 host keeps its own.
  const colon = text.lastIndexOf(":");
  if (colon < 0 || colon === text.length - 1 || text.endsWith("]")) return "MissingPort";
  const host = text.slice(0, colon);
  if (host === "" || host === "[]") return "EmptyHost";
  const port = text.slice(colon + 1);
  return PORT.test(port) && Number(port) >= 1 && Number(port) <= 65_535 ? undefined : "InvalidPort";
}
