import type { LogicalTime, RunId, TenantId } from "@gossip/contracts";
import { coordError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import { RunConfig, type RunConfigInput } from "../records/run-config.ts";
import { assertRunRecord } from "../records/run-fault.ts";
import { newRunRecord, type RunRecord } from "../records/run-record.ts";
import { assertInput } from "./assert-input.ts";
import type { PutRun, Refusal, Transition } from "./transition.ts";

export interface CreateRunCommand {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly config: RunConfigInput;
}

/**
 * What is under a run's id.
 *
 * - `Missing` — the id was never used.
 * - `Found`   — a run.
 * - `Deleted` — there was one. The id stays used: fences of a new run would start again, and
 *   a worker of the old one, still asleep, could pass for one of the new.
 */
export type LoadedRun =
  | { readonly kind: "Missing" }
  | { readonly kind: "Found"; readonly record: RunRecord }
  | { readonly kind: "Deleted" };

/** Creates a run without shards. Checks, in this order: the configuration is valid; the id is free. Not idempotent. */
export function createRun(
  loaded: LoadedRun,
  command: CreateRunCommand,
  now: LogicalTime,
): Result<Transition<RunRecord, PutRun>, Refusal<"createRun">> {
  assertInput(loaded, command, now);
  const { tenant, run, config: input } = command;
  const config = RunConfig.tryNew(input);
  if (!config.ok) return err(coordError("InvalidConfig", { reason: config.error }));
  if (loaded.kind !== "Missing") return err(coordError("RunAlreadyExists", { run }));

  const record = newRunRecord({ tenant, run, config: config.value, now });
  assertRunRecord(record);
  return ok({
    outcome: record,
    writes: { kind: "PutRun", run: record, created: [], noShardsIn: [] },
    events: [{ kind: "RunCreated", tenant, run, at: now }],
  });
}
