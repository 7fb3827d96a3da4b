// One shell that runs the blocks of a page in order, so that a block can use what an earlier one left: files, variables,
// the working directory, processes in the background.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface ShellResult {
  /** 0, or the code that the shell ended with. `undefined` if the block did not end in time. */
  readonly exitCode: number | undefined;
  /** What the block wrote to both streams. */
  readonly output: string;
}

export interface PageShellOptions {
  /** Where the shell starts. */
  readonly folder: string;
  /** A folder for the shell's own files. */
  readonly scratch: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export class PageShell {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #scratch: string;
  readonly #exited: Promise<number>;
  /** Each block prints a line here when it has ended. Blocks themselves write to files. */
  readonly #ends: AsyncIterator<string>;
  #blockCount = 0;

  constructor({ folder, scratch, env }: PageShellOptions) {
    this.#scratch = scratch;
    // A process group of its own, so that what it leaves running can be ended.
    this.#child = spawn("/bin/sh", [], { cwd: folder, env, detached: true });
    this.#child.stdin.on("error", () => undefined).write("set -eu\n");
    this.#exited = once(this.#child, "exit").then(([code]: (number | null)[]) => code ?? 1);
    this.#ends = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Run a block to its end. After a failure the shell is gone. */
  async run(code: string, timeLimitMs: number): Promise<ShellResult> {
    const file = join(this.#scratch, `block-${this.#blockCount++}`);
    writeFileSync(`${file}.sh`, code);
    writeFileSync(`${file}.out`, "");
    this.#child.stdin.write(`. '${file}.sh' </dev/null >'${file}.out' 2>&1\necho ended\n`);
    const timer = new AbortController();
    const exitCode = await Promise.race([
      this.#ends.next().then(({ done }) => (done === true ? this.#exited : 0)),
      afterMs(timeLimitMs, timer.signal),
    ]);
    timer.abort();
    return { exitCode, output: readFileSync(`${file}.out`, "utf8") };
  }

  /** End the shell and everything that it started. */
  end(): void {
    try {
      process.kill(-this.#child.pid!, "SIGKILL");
    } catch {
      // Nothing of it is left.
    }
  }
}

function afterMs(ms: number, signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    signal.addEventListener("abort", () => clearTimeout(timer));
  });
}
