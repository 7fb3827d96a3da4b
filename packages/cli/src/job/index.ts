export { defineJob, type Job, type JobBatches, type JobFunction } from "./define-job.ts";
export {
  ParkShard,
  RetryAfter,
  type RetryAfterOptions,
  type FileItem,
  type Item,
  type ItemContext,
  type LineItem,
} from "@gossip/worker";
export type { RowItem } from "@gossip/source-postgres";
