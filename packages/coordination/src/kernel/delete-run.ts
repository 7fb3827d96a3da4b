import { RunStatus, type LogicalTime, type RunId, type TenantId } from "@gossip/contracts";
import { coordError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import type { RunRecord } from "../records/run-record.ts";
import { assertInput } from "./assert-input.ts";
import { findRun } from "./find-run.ts";
import { clampToRecord } from "./logical-now.ts";
import type { Refusal, RemoveRun, Transition } from "./transition.ts";

export interface DeleteRunCommand {
  readonly tenant: TenantId;
  readonly run: RunId;
}

/**
 * Removes a run that has ended, with all its shards. *Addition.*
 *
 * Checks, in this order: the run exists; the tenant; the run has ended. Its id stays used.
 */
export function deleteRun(
  loaded: RunRecord | undefined,
  command: DeleteRunCommand,
  now: LogicalTime,
): Result<Transition<void, RemoveRun>, Refusal<"deleteRun">> {
  assertInput(loaded, command, now);
  const { tenant, run } = command;
  const found = findRun(loaded, tenant);
  if (!found.ok) return found;
  const { status } = found.value;
  if (!RunStatus.isTerminal(status)) return err(coordError("WrongStatus", { status, target: undefined }));
  return ok({
    outcome: undefined,
    writes: { kind: "RemoveRun" },
    events: [{ kind: "RunDeleted", tenant, run, at: clampToRecord(now, found.value) }],
  });
}
