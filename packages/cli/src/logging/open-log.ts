import { randomBytes } from "node:crypto";
import { WorkerId } from "@gossip/contracts";
import type { Cli } from "../cli.ts";
import { Log } from "./log.ts";
import type { ObserveFlags } from "./log-options.ts";

/** The log of a process that works on a run. */
export interface OpenedLog {
  readonly log: Log;
  /** The id of this process. */
  readonly worker: WorkerId;
  /** Whether the options ask for a log. */
  readonly isWanted: boolean;
}

/** Open the log on stderr. If the options ask for one, errors are lines of it too. */
export function openLog({ console }: Cli, { logLevel, logFormat }: ObserveFlags): OpenedLog {
  const worker = WorkerId.fromRaw(randomBytes(8).readBigUInt64BE());
  const log = new Log({
    level: logLevel ?? "info",
    format: logFormat ?? "text",
    worker: WorkerId.format(worker),
    write: (line) => void console.stderr.write(line),
  });
  const isWanted = logLevel !== undefined || logFormat !== undefined;
  if (isWanted) console.log = log;
  return { log, worker, isWanted };
}
