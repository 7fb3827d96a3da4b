import { createLogUpdate } from "log-update";
import type { Console } from "../output/console.ts";
import { printableText } from "../output/printable.ts";
import { clip } from "../output/text-width.ts";
import { progressLines } from "./progress-lines.ts";
import type { ProgressView, RunProgressShown, ShownFailure } from "./run-progress.ts";

/** A view on stderr that is redrawn in place. Messages stay above it. */
export class TerminalView implements ProgressView {
  readonly everyMs = 500;
  readonly #console: Console;
  readonly #draw: ReturnType<typeof createLogUpdate>;
  #last: RunProgressShown | undefined;
  #isClosed = false;

  constructor(console: Console) {
    this.#console = console;
    this.#draw = createLogUpdate(console.stderr as unknown as NodeJS.WritableStream);
  }

  show(progress: RunProgressShown): void {
    this.#last = progress;
    this.redraw();
  }

  showEnd(progress: RunProgressShown): void {
    this.show(progress);
  }

  /** Draw the same state again, for a changed terminal width. */
  redraw(): void {
    if (this.#last === undefined || this.#isClosed) return;
    const { stderr, hasUnicode } = this.#console;
    // Leave the last column free: a terminal wraps after it.
    const width = Math.max(1, (stderr.columns || 80) - 1);
    this.#draw(
      progressLines(this.#last, {
        width,
        hasUnicode,
        styled: (style, text) => this.#console.styled(stderr, style, text),
      }).join("\n"),
    );
  }

  say(text: string): void {
    this.#above(() => this.#console.note(text));
  }

  failed({ item, failure, stderr }: ShownFailure): void {
    const width = (this.#console.stderr.columns || 80) - 1;
    this.#above(() => {
      this.#console.note(
        this.#console.styled(this.#console.stderr, "red", clip(`failed: ${item} (${printableText(failure)})`, width)),
      );
      if (stderr !== "") this.#console.note(clip(`  ${stderr}`, width));
    });
  }

  passOn({ stdout, stderr }: { readonly stdout: Uint8Array; readonly stderr: Uint8Array }): Promise<void> | undefined {
    const write = (): void => {
      if (stdout.length > 0) this.#console.stdout.write(stdout);
      if (stderr.length > 0) this.#console.stderr.write(stderr);
    };
    // Output that goes to a file does not disturb the view.
    const isOnScreen = stderr.length > 0 || (stdout.length > 0 && this.#console.stdout.isTTY === true);
    if (isOnScreen) this.#above(write);
    else write();
    return this.#console.whenRead();
  }

  close(): void {
    this.#isClosed = true;
    this.#draw.done();
  }

  #above(write: () => void): void {
    if (this.#last !== undefined && !this.#isClosed) this.#draw.clear();
    write();
    this.redraw();
  }
}
