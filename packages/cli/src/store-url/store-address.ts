import { isAbsolute, resolve } from "node:path";
import { ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../output/cli-error.ts";
import { serviceAt, type ServiceAddress } from "./service-address.ts";

/** Where a store is. */
export type StoreAddress = DirectAddress | ServiceAddress;

/** Where a store is that this process opens itself. */
export type DirectAddress =
  | { readonly kind: "lmdb"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: string; readonly schema: string | undefined }
  | {
      readonly kind: "etcd";
      readonly endpoints: readonly string[];
      readonly prefix: string | undefined;
      readonly login: { readonly username: string; readonly password: string } | undefined;
    };

/** The folder that is used by default. */
export const DEFAULT_STORE = ".gossip";

const WHAT_IT_IS =
  "give --store a folder, lmdb:FOLDER, postgres://USER:PASSWORD@HOST/DATABASE, etcd://HOST:2379 or https://HOST:PORT";

/** Parse the value of `--store`. */
export function parseStoreAddress(text: string, cwd: string): Result<StoreAddress, CliError> {
  if (text === "") return fail("BadCommandLine", `--store is empty: ${WHAT_IT_IS}.`);
  if (text.startsWith("lmdb:")) return lmdbAt(text.slice("lmdb:".length), cwd);
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === "postgres" || scheme === "postgresql") return postgresAt(text);
  if (scheme === "etcd" || scheme === "etcds") return etcdAt(text, scheme === "etcds" ? "https" : "http");
  if (scheme === "https" || scheme === "http") return serviceAt(text, cwd);
  // Something like a mistyped address is not made a folder: its name would be printed, and it may hold a password.
  if (scheme !== undefined || text.startsWith("//") || /:[^/]*@/.test(text))
    return fail("BadCommandLine", `--store is no address of a known kind: ${WHAT_IT_IS}.`);
  return lmdbAt(text, cwd);
}

/** The store for messages, without credentials. */
export function describeStore(address: StoreAddress): string {
  switch (address.kind) {
    case "lmdb":
      return address.path;
    case "postgres": {
      const { host, pathname } = new URL(address.url);
      return `PostgreSQL at ${host || "the local socket"}${pathname}`;
    }
    case "etcd":
      return `etcd at ${address.endpoints.map((endpoint) => new URL(endpoint).host).join(", ")}`;
    case "service":
      return `the service at ${new URL(address.url).host}`;
  }
}

function lmdbAt(path: string, cwd: string): Result<StoreAddress, CliError> {
  if (path === "") return fail("BadCommandLine", `lmdb: names no folder: ${WHAT_IT_IS}.`);
  return ok({ kind: "lmdb", path: isAbsolute(path) ? path : resolve(cwd, path) });
}

/** `?schema=NAME` is ours; everything else is the driver's. */
function postgresAt(text: string): Result<StoreAddress, CliError> {
  if (!/^[a-z]+:\/\//i.test(text) || !URL.canParse(text))
    return fail("BadCommandLine", `the PostgreSQL URL of --store cannot be read: ${WHAT_IT_IS}.`);
  const url = new URL(text);
  const schema = url.searchParams.get("schema") ?? undefined;
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    return fail(
      "BadCommandLine",
      "the schema in --store is not a lower-case name: leave ?schema= out, or use letters, digits and _.",
    );
  url.searchParams.delete("schema");
  return ok({ kind: "postgres", url: url.toString(), schema });
}

/** `etcd://[user:password@]host:port[,host:port…][/prefix]`. */
function etcdAt(text: string, scheme: "http" | "https"): Result<StoreAddress, CliError> {
  const [, userInfo, hosts, prefix] = /^etcds?:\/\/(?:([^/]*)@)?([^/?#@]+)(?:\/([^?#]*))?$/i.exec(text) ?? [];
  const endpoints = (hosts ?? "").split(",").map((host) => `${scheme}://${/:\d+$/.test(host) ? host : `${host}:2379`}`);
  const login = userInfo === undefined ? undefined : /^([^:]+):([^:]+)$/.exec(userInfo);
  const isPrefix =
    prefix === undefined || prefix === "" || (prefix.length <= 128 && /^[\w.-]+(\/[\w.-]+)*\/?$/.test(prefix));
  if (hosts === undefined || !endpoints.every((endpoint) => URL.canParse(endpoint)) || login === null || !isPrefix) {
    return fail(
      "BadCommandLine",
      "the etcd address of --store cannot be read: write etcd://HOST:2379 or etcd://A:2379,B:2379/PREFIX, and put a user and a password before the first host as in any URL.",
    );
  }
  return ok({
    kind: "etcd",
    endpoints,
    prefix: prefix || undefined,
    login: login === undefined ? undefined : { username: decode(login[1]!), password: decode(login[2]!) },
  });
}

/** Percent-decode; text that is not percent-encoded stays as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
