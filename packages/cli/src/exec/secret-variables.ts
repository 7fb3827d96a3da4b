/** Variables of the environment that may hold a secret of `gossip`. Jobs must not see them. */
const SECRET_VARIABLES: ReadonlySet<string> = new Set([
  "GOSSIP_STORE",
  "GOSSIP_TOKEN",
  "GOSSIP_TSO_TOKEN",
  "GOSSIP_ETCD_PASSWORD",
]);

/**
 * The environment of commands: that of this process without its secrets.
 *
 * The variables of PostgreSQL itself (such as `PGPASSWORD`) stay, because a command may need them for its own database.
 */
export function commandEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SECRET_VARIABLES.has(name)));
}

/** Removes the secrets from an environment, and returns all that it held before. */
export function takeSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const all = { ...env };
  for (const name of SECRET_VARIABLES) delete env[name];
  return all;
}
