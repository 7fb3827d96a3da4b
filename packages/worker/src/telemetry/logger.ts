import { ShardId } from "@gossip/contracts";
import { Redacted } from "@gossip/stdx";
import type { WorkerEvent, WorkerEventKind } from "../runtime/worker-event.ts";
import type { WorkerSummary } from "../runtime/worker-summary.ts";
import { codeOf } from "../sources/system-words.ts";

/** The logger interface that the runtime needs: fields first, then a message, like pino. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

type Level = keyof Logger;

/** How each kind of event is logged. */
const LINES = {
  ShardClaimed: { level: "debug", message: "claimed a shard" },
  ShardCheckpointed: { level: "debug", message: "stored progress" },
  ShardCompleted: { level: "info", message: "completed a shard" },
  ShardParked: { level: "warn", message: "parked a shard" },
  ShardReleased: { level: "info", message: "released a shard" },
  LeaseLost: { level: "warn", message: "lost a shard" },
  ShardSplit: { level: "info", message: "split a shard for idle workers" },
  ItemFailed: { level: "warn", message: "an item failed" },
  ItemProblem: { level: "warn", message: "the source reported a problem" },
  SourceFailed: { level: "warn", message: "the source cannot be read" },
  SinkFailed: { level: "error", message: "results cannot be written" },
  StoreFailed: { level: "debug", message: "a store operation failed" },
  StoreUnavailable: { level: "warn", message: "the store is unavailable; waiting for it" },
  StoreBack: { level: "info", message: "the store is available again" },
  SourceUnavailable: { level: "warn", message: "the source is unavailable; waiting for it" },
  SinkUnavailable: { level: "warn", message: "the disk of the results is full; waiting for room" },
  SinkBack: { level: "info", message: "there is room for the results again" },
  SourceBack: { level: "info", message: "the source is available again" },
  RunPaused: { level: "info", message: "the run is paused; waiting" },
  RunResumed: { level: "info", message: "the run is resumed" },
  Waiting: { level: "debug", message: "nothing to claim; waiting" },
  LoopBlocked: { level: "warn", message: "the event loop was blocked" },
  KeeperFailed: { level: "error", message: "the thread that renews leases failed" },
} as const satisfies Readonly<Record<WorkerEventKind, { readonly level: Level; readonly message: string }>>;

export function logEvent(logger: Logger, event: WorkerEvent): void {
  const { level, message } = LINES[event.kind];
  logger[level](fieldsOf(event), message);
}

export function logSummary(logger: Logger, { stopped, ...progress }: WorkerSummary): void {
  const isClean = stopped.kind === "Done" || stopped.kind === "Aborted" || stopped.kind === "RunTerminal";
  logger[isClean ? "info" : "error"]({ ...progress, stopped: stopped.kind }, "the work has ended");
}

/**
 * The fields of an event in a form that any logger can write: ids as hex digits, errors by kind, and thrown values by
 * name and code only, because their message may contain anything.
 */
function fieldsOf(event: WorkerEvent): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = { event: event.kind };
  for (const [name, value] of Object.entries(event)) {
    if (name === "kind" || name === "key" || name === "item" || value === undefined) continue;
    if (name === "cause") Object.assign(fields, describeCause(value));
    else if (name === "error") fields["error"] = (value as { readonly kind: string }).kind;
    else fields[name] = typeof value === "bigint" ? ShardId.format(value as ShardId) : value;
  }
  return fields;
}

function describeCause(cause: unknown): Readonly<Record<string, unknown>> {
  if (typeof cause === "string") return { cause };
  const thrown = cause instanceof Redacted ? Redacted.reveal(cause as Redacted<unknown>) : undefined;
  if (!(thrown instanceof Error)) return { thrown: typeof thrown };
  const code = codeOf(thrown);
  return code === undefined ? { thrown: thrown.name } : { thrown: thrown.name, code };
}
