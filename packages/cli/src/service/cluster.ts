import { readFile } from "node:fs/promises";
import type { Cluster } from "@gossip/server";
import { ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../output/cli-error.ts";

export interface ClusterFlags {
  readonly cluster?: string;
  readonly node?: string;
}

/** This node's place in a cluster. */
export interface ClusterPlace {
  /** The absolute path of the cluster file. */
  readonly path: string;
  readonly cluster: Cluster;
  /** This node's name. */
  readonly self: string;
  /** This node's address in the file. */
  readonly address: string;
}

/** Read the cluster file of `--cluster`, and find this node in it. `undefined` if the node is by itself. */
export async function readClusterPlace(
  { cluster: file, node }: ClusterFlags,
  { isStoreShared, resolvePath }: { readonly isStoreShared: boolean; readonly resolvePath: (path: string) => string },
): Promise<Result<ClusterPlace | undefined, CliError>> {
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
