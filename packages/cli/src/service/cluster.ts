import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Clock } from "@gossip/contracts";
import type { CoordinationStore } from "@gossip/coordination";
import type { Cluster, ClusterRuntime, ScopeData, TlsFiles } from "@gossip/server";
import { err, ok, type Result } from "@gossip/stdx";
import type { Cli } from "../cli.ts";
import { fail, type CliError } from "../output/cli-error.ts";
import type { StoreAddress } from "../store-url/store-address.ts";

export interface ClusterFlags {
  readonly cluster?: string;
  readonly node?: string;
  readonly clusterState?: string;
  readonly clusterToken?: string;
  readonly tokens?: string;
  readonly tso?: string;
}

/** What a node of a cluster knows about itself. */
export interface ClusterMembership {
  /** The absolute path of the cluster file. */
  readonly path: string;
  readonly cluster: Cluster;
  /** This node's name. */
  readonly self: string;
  /** This node's address in the file. */
  readonly address: string;
}

/** Read the cluster file of `--cluster`, and find this node in it. `undefined` if the node is by itself. */
export async function readClusterMembership(
  { cluster: file, node }: ClusterFlags,
  { isStoreShared, resolvePath }: { readonly isStoreShared: boolean; readonly resolvePath: (path: string) => string },
): Promise<Result<ClusterMembership | undefined, CliError>> {
  if (file === undefined && node === undefined) return ok(undefined);
  if (file === undefined || node === undefined)
    return fail("BadCommandLine", "a node of a cluster needs its file and its name: give --cluster and --node.");
  const path = resolvePath(file);
  const cluster = await readCluster(path);
  if (!cluster.ok) return cluster;
  const address = cluster.value.addresses.get(node);
  if (address === undefined)
    return fail(
      "BadCommandLine",
      `${path} has no node ${node}: name one of ${[...cluster.value.addresses.keys()].join(", ")}.`,
    );
  if (!isStoreShared && cluster.value.table.scopes().some(({ fallback }) => fallback !== undefined))
    return fail(
      "BadCommandLine",
      `${path} declares a fallback, but another node cannot reach the folder of this store: use postgres:// or etcd://, or remove the fallback.`,
    );
  return ok({ path, cluster: cluster.value, self: node, address });
}

/** Read a cluster file. */
export async function readCluster(path: string): Promise<Result<Cluster, CliError>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (thrown) {
    const { code = "UNKNOWN" } = thrown as NodeJS.ErrnoException;
    return fail("BadCommandLine", `the cluster file ${path} cannot be read (${code}).`);
  }
  const { parseClusterFile } = await import("@gossip/server");
  const cluster = parseClusterFile(text);
  return cluster.ok
    ? cluster
    : fail("BadCommandLine", `the cluster file ${path} is not right: ${cluster.error.problems.join("; ")}.`);
}

interface ClusterParts {
  readonly membership: ClusterMembership | undefined;
  readonly address: StoreAddress;
  /** The records of an embedded store. */
  readonly data: ScopeData | undefined;
  /** The store, if the nodes share it. */
  readonly shared: CoordinationStore | undefined;
  readonly clock: Clock;
  readonly tls: TlsFiles | undefined;
  readonly onBroken: (code: string) => void;
}

/** Open this node's part of a cluster. `undefined` if the node is by itself. */
export async function openCluster(
  { cwd }: Cli,
  flags: ClusterFlags,
  { membership, address, data, shared, clock, tls, onBroken }: ClusterParts,
): Promise<Result<ClusterRuntime | undefined, CliError>> {
  if (membership === undefined) return ok(undefined);
  if (flags.tso === undefined && membership.cluster.addresses.size > 1)
    return fail("BadCommandLine", "the nodes of a cluster need one clock: give each of them the same --tso.");
  const folder = flags.clusterState ?? (address.kind === "lmdb" ? join(address.path, "cluster") : undefined);
  if (folder === undefined)
    return fail("BadCommandLine", "this node must remember what it owns: give --cluster-state FOLDER.");
  const tokens = await readTokens(flags, (file) => resolve(cwd, file));
  if (!tokens.ok) return tokens;
  const { ClusterRuntime: Runtime, oracleIdentity, StoreFences } = await import("@gossip/server");
  const opened = await Runtime.open({
    self: membership.self,
    cluster: membership.cluster,
    folder: resolve(cwd, folder),
    clock,
    oracle: oracleIdentity(flags.tso ?? "own clock"),
    store: address.kind,
    data,
    fences: shared && new StoreFences(shared, clock),
    tokens: tokens.value,
    tls,
    readCluster: async () => {
      const cluster = await readCluster(membership.path);
      return cluster.ok ? cluster : err(cluster.error.message);
    },
    onBroken: (thrown) => onBroken((thrown as NodeJS.ErrnoException).code ?? "UNKNOWN"),
  });
  if (opened.ok) return opened;
  const { error } = opened;
  return error.kind === "CorruptJournal"
    ? fail(
        "StoreDamaged",
        `the journal in ${folder} is damaged at line ${error.position + 1}: restore it from a backup.`,
      )
    : fail("StoreNotWritable", `the folder ${folder} cannot be used (${error.code}).`);
}

/** Read the tokens between nodes again. Returns what to say about it; `undefined` if there are none. */
export async function reloadTokens(
  { cwd }: Cli,
  flags: ClusterFlags,
  users: readonly (UsesTokens | undefined)[],
): Promise<string | undefined> {
  if (flags.clusterToken === undefined) return undefined;
  const tokens = await readTokens(flags, (file) => resolve(cwd, file));
  if (!tokens.ok || tokens.value === undefined) return "cannot be used: the old ones stay";
  for (const user of users) user?.reloadTokens?.(tokens.value);
  return "read again";
}

/** What nodes recognize each other by tokens for. */
interface UsesTokens {
  reloadTokens?(tokens: readonly string[]): void;
}

/** The tokens between nodes. A node that asks its clients for tokens must ask the other nodes for one, too. */
async function readTokens(
  { clusterToken, tokens }: ClusterFlags,
  resolvePath: (file: string) => string,
): Promise<Result<readonly string[] | undefined, CliError>> {
  if (clusterToken === undefined)
    return tokens === undefined
      ? ok(undefined)
      : fail("BadCommandLine", "nodes must recognize each other: give --cluster-token FILE.");
  const { parseClusterTokens } = await import("@gossip/server");
  try {
    const read = parseClusterTokens(await readFile(resolvePath(clusterToken), "utf8"));
    if (read !== undefined) return ok(read);
  } catch (thrown) {
    const { code = "UNKNOWN" } = thrown as NodeJS.ErrnoException;
    return fail("BadCommandLine", `the file of --cluster-token cannot be read (${code}).`);
  }
  return fail(
    "BadCommandLine",
    "the file of --cluster-token holds no token: `gossip scope token --help` shows how to create one.",
  );
}
