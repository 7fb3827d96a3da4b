import { toJsonSafe } from "@gossip/contracts";
import { maskCredentials, maskedJson } from "@gossip/insight";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface LogOptions {
  /** Lines of a lower level are left out. */
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** The id of this process, on every line. */
  readonly worker: string;
  readonly write: (line: string) => void;
  /** Default: the current time. */
  readonly now?: () => Date;
}

/** Writes lines with a time, a level and the worker's id. Credentials are masked. */
export class Log {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly worker: string;
  readonly #options: LogOptions;
  readonly #least: number;

  constructor(options: LogOptions) {
    this.level = options.level;
    this.format = options.format;
    this.worker = options.worker;
    this.#options = options;
    this.#least = LOG_LEVELS.indexOf(options.level);
  }

  line(level: LogLevel, message: string, fields: object = {}): void {
    if (LOG_LEVELS.indexOf(level) < this.#least) return;
    const { worker, write, now = () => new Date() } = this.#options;
    const time = now().toISOString();
    write(
      this.format === "json"
        ? `${maskedJson(toJsonSafe({ time, level, worker, message, ...fields }))}\n`
        : `${time} ${level.padEnd(5)} ${worker} ${maskCredentials(message)}\n`,
    );
  }
}
