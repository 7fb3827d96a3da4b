/**
 * For the other packages of this repository only. Anything here can change or disappear in any release,
 * without a major version. Published packages contain no types for this entry.
 *
 * @internal
 */
export { parseEtcdFlags, readEtcdSettings, type EtcdFlags } from "./flags/etcd-flags.ts";
export { readTsoFlag, TSO_TOKEN_VARIABLE } from "./flags/client-flags.ts";
export { reloadServer } from "./flags/reload-server.ts";
export { readServerFlags, type ServerFlags } from "./flags/server-flags.ts";
