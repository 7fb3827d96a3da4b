import { spawnSync } from "node:child_process";
import { err, ok, type Result } from "@gossip/stdx";
import { functionOf, PersistentShell, type ShellAnswer, type ShellOptions } from "./persistent-shell.ts";
import { shellQuote } from "./shell-quote.ts";

export interface ShellPoolOptions extends ShellOptions {
  readonly size: number;
  /** Kill an item that takes longer. No limit if omitted. */
  readonly timeoutMs?: number | undefined;
}

export interface ShellRequest {
  readonly item: Uint8Array;
  /** A script that exports variables for the command. */
  readonly variables: string;
  /** Kills the item and everything it started. */
  readonly signal: AbortSignal;
}

export type ExecAnswer =
  | ShellAnswer
  | { readonly kind: "TimedOut" }
  | { readonly kind: "Aborted" }
  /** The item contains a zero byte, which no argument can. */
  | { readonly kind: "ZeroByte" };

/** The shell's error for a command that can never run. */
export interface InvalidCommand {
  readonly kind: "InvalidCommand";
  readonly complaint: string;
}

/** Shells that are started on demand and replaced when they exit. */
export class ShellPool {
  readonly #options: ShellPoolOptions;
  readonly #idle: PersistentShell[] = [];
  readonly #busy = new Set<PersistentShell>();
  /** Shells that are being killed. */
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
    // A result that arrived before the shell was killed counts.
    return ended === undefined || answer.kind === "Ended" ? answer : { kind: ended };
  }

  /** End the shells. Busy shells finish their item first. */
  close(): void {
    for (const shell of this.#idle.splice(0)) shell.end();
    for (const shell of this.#busy) shell.end();
    for (const shell of this.#ending) shell.killAtOnce();
  }

  /** Kill everything now, for a process that is about to exit. */
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

/** Strip the shell's name and line number, which mean nothing to the user. */
export function complaintOf(stderr: string): string {
  const [line = ""] = stderr.trim().split("\n");
  return line.replace(/^(?:\S*sh: )?(?:-c: )?(?:line )?\d+: /, "").trim();
}
