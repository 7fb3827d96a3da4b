import type { LogicalTime, ShardStatus } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import type { UnsettledCounts } from "../../kernel/end-run.ts";
import { findRunFault } from "../../records/run-fault.ts";
import type { RunRecord } from "../../records/run-record.ts";
import { checkRunStep } from "../sim/invariants/check-run-rules.ts";
import type { Violation } from "../sim/invariants/violation.ts";
import type { Kernel } from "./deliver.ts";
import { RUN, TENANT } from "./explore-state.ts";
import type { RunMessage } from "./message.ts";

/** The result of a request to a run, and the rules that it broke. */
export interface RunDelivery {
  readonly run: RunRecord | undefined;
  readonly isDeleted: boolean;
  readonly answer: string;
  readonly violations: readonly Violation[];
}

export interface RunRequest {
  readonly run: RunRecord | undefined;
  readonly counts: UnsettledCounts;
  readonly message: RunMessage;
  readonly now: LogicalTime;
}

const ENDINGS = { CompleteRun: "completeRun", FailRun: "failRun", CancelRun: "cancelRun" } as const;

/** Passes a request to the kernel and checks the result against the rules of runs. */
export function deliverToRun(kernel: Kernel, request: RunRequest): RunDelivery {
  const { run, counts, message, now } = request;
  const command = { tenant: TENANT, run: RUN };
  if (message.kind === "DeleteRun") {
    const deleted = kernel.deleteRun(run, command, now);
    return { run, isDeleted: deleted.ok, answer: deleted.ok ? "Executed" : deleted.error.kind, violations: [] };
  }
  const ended = kernel[ENDINGS[message.kind]]({ run, counts }, { ...command, opId: message.opId, options: {} }, now);
  if (!ended.ok) return { run, isDeleted: false, answer: ended.error.kind, violations: [] };
  const { outcome, writes } = ended.value;
  if (writes === undefined) return { run, isDeleted: false, answer: outcome.kind, violations: [] };
  assert(writes.kind === "PutRun", "what ends a run writes it");
  return { run: writes.run, isDeleted: false, answer: outcome.kind, violations: checkEnd(request, writes.run) };
}

function checkEnd({ run: before, counts }: RunRequest, after: RunRecord): Violation[] {
  const fault = findRunFault(after);
  if (fault !== undefined) return [{ kind: "Thrown", message: `the run is invalid: ${fault}` }];
  return checkRunStep(before, after, Array<ShardStatus>(counts.active).fill("Active"));
}
