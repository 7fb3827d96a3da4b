import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { assert } from "@gossip/stdx";
import { ITEM_VARIABLE } from "./command-template.ts";
import { MarkedOutput, type Captured } from "./marked-output.ts";
import { closeChildEnds, openOutputPipes } from "./named-pipes.ts";

export interface ShellOptions {
  /** The body of the shell function, from `parseTemplate`. */
  readonly body: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The most bytes to keep of one item's output per stream. */
  readonly maxOutputSize: number;
}

export type ShellAnswer =
  | { readonly kind: "Ended"; readonly status: number; readonly stdout: Captured; readonly stderr: Captured }
  /** The shell ended before it reported how the item ended. */
  | { readonly kind: "ShellDied" };

/** Time between SIGTERM and SIGKILL. */
const KILL_AFTER_MS = 2000;

const SHELL = "/bin/sh";

/** The definition of the shell function; `sh -n` can check it. */
export function functionOf(body: string): string {
  return `gossip_item() { ${ITEM_VARIABLE}=$1\n${body}\n}\n`;
}

/**
 * One shell that runs item after item, each in a subshell, so that items do not affect each other's environment.
 *
 * Spawning a process from Node takes milliseconds, a subshell a fraction of one. Only a script can pass arguments that
 * are not UTF-8. The shell has its own process group, so that Ctrl-C in the terminal does not reach running commands.
 */
export class PersistentShell {
  readonly #child: ChildProcess;
  readonly #readers: readonly Readable[];
  readonly #marker: string;
  readonly #stdout: MarkedOutput;
  readonly #stderr: MarkedOutput;
  #answer: ((answer: ShellAnswer) => void) | undefined;
  #status: number | undefined;
  #isStderrEnded = false;
  #isGone = false;
  readonly #whenGone: (() => void)[] = [];
  #variables = "";

  constructor({ body, cwd, env, maxOutputSize }: ShellOptions) {
    this.#marker = randomBytes(24).toString("hex");
    this.#stdout = new MarkedOutput({ marker: this.#marker, maxSize: maxOutputSize });
    this.#stderr = new MarkedOutput({ marker: this.#marker, maxSize: maxOutputSize });
    const pipes = openOutputPipes();
    this.#child = spawn(SHELL, ["-s"], {
      cwd,
      env,
      detached: true,
      stdio: ["pipe", pipes.stdout.childFd, pipes.stderr.childFd],
    });
    closeChildEnds(pipes);
    this.#readers = [pipes.stdout.reader, pipes.stderr.reader];
    pipes.stdout.reader.on("data", (chunk: Buffer) => this.#onStdout(chunk));
    pipes.stderr.reader.on("data", (chunk: Buffer) => this.#onStderr(chunk));
    // A write fails if the shell is gone; the exit handler reports that.
    this.#child.stdin!.on("error", () => {});
    this.#child.once("error", () => this.#onGone());
    // The pipes never end by themselves, and background processes of a command may hold them: only the exit of the
    // shell counts.
    this.#child.once("exit", () => setImmediate(() => this.#onGone()));
    this.#child.stdin!.write(functionOf(body));
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Call `callback` when the shell has ended, for any reason. */
  onGone(callback: () => void): void {
    this.#whenGone.push(callback);
  }

  /** Run one item at a time. `word` is the item, quoted; `variables` is a script that exports variables for the command. */
  run(word: Buffer, variables: string): Promise<ShellAnswer> {
    assert(this.#answer === undefined, "a shell must have answered before it is asked again");
    if (this.#isGone) return Promise.resolve({ kind: "ShellDied" });
    this.#status = undefined;
    this.#isStderrEnded = false;
    const before = `${variables === this.#variables ? "" : variables}(gossip_item `;
    this.#variables = variables;
    const after = `) </dev/null; gossip_status=$?; printf '${this.#marker} %d\\n' $gossip_status; printf '${this.#marker}\\n' >&2\n`;
    return new Promise((resolve) => {
      this.#answer = resolve;
      this.#child.stdin!.write(Buffer.concat([Buffer.from(before), word, Buffer.from(after)]));
    });
  }

  /** Let an idle shell exit. */
  end(): void {
    this.#child.stdin!.end();
  }

  /** Kill the shell and everything that its command started. */
  kill(): void {
    this.#signal("SIGTERM");
    setTimeout(() => this.#signal("SIGKILL"), KILL_AFTER_MS).unref();
  }

  /** Kill them at once, for a process that is about to exit. */
  killAtOnce(): void {
    this.#signal("SIGKILL");
  }

  #signal(name: NodeJS.Signals): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, name);
    } catch {
      // No process of the group is left.
    }
  }

  #onStdout(chunk: Buffer): void {
    const ended = this.#stdout.push(chunk);
    if (ended === undefined) return;
    this.#status = Number(ended);
    this.#settle();
  }

  #onStderr(chunk: Buffer): void {
    if (this.#stderr.push(chunk) === undefined) return;
    this.#isStderrEnded = true;
    this.#settle();
  }

  #settle(): void {
    if (this.#status === undefined || !this.#isStderrEnded) return;
    const answer = this.#answer;
    this.#answer = undefined;
    answer?.({ kind: "Ended", status: this.#status, stdout: this.#stdout.take(), stderr: this.#stderr.take() });
  }

  #onGone(): void {
    this.#isGone = true;
    for (const callback of this.#whenGone.splice(0)) callback();
    for (const reader of this.#readers) reader.destroy();
    const answer = this.#answer;
    this.#answer = undefined;
    answer?.({ kind: "ShellDied" });
  }
}
