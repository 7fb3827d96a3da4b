import { assert } from "@gossip/stdx";

/** The parts of a store URL. */
export interface EtcdUrl {
  readonly endpoints: readonly string[];
  readonly username?: string;
  readonly password?: string;
  readonly prefix?: string;
}

const FORM = /^(etcds?|https?):\/\/(?:([^:@/]*):([^@/]*)@)?([^@/?#]+)(?:\/([^?#]*))?$/u;

/**
 * Parses `etcd://user:password@host:port,host:port/prefix`; `etcds:` for TLS. `http:` and `https:` are synonyms.
 *
 * The error for a malformed URL does not show the URL, which may contain a password.
 */
export function parseEtcdUrl(url: string): EtcdUrl {
  const match = typeof url === "string" ? FORM.exec(url) : null;
  assert(
    match !== null,
    "the URL of an etcd store is etcd://host:port or etcd://user:password@host:port,host:port/prefix, etcds: for TLS",
  );
  const [, scheme, username, password, hosts, prefix] = match;
  const protocol = scheme === "etcds" || scheme === "https" ? "https" : "http";
  const endpoints = hosts!.split(",").map((host) => `${protocol}://${/:\d+$/u.test(host) ? host : `${host}:2379`}`);
  return {
    endpoints,
    ...(username === undefined ? {} : { username: decode(username), password: decode(password!) }),
    ...(prefix === undefined || prefix === "" ? {} : { prefix: decode(prefix) }),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    assert(false, "the URL of an etcd store must escape its special characters as %XX");
  }
}
