import type { LogicalTime, RunId, RunStatus, ShardId, TenantId } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import type { LoggedOp, OpLog } from "./op-log.ts";
import type { RunConfig } from "./run-config.ts";
import type { RunOpKind } from "./run-op-kind.ts";

/** The result of a logged operation of a run: the registered shards, or an acknowledgment. */
export type RunOpResult =
  | { readonly kind: "RegisteredShards"; readonly shards: readonly ShardId[] }
  | { readonly kind: "Ack" };

/** One logged operation of a run. */
export interface RunOpLogEntry extends LoggedOp {
  readonly kind: RunOpKind;
  readonly result: RunOpResult;
}

/** The part of a run that operations on its shards need. */
export interface RunHead {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly config: RunConfig;
  readonly status: RunStatus;
}

/** Everything about a run except its shards. A value, like a shard's record. */
export interface RunRecord extends RunHead {
  readonly createdAt: LogicalTime;
  /** Present exactly if the status is terminal. */
  readonly completedAt: LogicalTime | undefined;
  /**
   * The shards that were registered, in the caller's order; of a run that was registered in pages, those of the last.
   * Shards that splits created are not included.
   */
  readonly rootShards: readonly ShardId[];
  readonly opLog: OpLog<RunOpLogEntry>;
  /** The latest time at which this record was written, as in a shard's record. *Addition.* */
  readonly lastTime: LogicalTime;
}

const NO_SHARDS: readonly ShardId[] = /* @__PURE__ */ Object.freeze([]);
const EMPTY_LOG: OpLog<RunOpLogEntry> = /* @__PURE__ */ Object.freeze([]);

/**
 * Whether a run was registered in pages. Then `rootShards` are those of the last page, and the others are the shards
 * without a parent. *Addition.*
 */
export function isPaged(run: RunRecord): boolean {
  return assertLoggedRun(run).opLog.filter(({ kind }) => kind === "RegisterShards").length > 1;
}

/** Throws unless the value has a log, as every run's record does. */
export function assertLoggedRun(run: RunRecord): RunRecord {
  assertObject(run, "run record");
  assert(Array.isArray(run.opLog), "the log of a run record must be an array");
  for (const entry of run.opLog) assertObject(entry, "log entry of a run record");
  return run;
}

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
