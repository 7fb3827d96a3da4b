import { assert } from "@gossip/stdx";

/** What a URL of a store says. */
export interface EtcdUrl {
  readonly endpoints: readonly string[];
  readonly username?: string;
  readonly password?: string;
  readonly prefix?: string;
}

const FORM = /^(etcds?|https?):\/\/(?:([^:@/]*):([^@/]*)@)?([^@/?#]+)(?:\/([^?#]*))?$/u;

/**
 * Read `etcd://user:password@host:port,host:port/prefix`; `etcds:` for TLS. `http:` and `https:` mean the same.
 *
 * Where it makes no sense, what is thrown does not show it: there may be a password in it.
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
