import type { Console } from "../output/console.ts";
import { printableText } from "../output/printable.ts";
import { plainLine } from "../progress/progress-lines.ts";
import type { ProgressView, RunProgressShown, ShownFailure } from "../progress/run-progress.ts";
import type { Log, LogLevel } from "./log.ts";

/** Messages that are not of the level `info`, by their kind. */
const LEVELS: Readonly<Record<string, LogLevel>> = {
  problem: "warn",
  lost: "warn",
  unavailable: "warn",
  blocked: "warn",
  clockSkew: "warn",
  sourceFailed: "error",
  keeperFailed: "error",
};

/** Lines of a log on stderr. Reports progress now and then, and only if there was some. */
export class LogView implements ProgressView {
  readonly everyMs = 5000;
  readonly #console: Console;
  readonly #log: Log;
  #last = "";

  constructor(console: Console, log: Log) {
    this.#console = console;
    this.#log = log;
  }

  show(progress: RunProgressShown): void {
    const line = plainLine(progress);
    if (line === this.#last) return;
    this.#last = line;
    const { overview, fraction, perSecond, remainingMs, held } = progress;
    this.#log.line(progress.outage === undefined ? "info" : "warn", line, {
      kind: "progress",
      ...overview.totals,
      shards: overview.states,
      fraction,
      perSecond,
      remainingMs,
      held,
    });
  }

  showEnd(): void {}

  say(text: string, fields: object = { kind: "note" }): void {
    const { kind } = fields as { readonly kind?: string };
    this.#log.line(LEVELS[kind ?? ""] ?? "info", this.#console.complete(text), fields);
  }

  failed({ item, failure, stderr }: ShownFailure): void {
    const message = `failed: ${item} (${printableText(failure)})${stderr === "" ? "" : `: ${stderr}`}`;
    this.#log.line("warn", message, { kind: "failed", item, failure, ...(stderr === "" ? {} : { stderr }) });
  }

  passOn({ stdout, stderr }: { readonly stdout: Uint8Array; readonly stderr: Uint8Array }): Promise<void> | undefined {
    if (stdout.length > 0) this.#console.stdout.write(stdout);
    if (stderr.length > 0) this.#passOnErrors(stderr);
    return this.#console.whenRead();
  }

  close(): void {}

  /** What commands write to stderr goes there too. A reader of JSON gets it in lines of the log. */
  #passOnErrors(stderr: Uint8Array): void {
    if (this.#log.format === "text") return void this.#console.stderr.write(stderr);
    for (const line of Buffer.from(stderr).toString("utf8").trimEnd().split("\n"))
      this.#log.line("info", printableText(line), { kind: "output" });
  }
}
