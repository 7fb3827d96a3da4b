import { spawn, type ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { closeChildEnds, type OutputPipes } from "../exec/named-pipes.ts";
import { LineSplitter } from "./line-splitter.ts";

export interface PipeCommand {
  /** For `/bin/sh -c`. */
  readonly command: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface PipeListener {
  /** Whole lines of stdout. */
  onLines(lines: readonly string[]): void;
  /** Whole lines of stderr. Nothing more is read from stderr until the promise resolves. */
  onErrorLines(lines: readonly string[]): Promise<void> | undefined;
  /** The process has ended, and all that it wrote was passed on. `why` is a part of a sentence: `exit status 1`. */
  onGone(why: string): void;
}

/** As long as the longest result that a file of results takes. */
const MAX_LINE_SIZE = 2 ** 26;
/** A longer line of stderr is passed on in pieces. */
const MAX_ERROR_LINE_SIZE = 2 ** 16;
/** Time between SIGTERM and SIGKILL, and between the end of its input and SIGTERM. */
const KILL_AFTER_MS = 1000;
/** How long to wait for the end of the output of a process that has exited, if something else has it open. */
const LAST_OUTPUT_MS = 1000;
const MAX_TOLD_SIZE = 400;

/**
 * A long-lived process that gets items on stdin and writes answers to stdout.
 *
 * It has its own process group, so that Ctrl-C in the terminal does not reach it, and so that all that it started is
 * killed with it. If this process is killed, its input ends.
 */
export class PipeProcess {
  readonly #child: ChildProcess;
  readonly #listener: PipeListener;
  readonly #readers: readonly Readable[];
  readonly #stdout = new LineSplitter(MAX_LINE_SIZE);
  readonly #stderr = new LineSplitter(MAX_ERROR_LINE_SIZE);
  #openReaders = 2;
  #lastError = "";
  /** Why this side ended it. */
  #killedFor: string | undefined;
  #exit: string | undefined;
  #isInputClosed = false;
  #isGone = false;
  #whenGone: (() => void)[] = [];

  constructor({ command, cwd, env }: PipeCommand, pipes: OutputPipes, listener: PipeListener) {
    this.#listener = listener;
    this.#child = spawn("/bin/sh", ["-c", command], {
      cwd,
      env,
      detached: true,
      stdio: ["pipe", pipes.stdout.childFd, pipes.stderr.childFd],
    });
    closeChildEnds(pipes);
    this.#readers = [pipes.stdout.reader, pipes.stderr.reader];
    pipes.stdout.reader.on("data", (chunk: Buffer) => this.#onOutput(chunk));
    pipes.stderr.reader.on("data", (chunk: Buffer) => this.#onErrors(this.#stderr.push(chunk)));
    for (const reader of this.#readers) reader.once("close", () => this.#onReaderClosed());
    this.#child.stdin!.on("error", () => this.#onInputClosed());
    this.#child.once("error", (error) => this.#onExit(error.message));
    this.#child.once("exit", (code, signal) =>
      this.#onExit(signal === null ? `exit status ${String(code)}` : `signal ${signal}`),
    );
  }

  /** Whether it can take items. */
  get isUsable(): boolean {
    return !this.#isInputClosed && this.#killedFor === undefined && this.#exit === undefined;
  }

  write(text: string): void {
    this.#child.stdin!.write(text);
  }

  /** Read no more of its output until `until` resolves. */
  async pause(until: Promise<void>): Promise<void> {
    for (const reader of this.#readers) reader.pause();
    await until;
    for (const reader of this.#readers) reader.resume();
  }

  /** End its input. It has a moment to finish. Resolves when it has ended. */
  async end(): Promise<void> {
    this.#child.stdin!.end();
    const timer = setTimeout(() => this.kill("it did not end with its input"), KILL_AFTER_MS);
    if (!this.#isGone) await new Promise<void>((resolve) => this.#whenGone.push(resolve));
    clearTimeout(timer);
  }

  /** Kill it and everything that it started. */
  kill(why: string): void {
    if (this.#killedFor !== undefined) return;
    this.#killedFor = why;
    this.#signal("SIGTERM");
    setTimeout(() => this.killAtOnce(), KILL_AFTER_MS).unref();
  }

  killAtOnce(): void {
    this.#signal("SIGKILL");
  }

  #signal(name: NodeJS.Signals): void {
    if (this.#child.pid === undefined || this.#isGone) return;
    try {
      process.kill(-this.#child.pid, name);
    } catch {
      // No process of the group is left.
    }
  }

  /** It gets nothing any more, so it is of no use. Usually it is about to exit, and its status says more. */
  #onInputClosed(): void {
    this.#isInputClosed = true;
    const timer = setTimeout(() => this.kill("it closed its input"), KILL_AFTER_MS);
    this.#whenGone.push(() => clearTimeout(timer));
  }

  #onOutput(chunk: Buffer): void {
    const lines = this.#stdout.push(chunk);
    if (lines.length > 0) this.#listener.onLines(lines);
    if (!this.#stdout.isOverfull) return;
    this.#stdout.end();
    this.kill(`it wrote a line of more than ${MAX_LINE_SIZE} bytes`);
    this.killAtOnce();
  }

  #onErrors(lines: readonly string[]): void {
    const all = this.#stderr.isOverfull ? [...lines, ...this.#stderr.end()] : lines;
    if (all.length === 0) return;
    this.#lastError = all.findLast((line) => line.trim() !== "") ?? this.#lastError;
    const isRead = this.#listener.onErrorLines(all);
    if (isRead !== undefined) void this.pause(isRead);
  }

  #onExit(how: string): void {
    if (this.#exit !== undefined) return;
    this.#exit = how;
    // What it left running would keep its output open.
    this.killAtOnce();
    const timer = setTimeout(() => {
      for (const reader of this.#readers) reader.destroy();
    }, LAST_OUTPUT_MS);
    this.#whenGone.push(() => clearTimeout(timer));
    this.#checkGone();
  }

  #onReaderClosed(): void {
    this.#openReaders--;
    this.#checkGone();
  }

  #checkGone(): void {
    if (this.#exit === undefined || this.#openReaders > 0 || this.#isGone) return;
    const lines = this.#stdout.end();
    if (lines.length > 0) this.#listener.onLines(lines);
    this.#onErrors(this.#stderr.end());
    this.#isGone = true;
    for (const callback of this.#whenGone.splice(0)) callback();
    const told = this.#lastError === "" ? "" : `: ${this.#lastError.trim().slice(0, MAX_TOLD_SIZE)}`;
    this.#listener.onGone(this.#killedFor ?? `${this.#exit}${told}`);
  }
}
