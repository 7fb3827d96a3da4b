export type { Durability } from "./durability.ts";
export { isRepairable, type CoverageFault, type FindingPlace, type FsckFinding } from "./fsck/finding.ts";
export type {
  CountScope,
  FsckSource,
  IndexEntry,
  RebuiltIndexes,
  RunView,
  StoredCount,
  StoredRunRecord,
  StoredShard,
  StoreView,
} from "./fsck/fsck-source.ts";
export { fsck, repair, type FsckOptions, type FsckReport } from "./fsck/fsck.ts";
export type { LmdbOpenError } from "./lmdb-open-error.ts";
export type { LmdbStore } from "./lmdb-store.ts";
export { openLmdbStore, type LmdbStoreOptions } from "./open-lmdb-store.ts";
