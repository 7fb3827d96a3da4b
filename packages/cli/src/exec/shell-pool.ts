import { spawnSync } from "node:child_process";
import { err, ok, type Result } from "@gossip/stdx";
import { functionOf, PersistentShell, type ShellAnswer, type ShellOptions } from "./persistent-shell.ts";
import { shellQuote } from "./shell-quote.ts";

export interface ShellPoolOptions extends ShellOptions {
  readonly size: number;
  /** An item that takes longer is ended. No limit where it is left out. */
  readonly timeoutMs?: number | undefined;
}

export interface ShellRequest {
  readonly item: Uint8Array;
  /** A script of assignments; what commands see beside the item. */
  readonly variables: string;
  /** Ends the item, and what it started. */
  readonly signal: AbortSignal;
}

export type ExecAnswer =
  | ShellAnswer
  | { readonly kind: "TimedOut" }
  | { readonly kind: "Aborted" }
  /** The item has a zero byte in it, which no argument can have. */
  | { readonly kind: "ZeroByte" };

/** Why a command can never run: the shell's complaint about it. */
export interface InvalidCommand {
  readonly kind: "InvalidCommand";
  readonly complaint: string;
}

/** Shells that are started when they are needed, and replaced when they are gone. */
export class ShellPool {
  readonly #options: ShellPoolOptions;
  readonly #idle: PersistentShell[] = [];
  readonly #busy = new Set<PersistentShell>();
  /** Told to end, and not gone yet. */
  readonly #ending = new Set<PersistentShell>();
  readonly #waiting: (() => void)[] = [];

  private constructor(options: ShellPoolOptions) {
    this.#options = options;
  }

  static open(options: ShellPoolOptions): Result<ShellPool, InvalidCommand> {
    const checked = spawnSync("/bin/sh", ["-n", "-c", functionOf(options.body)], {
      encoding: "utf8",
      env: options.env,
    });
    if (checked.status !== 0) return err({ kind: "InvalidCommand", complaint: complaintOf(checked.stderr ?? "") });
    return ok(new ShellPool(options));
  }

  async run({ item, variables, signal }: ShellRequest): Promise<ExecAnswer> {
    const word = shellQuote(item);
    if (word === undefined) return { kind: "ZeroByte" };
    while (this.#busy.size >= this.#options.size)
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    if (signal.aborted) {
      this.#waiting.shift()?.();
      return { kind: "Aborted" };
    }
    const shell = this.#take();
    let ended: "TimedOut" | "Aborted" | undefined;
    const end = (why: "TimedOut" | "Aborted"): void => {
      ended ??= why;
      shell.kill();
    };
    const onAbort = (): void => end("Aborted");
    signal.addEventListener("abort", onAbort, { once: true });
    const { timeoutMs } = this.#options;
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => end("TimedOut"), timeoutMs);
    const answer = await shell.run(word, variables);
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    this.#giveBack(shell, ended !== undefined);
    // An answer that was there before the end came is an answer.
    return ended === undefined || answer.kind === "Ended" ? answer : { kind: ended };
  }

  /** Let the shells go. Those that still work on something finish it first; those that were told to end have had their time. */
  close(): void {
    for (const shell of this.#idle.splice(0)) shell.end();
    for (const shell of this.#busy) shell.end();
    for (const shell of this.#ending) shell.killAtOnce();
  }

  /** End everything now. For a process that is about to end. */
  killAtOnce(): void {
    for (const shell of [...this.#idle, ...this.#busy, ...this.#ending]) shell.killAtOnce();
  }

  #take(): PersistentShell {
    let shell = this.#idle.pop();
    while (shell?.isGone === true) shell = this.#idle.pop();
    shell ??= new PersistentShell(this.#options);
    this.#busy.add(shell);
    return shell;
  }

  #giveBack(shell: PersistentShell, isEnding: boolean): void {
    this.#busy.delete(shell);
    if (isEnding && !shell.isGone) {
      this.#ending.add(shell);
      shell.onGone(() => this.#ending.delete(shell));
    } else if (!shell.isGone) this.#idle.push(shell);
    this.#waiting.shift()?.();
  }
}

/** The shell names itself and a line; neither means anything to who wrote the command. */
function complaintOf(stderr: string): string {
  const [line = ""] = stderr.trim().split("\n");
  return line.replace(/^(?:\S*sh: )?(?:-c: )?(?:line )?\d+: /, "").trim();
}
