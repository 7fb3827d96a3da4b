export type { UrlPart } from "./open/connection-url.ts";
export type { Migrated } from "./open/migrate.ts";
export {
  migratePostgresStore,
  openPostgresStore,
  type PostgresLocation,
  type PostgresStoreOptions,
} from "./open/open-postgres-store.ts";
export { postgresOpenErrorMessage, type PostgresOpenError } from "./open/postgres-open-error.ts";
export type { PostgresStore } from "./postgres-store.ts";
