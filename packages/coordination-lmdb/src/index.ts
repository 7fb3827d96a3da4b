export type { Durability } from "./durability.ts";
export { lmdbOpenErrorMessage, type LmdbOpenError } from "./lmdb-open-error.ts";
export type { LmdbStore } from "./lmdb-store.ts";
export { openLmdbStore, type LmdbStoreOptions } from "./open-lmdb-store.ts";
export { verifyLmdbFolder, type VerifyOptions } from "./verify-folder.ts";
