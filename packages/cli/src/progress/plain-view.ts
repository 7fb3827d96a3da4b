import type { Console } from "../output/console.ts";
import { printableText } from "../output/printable.ts";
import { plainLine } from "./progress-lines.ts";
import type { ProgressView, RunProgressShown, ShownFailure } from "./run-progress.ts";

/** Prints lines on stderr, for logs and pipes. Reports progress now and then, and only if there was some. */
export class PlainView implements ProgressView {
  readonly everyMs = 5000;
  readonly #console: Console;
  #last = "";

  constructor(console: Console) {
    this.#console = console;
  }

  show(progress: RunProgressShown): void {
    const line = plainLine(progress);
    if (line !== this.#last) this.#console.note(line);
    this.#last = line;
  }

  showEnd(): void {}

  say(text: string): void {
    this.#console.note(text);
  }

  failed({ item, failure, stderr }: ShownFailure): void {
    this.#console.note(`failed: ${item} (${printableText(failure)})${stderr === "" ? "" : `: ${stderr}`}`);
  }

  passOn({ stdout, stderr }: { readonly stdout: Uint8Array; readonly stderr: Uint8Array }): Promise<void> | undefined {
    if (stdout.length > 0) this.#console.stdout.write(stdout);
    if (stderr.length > 0) this.#console.stderr.write(stderr);
    return this.#console.whenRead();
  }

  close(): void {}
}
