import { createConnection, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { assert } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { assertToken } from "../wire/token.ts";
import { socketOptions, type ClientEndpoint } from "./endpoint.ts";

/** How a client knows its servers, and how they know it. Each is PEM, as text or bytes. */
export interface ClientTls {
  /** The authorities that sign the certificates of servers; the ones that the system trusts by default. */
  readonly ca?: string | Uint8Array;
  /** This client's certificate and its key, for servers that ask for one. Both or neither. */
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
  /** The name in the certificates of servers; the host of the endpoint by default. */
  readonly serverName?: string;
}

export interface Credentials {
  readonly tls: ClientTls | undefined;
  readonly token: string | undefined;
}

const KEEP_ALIVE_MS = 30_000;

export function assertCredentials({ tls, token }: Credentials): void {
  if (token !== undefined) assertToken(token);
  if (tls === undefined) return;
  assertObject(tls, "the TLS options of a client");
  assert(
    (tls.cert === undefined) === (tls.key === undefined),
    "a client certificate needs its key, and a key its certificate",
  );
}

/** Connect, over TLS unless the endpoint is a unix socket. What is written meanwhile is sent afterwards. */
export function dial(endpoint: ClientEndpoint, { tls }: Credentials, onConnect: () => void): Socket {
  const options = socketOptions(endpoint);
  if (tls === undefined || "path" in options) {
    const plain = { ...options, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    return createConnection(plain, onConnect);
  }
  const { ca, cert, key, serverName } = tls;
  const socket = connectSecurely(
    {
      ...options,
      ...(ca === undefined ? {} : { ca: Buffer.from(ca) }),
      ...(cert === undefined || key === undefined ? {} : { cert: Buffer.from(cert), key: Buffer.from(key) }),
      ...(serverName === undefined ? {} : { servername: serverName }),
    },
    onConnect,
  );
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
}
