export { LOCAL_PRINCIPAL, Principal } from "./auth/principal.ts";
export { Service, type ServiceOptions } from "./execute/service.ts";
export type { WaiterTimers } from "./execute/claim-waiters.ts";
export { RequestHandler, type AuditEntry, type Authenticate, type HandlerOptions } from "./http/request-handler.ts";
export { DEFAULT_SERVICE_LIMITS, type ServiceLimits } from "./limits/limits.ts";
export { GossipServer, type ServiceAddress, type ServerOptions, type ServeError, type TlsFiles } from "./server.ts";
export { TokenBook, type TokenBookOptions } from "./auth/token-book.ts";
export { changeTokenFile, readTokenFile, type TokenFileError } from "./auth/token-file.ts";
export { isTokenLive, makeToken, TOKEN_PREFIX, type TokenRecord } from "./auth/token.ts";
