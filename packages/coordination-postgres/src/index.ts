export { openPostgresStore, type PostgresStoreOptions } from "./open-postgres-store.ts";
export { postgresOpenErrorMessage, type PostgresOpenError } from "./postgres-open-error.ts";
export type { PostgresStore } from "./postgres-store.ts";
