import type { BlockedLoop } from "@gossip/worker";
import { formatDuration } from "../../output/number-words.ts";

export interface BlockedLoopOptions {
  readonly describeKey: (key: Uint8Array) => string;
  /** How long the item may continue after the first Ctrl-C. */
  readonly graceMs: number;
  readonly print: (line: string) => void;
  /** Call `onSignal` once, at the next Ctrl-C. Returns a function that stops listening. */
  readonly listen: (onSignal: () => void) => () => void;
  /** End this process at once. */
  readonly end: () => void;
  /** Returns a function that cancels the timer. */
  readonly startTimer: (ms: number, callback: () => void) => () => void;
}

/** The first report of a block. Later ones follow when it has lasted twice as long. */
const FIRST_REPORT_MS = 2000;

/**
 * Runs in another thread while an item of a module blocks the event loop: names the item, and lets Ctrl-C end the
 * process, whose own handlers cannot run.
 *
 * The first Ctrl-C gives the item the grace period. The second one, or the end of that period, ends the process. Nothing
 * is lost: items that were not stored are processed again.
 */
export class BlockedLoopGuard {
  readonly #options: BlockedLoopOptions;
  #nextReportMs = FIRST_REPORT_MS;
  #item = "an item";
  #stopListening: (() => void) | undefined;
  #cancelEnd: (() => void) | undefined;

  constructor(options: BlockedLoopOptions) {
    this.#options = options;
  }

  onBlocked({ key, blockedMs }: BlockedLoop): void {
    this.#item = key === undefined ? "the module" : this.#options.describeKey(key);
    this.#stopListening ??= this.#options.listen(() => this.#interrupted());
    if (blockedMs < this.#nextReportMs) return;
    this.#nextReportMs = 2 * blockedMs;
    this.#options.print(`${this.#item} has kept this process busy for ${formatDuration(blockedMs)}.`);
  }

  onUnblocked(): void {
    this.#stopListening?.();
    this.#cancelEnd?.();
    this.#stopListening = this.#cancelEnd = undefined;
    this.#nextReportMs = FIRST_REPORT_MS;
  }

  #interrupted(): void {
    const { graceMs, print, listen, startTimer, end } = this.#options;
    if (this.#cancelEnd !== undefined) {
      print("Ended at once. Items that were not stored are done again.");
      return end();
    }
    // Listen before printing: the user may be quick.
    this.#stopListening = listen(() => this.#interrupted());
    this.#cancelEnd = startTimer(graceMs, end);
    print(
      `Stopping: ${this.#item} keeps this process busy; it is ended in ${formatDuration(graceMs)}, or at once by another Ctrl-C.`,
    );
  }
}
