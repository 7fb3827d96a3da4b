export { openPostgresStore, type PostgresStoreOptions } from "./open-postgres-store.ts";
export type { PostgresOpenError } from "./postgres-open-error.ts";
export type { PostgresStore } from "./postgres-store.ts";
