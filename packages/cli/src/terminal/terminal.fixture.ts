// A terminal as a person has one: a pseudo-terminal that Python holds, for want of one in Node, and a terminal emulator
// that shows what would be on the screen.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import xterm from "@xterm/headless";
import { gossipScript } from "../processes/gossip-bundle.fixture.ts";

const HOLDER = fileURLToPath(new URL("./pty-holder.py", import.meta.url));
/** Longest wait for something on the screen. Never reached unless something is broken. */
const PATIENCE_MS = 60_000;

/** Why there can be no terminal here; `undefined` if there can. */
export function terminalMissing(): string | undefined {
  return spawnSync("python3", ["-c", "import pty"]).status === 0
    ? undefined
    : "python3 is not installed, and nothing else here can hold a pseudo-terminal";
}

export interface TerminalOptions {
  readonly cwd: string;
  /** 0 for a terminal that does not know its size; what it shows is 80 wide then. */
  readonly columns: number;
  readonly rows?: number;
  readonly env?: NodeJS.ProcessEnv;
}

export class Terminal {
  readonly #screen: xterm.Terminal;
  readonly #child: ChildProcess;
  readonly ended: Promise<number | null>;
  #raw = "";
  #onChange: (() => void) | undefined;
  #isOver = false;

  private constructor(script: string, args: readonly string[], { cwd, columns, rows = 30, env }: TerminalOptions) {
    this.#screen = new xterm.Terminal({
      cols: columns || 80,
      rows: rows || 30,
      scrollback: 1000,
      allowProposedApi: true,
    });
    const { NO_COLOR: _noColor, GOSSIP_STORE: _store, ...inherited } = process.env;
    this.#child = spawn(
      "python3",
      [HOLDER, String(columns), String(rows), process.execPath, "--no-warnings", script, ...args],
      {
        cwd,
        stdio: ["pipe", "pipe", "inherit", "pipe"],
        env: { ...inherited, TERM: "xterm-256color", LANG: "C.UTF-8", LC_ALL: "C.UTF-8", ...env },
      },
    );
    this.#child.stdout!.on("data", (chunk: Buffer) => {
      this.#raw += chunk.toString("latin1");
      this.#screen.write(chunk, () => this.#onChange?.());
    });
    this.ended = new Promise((resolve) => {
      // The screen shows the last words only when they are through.
      this.#child.once("close", (code) =>
        this.#screen.write("", () => {
          this.#isOver = true;
          resolve(code);
          this.#onChange?.();
        }),
      );
    });
  }

  static async run(args: readonly string[], options: TerminalOptions): Promise<Terminal> {
    return new Terminal(await gossipScript(), args, options);
  }

  /** Every line that there is, also what was scrolled away, without the empty ones at the end. */
  get lines(): string[] {
    const buffer = this.#screen.buffer.active;
    const lines = Array.from(
      { length: buffer.length },
      (_, index) => buffer.getLine(index)?.translateToString(true) ?? "",
    );
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }

  /** Everything that was written, as it was written. */
  get raw(): string {
    return this.#raw;
  }

  /** Settles when the screen shows this. */
  async shows(words: RegExp): Promise<void> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    while (!words.test(this.lines.join("\n"))) {
      if (this.#isOver || Date.now() > giveUpAt)
        throw new Error(`the screen never showed ${words}:\n${this.lines.join("\n")}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 500);
        this.#onChange = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  type(keys: string): void {
    this.#child.stdin!.write(keys);
  }

  resize(columns: number, rows = 30): void {
    this.#screen.resize(columns, rows);
    (this.#child.stdio[3] as Writable).write(`${columns} ${rows}\n`);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }
}
