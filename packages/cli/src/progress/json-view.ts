import { timeJson } from "../output/time-text.ts";
import type { Console } from "../output/console.ts";
import { textField } from "../output/printable.ts";
import { sampleJson } from "../run/inspect/sample-text.ts";
import { sharedJson } from "../run/inspect/shared-settings.ts";
import type { ProgressView, RunProgressShown, ShownFailure } from "./run-progress.ts";

/** Prints lines of JSON on stdout, each with a `kind`. */
export class JsonView implements ProgressView {
  readonly everyMs = 1000;
  readonly #console: Console;

  constructor(console: Console) {
    this.#console = console;
  }

  show(progress: RunProgressShown): void {
    const { overview, elapsedMs, fraction, perSecond, remainingMs, held, waitMs, outage, isStopping } = progress;
    const { request, status, states, totals, earliestDeadline, shared } = overview;
    this.#console.json({
      kind: "progress",
      run: request.run,
      status,
      ...sharedJson(shared),
      ...totals,
      ...sampleJson(overview),
      shards: states,
      fraction,
      perSecond,
      remainingMs,
      elapsedMs: Math.round(elapsedMs),
      held,
      waitMs,
      earliestDeadline: timeJson(earliestDeadline),
      outage: outage && { what: outage.what, since: outage.since.toISOString() },
      isStopping,
    });
  }

  showEnd(): void {}

  say(text: string, fields: object = { kind: "note" }): void {
    this.#console.json({ ...fields, message: text });
  }

  failed({ item, failure, stderr }: ShownFailure): void {
    this.#console.json({ kind: "failed", item, failure, stderr });
  }

  passOn({ stdout, stderr }: { readonly stdout: Uint8Array; readonly stderr: Uint8Array }): Promise<void> | undefined {
    if (stdout.length + stderr.length > 0)
      this.#console.dataJson({ kind: "output", ...textField("stdout", stdout), ...textField("stderr", stderr) });
    return this.#console.whenRead();
  }

  close(): void {}
}
