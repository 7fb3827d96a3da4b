import { LogicalTime, RunStatus, type ShardId } from "@gossip/contracts";
import { protocolError } from "@gossip/protocol";
import type { RunRequest, ShardRecord } from "@gossip/coordination";
import { runOf } from "../execute/call.ts";
import { isFailure, type ElementContext, type Failure } from "../execute/element-context.ts";
import type { ConsoleService } from "./console-service.ts";
import type { RunView } from "./run-view.ts";

/** A run that a page asks for, and what shows it. */
export interface ShownRun {
  readonly console: ConsoleService;
  readonly view: RunView;
  readonly request: RunRequest;
}

export function consoleOf(context: ElementContext): ConsoleService | Failure {
  return context.service.console ?? context.refuse(protocolError("UnknownPath", "this server has no console"));
}

/** The run that a path names, with a look at it that is not old. */
export async function shownRunOf(
  context: ElementContext,
  params: Readonly<Record<string, string>>,
  tenant: string | undefined,
): Promise<ShownRun | Failure> {
  const service = consoleOf(context);
  if (isFailure(service)) return service;
  const request = runOf(context, params, tenant);
  if (isFailure(request)) return request;
  const record = await context.coordinator.getRun(request);
  if (!record.ok) return context.fail(record.error);
  const view = service.views.of(record.value);
  await view.fresh();
  return { console: service, view, request };
}

/** The time by the coordinator's clock, or 0 if it has none. */
export async function nowOf(context: ElementContext): Promise<LogicalTime> {
  try {
    return await context.service.clock.now();
  } catch {
    return LogicalTime.fromRaw(1n);
  }
}

/** Several shards of a run. Those that do not exist are left out. */
export async function readShards(
  context: ElementContext,
  { tenant, run }: RunRequest,
  ids: readonly ShardId[],
): Promise<readonly ShardRecord[]> {
  const read = await Promise.all(ids.map((shard) => context.coordinator.getShard({ tenant, key: { run, shard } })));
  return read.flatMap((shard) => (shard.ok && shard.value !== undefined ? [shard.value] : []));
}

export function isOver({ status }: { readonly status: RunStatus }): boolean {
  return RunStatus.isTerminal(status);
}

/** A number in a query, within bounds. */
export function numberIn(
  text: string | undefined,
  { standard, max }: { readonly standard: number; readonly max: number },
) {
  return Math.min(max, Math.max(1, text === undefined ? standard : Number(text)));
}

/** The part of the axis that a query names: never empty. */
export function partOf({ from = "0", to = "1" }: { readonly from?: string; readonly to?: string }) {
  const low = Math.min(1, Math.max(0, Number(from)));
  const high = Math.min(1, Math.max(0, Number(to)));
  return high > low
    ? { from: low, to: high }
    : { from: Math.min(low, 1 - LEAST), to: Math.min(low, 1 - LEAST) + LEAST };
}

const LEAST = 1e-12;
