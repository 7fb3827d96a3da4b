import { type LogicalTime, type RunId, type RunStatus, type ShardId, type TenantId } from "@gossip/contracts";
import { assertObject } from "@gossip/stdx/internal";
import type { RunConfig } from "../records/run-config.ts";
import type { RunRecord } from "../records/run-record.ts";

/** A run for display: its record without the log, whose hashes stay hidden. *Addition.* */
export interface RunSummary {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly status: RunStatus;
  readonly config: RunConfig;
  readonly createdAt: LogicalTime;
  /** Present exactly if the run has ended. */
  readonly completedAt: LogicalTime | undefined;
  /** The shards that were registered, as the caller listed them. */
  readonly rootShards: readonly ShardId[];
}

export function summarizeRun(record: RunRecord): RunSummary {
  assertObject(record, "run record");
  const { tenant, run, status, config, createdAt, completedAt, rootShards } = record;
  return { tenant, run, status, config, createdAt, completedAt, rootShards };
}
