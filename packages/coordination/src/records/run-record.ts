import type { LogicalTime, RunId, RunStatus, ShardId, TenantId } from "@gossip/contracts";
import type { LoggedOp, OpLog } from "./op-log.ts";
import type { RunConfig } from "./run-config.ts";
import type { RunOpKind } from "./run-op-kind.ts";

/** What a remembered operation of a run answered: the registered shards, or nothing but that it was done. */
export type RunOpResult =
  | { readonly kind: "RegisteredShards"; readonly shards: readonly ShardId[] }
  | { readonly kind: "Ack" };

/** One remembered operation of a run. */
export interface RunOpLogEntry extends LoggedOp {
  readonly kind: RunOpKind;
  readonly result: RunOpResult;
}

/** What an operation on a shard must know of its run. */
export interface RunHead {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly config: RunConfig;
  readonly status: RunStatus;
}

/** All that is known of a run, but for its shards. A value, as a shard's record is. */
export interface RunRecord extends RunHead {
  readonly createdAt: LogicalTime;
  /** Present exactly where the status is terminal. */
  readonly completedAt: LogicalTime | undefined;
  /** The shards that were registered, as the caller listed them. What splits make is not among them. */
  readonly rootShards: readonly ShardId[];
  readonly opLog: OpLog<RunOpLogEntry>;
  /** The greatest time at which this record was written, as in a shard's. *Addition.* */
  readonly lastTime: LogicalTime;
}

const NO_SHARDS: readonly ShardId[] = /* @__PURE__ */ Object.freeze([]);
const EMPTY_LOG: OpLog<RunOpLogEntry> = /* @__PURE__ */ Object.freeze([]);

export function newRunRecord(run: {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly config: RunConfig;
  readonly now: LogicalTime;
}): RunRecord {
  return {
    tenant: run.tenant,
    run: run.run,
    config: run.config,
    status: "Initializing",
    createdAt: run.now,
    completedAt: undefined,
    rootShards: NO_SHARDS,
    opLog: EMPTY_LOG,
    lastTime: run.now,
  };
}
