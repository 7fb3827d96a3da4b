export { NoTime, patientClock } from "./clock/patient-clock.ts";
export { LOCAL_PRINCIPAL, Principal } from "./auth/principal.ts";
export type { ServedFile, ServedFiles } from "./console/console-files.ts";
export type { ConsoleService } from "./console/console-service.ts";
export type { HealthSource, InsightOptions } from "./console/insight-options.ts";
export { Service, type ServiceOptions } from "./execute/service.ts";
export type { WaiterTimers } from "./execute/claim-waiters.ts";
export { RequestHandler, type AuditEntry, type Authenticate, type HandlerOptions } from "./http/request-handler.ts";
export { DEFAULT_SERVICE_LIMITS, type ServiceLimits } from "./limits/limits.ts";
export type {
  ClusterControl,
  InvalidFile,
  MoveCommand,
  MoveError,
  TakenScope,
  UnknownNode,
} from "./move/cluster-control.ts";
export { ClusterRuntime, type ClusterRuntimeOptions } from "./move/cluster-runtime.ts";
export { makeClusterToken, parseClusterTokens } from "./move/cluster-token.ts";
export { StoreFences, type FenceRegister, type Takeover } from "./move/fence-register.ts";
export { oracleIdentity, type HelloRefusal } from "./move/hello.ts";
export type { JournalError } from "./move/journal-file.ts";
export type { ScopeData } from "./move/scope-data.ts";
export { parseClusterFile, type Cluster, type InvalidCluster } from "./ownership/cluster-file.ts";
export type { PeerTls } from "./ownership/peer-links.ts";
export { GossipServer, type ServiceAddress, type ServerOptions, type ServeError, type TlsFiles } from "./server.ts";
export { TokenBook, type TokenBookOptions } from "./auth/token-book.ts";
export { changeTokenFile, readTokenFile, type TokenFileError } from "./auth/token-file.ts";
export { isTokenLive, makeToken, type TokenRecord } from "./auth/token.ts";
