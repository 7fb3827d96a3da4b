import { createSecureContext, type TlsOptions } from "node:tls";
import { assert } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import type { ServerLimits } from "./server-limits.ts";

/** The certificate of a server. Each is PEM, as text or bytes. */
export interface ServerTls {
  readonly cert: string | Uint8Array;
  readonly key: string | Uint8Array;
  /** If given, a client must present a certificate that one of these authorities has signed. */
  readonly ca?: string | Uint8Array;
}

/** What Node's servers take. Throws `InvariantViolation` if certificate and key cannot be used together. */
export function secureOptions(tls: ServerTls, { prefaceTimeoutMs }: ServerLimits): TlsOptions {
  assertObject(tls, "the TLS options of a server");
  const { cert, key, ca } = tls;
  assert(isPem(cert) && isPem(key), "the TLS of a server needs a certificate and its key, each as PEM");
  assert(ca === undefined || isPem(ca), "the certificate authorities of clients are PEM");
  const pems = { cert: Buffer.from(cert), key: Buffer.from(key), ...(ca === undefined ? {} : { ca: Buffer.from(ca) }) };
  assert(isUsable(pems), "certificate and key must be PEM that OpenSSL can read, and belong together");
  return {
    ...pems,
    requestCert: ca !== undefined,
    rejectUnauthorized: ca !== undefined,
    handshakeTimeout: prefaceTimeoutMs,
  };
}

function isPem(value: unknown): value is string | Uint8Array {
  return typeof value === "string" || value instanceof Uint8Array;
}

function isUsable(pems: TlsOptions): boolean {
  try {
    createSecureContext(pems);
    return true;
  } catch {
    return false;
  }
}
