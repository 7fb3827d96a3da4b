import type { InitialShardInput, LogicalTime, OpId } from "@gossip/contracts";
import { coordError, IdempotentOutcome } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import { RunConfig } from "../records/run-config.ts";
import { newRunRecord, type RunRecord } from "../records/run-record.ts";
import { assertInput } from "./assert-input.ts";
import { findRun } from "./find-run.ts";
import type { CreateRunCommand, LoadedRun } from "./create-run.ts";
import { registerShards, type LoadedRegistration } from "./register-shards.ts";
import type { PutRun, Refusal, Transition } from "./transition.ts";

export interface CreateRunWithShardsCommand extends CreateRunCommand {
  readonly shards: readonly InitialShardInput[];
  readonly opId: OpId;
}

/** The run, and its pages if it has some. */
export interface LoadedCreation extends Omit<LoadedRegistration, "run"> {
  readonly loaded: LoadedRun;
}

/**
 * Creates a run with its first shards in one transition, so that a refused manifest leaves no run behind.
 *
 * An existing run with the same configuration counts as an earlier attempt. Checks, in this order: the configuration is
 * valid; the id was not deleted; the run belongs to the tenant and has this configuration; then as in `registerShards`.
 */
export function createRunWithShards(
  creation: LoadedCreation,
  command: CreateRunWithShardsCommand,
  now: LogicalTime,
): Result<Transition<IdempotentOutcome<RunRecord>, PutRun>, Refusal<"createRunWithShards">> {
  assertInput(creation, command, now);
  const { loaded, ...pages } = creation;
  const { tenant, run } = command;
  const config = RunConfig.tryNew(command.config);
  if (!config.ok) return err(coordError("InvalidConfig", { reason: config.error }));
  if (loaded.kind === "Deleted") return err(coordError("RunAlreadyExists", { run }));
  if (loaded.kind === "Found") {
    const found = findRun(loaded.record, tenant);
    if (!found.ok) return err(coordError("GetRunFailed", { reason: found.error }));
    if (!RunConfig.equals(loaded.record.config, config.value)) return err(coordError("ConfigMismatch", { run }));
  }

  const isNew = loaded.kind === "Missing";
  const record = isNew ? newRunRecord({ tenant, run, config: config.value, now }) : loaded.record;
  const registered = registerShards({ ...pages, run: record }, command, now);
  if (!registered.ok) return err(coordError("RegisterShardsFailed", { reason: registered.error }));
  const { outcome, writes, events } = registered.value;
  return ok({
    outcome: IdempotentOutcome.map(outcome, (value) => value.run),
    writes,
    events: isNew ? [{ kind: "RunCreated", tenant, run, at: now }, ...events] : events,
  });
}
