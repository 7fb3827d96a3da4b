import { createSecureContext } from "node:tls";
import { assert, assertCount } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { systemTimers, type Timers } from "./timers.ts";

/** How members are known, and how this client is known to them. Each is what Node's `tls` takes: PEM text or bytes. */
export interface EtcdTls {
  /** The certificate authorities of the members; the system's by default. */
  readonly ca?: string | Uint8Array;
  /** This client's certificate and its key, if the server asks for one. Both or neither. */
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
  /** The name that the members' certificates have, if it is not the host of the endpoint. */
  readonly serverName?: string;
}

export interface EtcdOptions {
  /** `http://host:port` or `https://host:port` of any number of members. */
  readonly endpoints: readonly string[];
  /** The user to log in as, if the server has authentication enabled. Both or neither. */
  readonly username?: string;
  readonly password?: string;
  readonly tls?: EtcdTls;
  /** Time limit of one request, including retries on other members; 5 seconds by default. */
  readonly requestTimeoutMs?: number;
  /** Time limit for connecting, after which the next member is tried; 1 second by default. */
  readonly connectTimeoutMs?: number;
  /** Maximum size of a request and of a response in bytes, as JSON; 16 MiB by default. */
  readonly maxMessageSize?: number;
  /** Maximum number of connections to one member; 64 by default. Further requests wait. */
  readonly maxConnections?: number;
  readonly timers?: Timers;
}

/** Options that have been checked, with everything that was left out. */
export interface CheckedOptions extends Required<Omit<EtcdOptions, "endpoints" | "username" | "password">> {
  readonly urls: readonly URL[];
  readonly credentials: Credentials | undefined;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

const LONGEST_MS = 2 ** 31 - 1;

export function checkOptions(options: EtcdOptions): CheckedOptions {
  assertObject(options, "the options of an etcd client");
  const { endpoints, tls = {}, timers = systemTimers } = options;
  const { requestTimeoutMs = 5000, connectTimeoutMs = 1000, maxMessageSize = 16 << 20, maxConnections = 64 } = options;
  assert(Array.isArray(endpoints) && endpoints.length > 0, "etcd has at least one endpoint");
  assertCount(requestTimeoutMs, "requestTimeoutMs", { min: 1, max: LONGEST_MS });
  assertCount(connectTimeoutMs, "connectTimeoutMs", { min: 1, max: LONGEST_MS });
  assertCount(maxMessageSize, "maxMessageSize", { min: 1024, max: 2 ** 30 });
  assertCount(maxConnections, "maxConnections", { min: 1, max: 65_535 });
  assertTls(tls);
  const limits = { requestTimeoutMs, connectTimeoutMs, maxMessageSize, maxConnections };
  return { urls: endpoints.map(parseEndpoint), credentials: credentialsOf(options), tls, timers, ...limits };
}

function credentialsOf({ username, password }: EtcdOptions): Credentials | undefined {
  if (username === undefined && password === undefined) return undefined;
  const isText = typeof username === "string" && username !== "" && typeof password === "string";
  assert(isText, "a login at etcd takes a user name that is not empty and a password, both as text");
  return { username, password };
}

function assertTls(tls: EtcdTls): void {
  assertObject(tls, "tls");
  const isPem = (value: unknown): boolean =>
    value === undefined || typeof value === "string" || value instanceof Uint8Array;
  assert(isPem(tls.ca) && isPem(tls.cert) && isPem(tls.key), "certificates and keys are PEM, as text or bytes");
  assert(
    (tls.cert === undefined) === (tls.key === undefined),
    "a client certificate needs its key, and a key its certificate",
  );
  assert(isUsable(tls), "certificates and keys must be PEM that OpenSSL can read, and belong together");
  assert(tls.serverName === undefined || typeof tls.serverName === "string", "serverName is a text");
}

function isUsable({ ca, cert, key }: EtcdTls): boolean {
  const bytes = (pem: string | Uint8Array | undefined) => (pem === undefined ? undefined : Buffer.from(pem));
  try {
    createSecureContext({ ca: bytes(ca), cert: bytes(cert), key: bytes(key) });
    return true;
  } catch {
    return false;
  }
}

/** No message here includes the endpoint, which may contain a misplaced password. */
function parseEndpoint(endpoint: string): URL {
  assert(
    typeof endpoint === "string" && URL.canParse(endpoint),
    "an etcd endpoint is a URL such as http://127.0.0.1:2379",
  );
  const url = new URL(endpoint);
  assert(url.protocol === "http:" || url.protocol === "https:", "an etcd endpoint begins with http:// or https://");
  assert(url.pathname === "/" && url.search === "" && url.hash === "", "an etcd endpoint ends with its host and port");
  assert(
    url.username === "" && url.password === "",
    "an etcd endpoint has no user and password in it: they are options of their own",
  );
  return url;
}
