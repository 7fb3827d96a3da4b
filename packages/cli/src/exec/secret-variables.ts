/**
 * The environment of commands: that of this process, without tokens and the store's address, which may hold a password.
 *
 * The variables of PostgreSQL itself (such as `PGPASSWORD`) stay, because a command may need them for its own database.
 */
export function commandEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { GOSSIP_STORE: _store, GOSSIP_TOKEN: _token, GOSSIP_TSO_TOKEN: _tsoToken, ...rest } = env;
  return rest;
}
