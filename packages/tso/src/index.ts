export type { Clock } from "./clock.ts";
export type { CommitIgnored, CommitOutcome } from "./commit-outcome.ts";
export type { CoreError, CoreErrorKind, GrantError, PrepareError, SeedError } from "./core-error.ts";
export { Epoch, type EpochOutOfRange, type EpochWords } from "./epoch.ts";
export {
  EPOCH_MAX,
  isPhysicalMs,
  LOGICAL_BITS,
  LOGICAL_MAX,
  MAX_GRANT_COUNT,
  PHYSICAL_MS_MAX,
  TIMESTAMP_MAX,
} from "./limits.ts";
export { TimestampBuf } from "./timestamp-buf.ts";
export { Timestamp, type MalformedTimestamp, type TimestampParts } from "./timestamp.ts";
export { WindowAllocator, type LeadershipWindow } from "./window-allocator.ts";
export { isGrantCount, WindowGrant } from "./window-grant.ts";
