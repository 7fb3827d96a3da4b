import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { assert } from "@gossip/stdx";
import { MarkedOutput, type Captured } from "./marked-output.ts";
import { closeChildEnds, openOutputPipes } from "./named-pipes.ts";

export interface ShellOptions {
  /** The body of the function that is called with an item, of `parseTemplate`. */
  readonly body: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Most bytes that are kept of what one item writes to one stream. */
  readonly maxOutputSize: number;
}

export type ShellAnswer =
  | { readonly kind: "Ended"; readonly status: number; readonly stdout: Captured; readonly stderr: Captured }
  /** The shell itself is gone, before it could say how the item ended. */
  | { readonly kind: "ShellDied" };

/** How long what was asked to end may take before it is made to. */
const KILL_AFTER_MS = 2000;

const SHELL = "/bin/sh";

/** A shell function in the shell's own words; `sh -n` can check it. */
export function functionOf(body: string): string {
  return `gossip_item() {\n${body}\n}\n`;
}

/**
 * One shell that runs item after item, each in a subshell, so that nothing an item does is there for the next.
 *
 * Starting a process from here costs milliseconds, for a subshell a fraction of one; and only a script can
 * hand over arguments that are no text: what is spawned from here gets its arguments in UTF-8.
 * It is in a process group of its own, so that Ctrl-C in the terminal does not reach what is to be finished.
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
    // What cannot be written to is a shell that is gone, and its end tells that.
    this.#child.stdin!.on("error", () => {});
    this.#child.once("error", () => this.#onGone());
    // The pipes have no end of their own, and what a command left running may hold them: the end of the shell counts.
    this.#child.once("exit", () => setImmediate(() => this.#onGone()));
    this.#child.stdin!.write(functionOf(body));
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Call back when it has ended, however it did. */
  onGone(callback: () => void): void {
    this.#whenGone.push(callback);
  }

  /** One item at a time. `word` is the item, quoted; `variables` a script that sets what commands see beside it. */
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

  /** Let it end by itself: it has nothing to do. */
  end(): void {
    this.#child.stdin!.end();
  }

  /** End it and all that its command started. */
  kill(): void {
    this.#signal("SIGTERM");
    setTimeout(() => this.#signal("SIGKILL"), KILL_AFTER_MS).unref();
  }

  /** The same, for a process that ends now and cannot wait. */
  killAtOnce(): void {
    this.#signal("SIGKILL");
  }

  #signal(name: NodeJS.Signals): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, name);
    } catch {
      // Nobody of the group is left.
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
