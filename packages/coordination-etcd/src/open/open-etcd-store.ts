import { EtcdClient, type EtcdOptions } from "@gossip/etcd-client";
import { assert, ok, type Result } from "@gossip/stdx";
import { Cluster } from "../cluster/cluster.ts";
import type { EtcdOpenError } from "./etcd-open-error.ts";
import { EtcdStore } from "../etcd-store.ts";
import { parseEtcdUrl } from "./etcd-url.ts";
import { checkFormat, probeTxnOps } from "./format.ts";
import { Layout } from "../layout/layout.ts";

/** How to reach etcd: endpoints, or a URL that may include user, password and prefix. Other options override the URL. */
export interface EtcdStoreOptions extends Pick<
  EtcdOptions,
  "username" | "password" | "tls" | "requestTimeoutMs" | "connectTimeoutMs"
> {
  /** `http://host:port` or `https://host:port` of any number of members. */
  readonly endpoints?: readonly string[];
  /** `etcd://user:password@host:port,host:port/prefix`; `etcds:` for TLS. */
  readonly url?: string;
  /** Prefix of all keys; `gossip` by default. Stores with different prefixes are independent. */
  readonly prefix?: string;
}

const DEFAULT_PREFIX = "gossip";
const MAX_PREFIX_LENGTH = 128;
const PREFIX = /^[\w.-]+(\/[\w.-]+)*\/?$/u;

/** Opens a store in an etcd cluster. Creates the store if there are no keys under the prefix. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Result<EtcdStore, EtcdOpenError>> {
  assert(
    typeof options === "object" && options !== null,
    () => `etcd store options must be an object, got ${typeof options}`,
  );
  const { url, ...given } = options;
  assert(
    (url === undefined) !== (given.endpoints === undefined),
    "an etcd store is opened with either endpoints or a url",
  );
  const { prefix = DEFAULT_PREFIX, endpoints, ...rest } = { ...(url === undefined ? {} : parseEtcdUrl(url)), ...given };
  const isPrefix = typeof prefix === "string" && prefix.length <= MAX_PREFIX_LENGTH && PREFIX.test(prefix);
  assert(
    isPrefix,
    `prefix of an etcd store must be up to ${MAX_PREFIX_LENGTH} letters, digits and ._- in parts divided by slashes`,
  );

  const client = new EtcdClient({ ...rest, endpoints: endpoints! });
  const layout = new Layout(prefix.endsWith("/") ? prefix : `${prefix}/`);
  const maxTxnOps = await lookAround(client, layout);
  if (maxTxnOps.ok) return ok(new EtcdStore(new Cluster(client, { layout, maxTxnOps: maxTxnOps.value })));
  client.close();
  return maxTxnOps;
}

/** Checks that the prefix holds a store, or creates one. Returns the server's transaction limit. */
async function lookAround(client: EtcdClient, layout: Layout): Promise<Result<number, EtcdOpenError>> {
  const maxTxnOps = await probeTxnOps(client, layout);
  if (!maxTxnOps.ok) return maxTxnOps;
  const understood = await checkFormat(client, layout);
  return understood.ok ? maxTxnOps : understood;
}
