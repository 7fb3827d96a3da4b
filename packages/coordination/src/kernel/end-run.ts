import {
  RUN_OP_LOG_CAP,
  RunStatus,
  type LogicalTime,
  type OpId,
  type RunId,
  type ShardStatus,
  type TenantId,
} from "@gossip/contracts";
import { coordError, IdempotentOutcome, type ErrorOfKind } from "@gossip/coordination-errors";
import { assert, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { runTransitionHash } from "../hashing/payload-hash.ts";
import { appendOp } from "../records/op-log.ts";
import { assertRunRecord } from "../records/run-fault.ts";
import type { RunRecord } from "../records/run-record.ts";
import { assertInput } from "./assert-input.ts";
import { checkRunOpIdempotency } from "./check-op-idempotency.ts";
import { findRun } from "./find-run.ts";
import { clampToRecord } from "./logical-now.ts";
import { nothingToDo, type PutRun, type Refusal, type Transition } from "./transition.ts";

export interface EndRunCommand {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly opId: OpId;
}

/** Which unsettled shards `completeRun` accepts. Not part of the payload. *Addition.* */
export interface CompleteRunOptions {
  /** Parked shards count as settled. */
  readonly acceptParked?: boolean;
  /** All shards count as settled. */
  readonly force?: boolean;
}

/** The number of shards that prevent the completion of a run. */
export interface UnsettledCounts {
  readonly active: number;
  readonly parked: number;
}

/** The three ways in which a run ends. */
const ENDINGS = {
  completeRun: { target: "Done", op: "CompleteRun", event: "RunCompleted" },
  failRun: { target: "Failed", op: "FailRun", event: "RunFailed" },
  cancelRun: { target: "Cancelled", op: "CancelRun", event: "RunCancelled" },
} as const;

type Ending = keyof typeof ENDINGS;
type EndedRun = Transition<IdempotentOutcome<RunRecord>, PutRun>;

/**
 * Completes a run.
 *
 * Checks, in this order: the run exists; the tenant; a repeated operation; the run has not ended; it is active; every
 * shard is settled. `counts` are as of the read; the write requires that every shard is still settled.
 */
export function completeRun(
  loaded: { readonly run: RunRecord | undefined; readonly counts: UnsettledCounts },
  command: EndRunCommand & { readonly options: CompleteRunOptions },
  now: LogicalTime,
): Result<EndedRun, Refusal<"completeRun">> {
  assertInput(loaded, command, now);
  assertObject(command.options, "options of completeRun");
  const open = openRun("completeRun", loaded.run, command);
  if (!open.ok) return open;
  if (open.value.isReplay) return ok(replayed(open.value.run));
  const { acceptParked = false, force = false } = command.options;
  const { active, parked } = loaded.counts;
  if (!force && (active > 0 || (parked > 0 && !acceptParked))) {
    return err(coordError("RunUnsettled", { active, parked }));
  }
  const unsettled: readonly ShardStatus[] = acceptParked ? ["Active"] : ["Active", "Parked"];
  return ok(end("completeRun", open.value.run, { opId: command.opId, now, noShardsIn: force ? [] : unsettled }));
}

/** Fails a run. As `completeRun`, whatever its shards are doing. */
export function failRun(
  loaded: { readonly run: RunRecord | undefined },
  command: EndRunCommand,
  now: LogicalTime,
): Result<EndedRun, Refusal<"failRun">> {
  assertInput(loaded, command, now);
  const open = openRun("failRun", loaded.run, command);
  if (!open.ok) return open;
  const { run, isReplay } = open.value;
  return ok(isReplay ? replayed(run) : end("failRun", run, { opId: command.opId, now, noShardsIn: [] }));
}

/** Cancels a run. As `failRun`, but the run may also be initializing. */
export function cancelRun(
  loaded: { readonly run: RunRecord | undefined },
  command: EndRunCommand,
  now: LogicalTime,
): Result<EndedRun, Refusal<"cancelRun">> {
  assertInput(loaded, command, now);
  const open = openRun("cancelRun", loaded.run, command);
  if (!open.ok) {
    const { error } = open;
    assert(error.kind !== "WrongStatus", "a run can be canceled in every state before its end");
    return err(error);
  }
  const { run, isReplay } = open.value;
  return ok(isReplay ? replayed(run) : end("cancelRun", run, { opId: command.opId, now, noShardsIn: [] }));
}

function openRun(
  ending: Ending,
  loaded: RunRecord | undefined,
  { tenant, opId }: EndRunCommand,
): Result<{ readonly run: RunRecord; readonly isReplay: boolean }, Refusal<"failRun"> | ErrorOfKind<"WrongStatus">> {
  const found = findRun(loaded, tenant);
  if (!found.ok) return found;
  const run = found.value;
  const logged = checkRunOpIdempotency(run.opLog, { opId, payloadHash: runTransitionHash(ending) });
  if (!logged.ok) return logged;
  if (logged.value !== undefined) return ok({ run, isReplay: true });
  const { status } = run;
  if (RunStatus.isTerminal(status)) return err(coordError("RunTerminal", { status }));
  if (status !== "Active" && ending !== "cancelRun") {
    return err(coordError("WrongStatus", { status, target: ENDINGS[ending].target }));
  }
  return ok({ run, isReplay: false });
}

function replayed(run: RunRecord): EndedRun {
  return nothingToDo(IdempotentOutcome.replayed(run));
}

function end(
  ending: Ending,
  run: RunRecord,
  {
    opId,
    now,
    noShardsIn,
  }: { readonly opId: OpId; readonly now: LogicalTime; readonly noShardsIn: readonly ShardStatus[] },
): EndedRun {
  const { target, op, event } = ENDINGS[ending];
  const at = clampToRecord(now, run);
  const payloadHash = runTransitionHash(ending);
  const ended: RunRecord = {
    ...run,
    status: target,
    completedAt: at,
    opLog: appendOp(
      run.opLog,
      { opId, kind: op, payloadHash, executedAt: at, result: { kind: "Ack" } },
      RUN_OP_LOG_CAP,
    ),
    lastTime: at,
  };
  assertRunRecord(ended);
  return {
    outcome: IdempotentOutcome.executed(ended),
    writes: { kind: "PutRun", run: ended, created: [], noShardsIn },
    events: [{ kind: event, tenant: run.tenant, run: run.run, at }],
  };
}
