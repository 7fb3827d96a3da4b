export type { Durability } from "./open/durability.ts";
export { lmdbOpenErrorMessage, type LmdbOpenError } from "./open/lmdb-open-error.ts";
export type { LmdbStore } from "./lmdb-store.ts";
export { openLmdbStore, type LmdbStoreOptions } from "./open/open-lmdb-store.ts";
export type { IncludesRun, RunTransfer } from "./transfer/run-transfer.ts";
export { verifyLmdbFolder, type VerifyOptions } from "./inspect/verify-folder.ts";
