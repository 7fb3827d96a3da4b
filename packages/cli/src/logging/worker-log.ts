import type { Logger } from "@gossip/worker";
import type { Log, LogLevel } from "./log.ts";

/** Events that the command reports itself, with more words. */
const REPORTED: ReadonlySet<string> = new Set([
  "ItemProblem",
  "LeaseLost",
  "StoreUnavailable",
  "StoreBack",
  "SourceUnavailable",
  "SourceBack",
  "SinkUnavailable",
  "SinkBack",
  "RunPaused",
  "RunResumed",
  "KeeperFailed",
  "LoopBlocked",
]);

/** The events of the worker runtime as lines of the log. Fields of text lines follow the message. */
export function workerLogger(log: Log): Logger {
  const at =
    (level: LogLevel) =>
    (fields: object, message: string): void => {
      const { event, willRetry } = fields as { readonly event?: string; readonly willRetry?: boolean };
      if (event !== undefined && (REPORTED.has(event) || willRetry === false)) return;
      log.line(level, log.format === "json" ? message : `${message}${asWords(fields)}`, fields);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function asWords(fields: object): string {
  return Object.entries(fields)
    .filter(([name, value]) => name !== "event" && (typeof value !== "object" || value === null))
    .map(([name, value]) => ` ${name}=${String(value)}`)
    .join("");
}
