export type { UrlPart } from "./connection-url.ts";
export type { Migrated } from "./migrate.ts";
export {
  migratePostgresStore,
  openPostgresStore,
  type PostgresLocation,
  type PostgresStoreOptions,
} from "./open-postgres-store.ts";
export { postgresOpenErrorMessage, type PostgresOpenError } from "./postgres-open-error.ts";
export type { PostgresStore } from "./postgres-store.ts";
