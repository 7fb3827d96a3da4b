// A bundle of ours running as a process of its own, for tests that kill, stop or outlive one.
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Bundle } from "./bundle.fixture.ts";

/** Longest wait for a line or an end. Never reached unless something is broken: the machine may be busy. */
const PATIENCE_MS = 60_000;

export class BundledProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly lines: string[] = [];
  #stderr = "";
  #waiting = new Set<() => void>();
  #hasExited = false;

  constructor(bundle: Bundle, args: readonly string[]) {
    this.child = spawn(process.execPath, ["--enable-source-maps", bundle.path, ...args], {
      stdio: ["pipe", "pipe", "pipe", "ipc"],
    });
    createInterface({ input: this.child.stdout! }).on("line", (line) => {
      this.lines.push(line);
      this.#wake();
    });
    this.child.stderr!.on("data", (chunk: Buffer) => {
      this.#stderr += chunk.toString();
    });
    this.exited = new Promise((resolve) => {
      // Not at its exit: what it said last may still be on the way then.
      this.child.once("close", (code, signal) => {
        this.#hasExited = true;
        this.#wake();
        resolve({ code, signal });
      });
    });
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** Resolves at its next line, or its end. */
  news(): Promise<void> {
    return this.#hasExited ? Promise.resolve() : new Promise((resolve) => this.#waiting.add(resolve));
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** The first line, from the `from`th on, that begins with `prefix`. */
  async line(prefix: string, from = 0): Promise<string> {
    const timer = setTimeout(() => this.#wake(), PATIENCE_MS);
    const giveUpAt = Date.now() + PATIENCE_MS;
    try {
      for (;;) {
        const found = this.lines.slice(from).find((line) => line.startsWith(prefix));
        if (found !== undefined) return found;
        if (this.#hasExited || Date.now() >= giveUpAt)
          throw new Error(`no line "${prefix}" came: ${this.lines.join(" | ")}\n${this.#stderr}`);
        await new Promise<void>((resolve) => this.#waiting.add(resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  send(message: object): void {
    if (this.child.connected) this.child.send(message);
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  async kill(): Promise<void> {
    if (this.#hasExited) return;
    this.child.kill("SIGKILL");
    await this.exited;
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}
