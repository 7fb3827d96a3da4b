import { Option, type Command } from "commander";
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from "./log.ts";

/** The options for logs and metrics, as text. */
export interface ObserveFlags {
  readonly logLevel?: LogLevel;
  readonly logFormat?: LogFormat;
  readonly metrics?: string;
}

/** Add the options for logs and metrics to a command that runs for long. */
export function addObserveOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--log-level <level>", "print a log of at least this level instead of the view").choices(LOG_LEVELS),
    )
    .addOption(new Option("--log-format <format>", "print a log in this form instead of the view").choices(LOG_FORMATS))
    .option("--metrics <host:port>", "serve Prometheus metrics, /healthz and /readyz there");
}
