export { isRepairable, type CoverageFault, type RunAddress, type FsckFinding } from "./finding.ts";
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
} from "./fsck-source.ts";
export { fsck, repair, type FsckOptions, type FsckReport } from "./fsck.ts";
export { inspectThroughPort } from "./inspect-through-port.ts";
export { RunCensus } from "./run-census.ts";
export { StatusCounts, type CountedStatus } from "./status-counts.ts";
