import { formatScopeProblem, parseScopes, type OwnershipTable } from "@gossip/scope";
import { err, ok, type Result } from "@gossip/stdx";
import { parse, TomlError } from "smol-toml";
import { isRoutingPrefix } from "./routing-key.ts";

/** The nodes of a cluster and the scopes that they own. */
export interface Cluster {
  /** The address of each node, as `host:port`, by name. */
  readonly addresses: ReadonlyMap<string, string>;
  readonly table: OwnershipTable;
}

/** Every problem of a cluster file, as sentences. */
export interface InvalidCluster {
  readonly kind: "InvalidCluster";
  readonly problems: readonly string[];
}

/** A name is a word of a URL and of a log line. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const ADDRESS = /^(?:\[[0-9a-fA-F:]+\]|[^\s:/[\]@]+):(\d{1,5})$/;

/**
 * Read a cluster file.
 *
 *     [[cluster.node]]
 *     name = "a"
 *     address = "10.0.0.1:7711"
 *
 *     [[cluster.scope]]
 *     prefix = "t/0"
 *     writer = "a"
 *     fallback = "b"
 *
 * Prefixes may be nested: the longest one decides, so that a single run can have a scope of its own.
 */
export function parseClusterFile(text: string): Result<Cluster, InvalidCluster> {
  const file = parseToml(text);
  if (!file.ok) return err({ kind: "InvalidCluster", problems: [file.error] });
  const { cluster, ...rest } = file.value;
  const problems = Object.keys(rest).map((name) => `${name} is not a part of a cluster file`);
  const { node, scope, ...others } = (isTable(cluster) ? cluster : {}) as Record<string, unknown>;
  problems.push(...Object.keys(others).map((name) => `cluster.${name} is not a part of a cluster file`));
  const addresses = readNodes(node, problems);
  const scopes = parseScopes(scope ?? [], { nested: "longest", peers: [...addresses.keys()] });
  if (!scopes.ok) problems.push(...scopes.error.problems.map(formatScopeProblem));
  else problems.push(...prefixProblems(scopes.value));
  if (addresses.size === 0) problems.push("there is no [[cluster.node]]");
  if (scopes.ok && scopes.value.isEmpty) problems.push("there is no [[cluster.scope]]");
  return scopes.ok && problems.length === 0
    ? ok({ addresses, table: scopes.value })
    : err({ kind: "InvalidCluster", problems });
}

function parseToml(text: string): Result<Record<string, unknown>, string> {
  try {
    return ok(parse(text));
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    return err(`line ${thrown.line} is not TOML`);
  }
}

function readNodes(input: unknown, problems: string[]): Map<string, string> {
  const addresses = new Map<string, string>();
  if (input !== undefined && !Array.isArray(input)) problems.push("write each node as [[cluster.node]]");
  (Array.isArray(input) ? input : []).forEach((entry: unknown, index) => {
    const { name, address, ...rest } = (isTable(entry) ? entry : {}) as Record<string, unknown>;
    const where = `node ${index + 1}`;
    for (const field of Object.keys(rest)) problems.push(`${where}: ${field} is neither name nor address`);
    if (typeof name !== "string" || !NAME.test(name)) problems.push(`${where}: name must be a word`);
    else if (addresses.has(name)) problems.push(`${where}: another node has the name ${name}`);
    else if (typeof address !== "string" || !(Number(ADDRESS.exec(address)?.[1]) <= 65_535))
      problems.push(`${where}: address must be host:port`);
    else addresses.set(name, address);
  });
  return addresses;
}

function prefixProblems(table: OwnershipTable): string[] {
  return table
    .scopes()
    .map(({ prefix }) => Buffer.from(prefix).toString("latin1"))
    .filter((prefix) => !isRoutingPrefix(prefix))
    .map((prefix) => `no run has a key that begins with ${JSON.stringify(prefix)}: write t/TENANT/r/RUN or its start`);
}

function isTable(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
