// A command line carried out in this process, with what it printed.
import type { Cli } from "../cli.ts";
import { main } from "../main.ts";
import { Console, type OutputStream } from "../output/console.ts";

// What a command starts as a process of its own is a source here, which Node cannot run by itself. Only while commands run:
// whatever else the tests of this process start would load a compiler that it does not need.
const REGISTER = new URL("../../../../tools/ts/register.mjs", import.meta.url).href;
const NODE_OPTIONS = `--import=${REGISTER} --conditions=@gossip/source`;
let runningCount = 0;

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandLineOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: AsyncIterable<Uint8Array>;
  /** Told how to send a signal, once the command listens for one. */
  readonly onListening?: (send: (name: string) => void) => void;
  /** Told every line of stdout as it comes. */
  readonly onLine?: (line: string) => void;
  /** Who reads stdout, where it is not always at once. */
  readonly reader?: Pick<OutputStream, "writableNeedDrain" | "once">;
}

export async function gossipLine(
  argv: readonly string[],
  { cwd, env = {}, stdin, onListening, onLine, reader }: CommandLineOptions,
): Promise<Said> {
  const said = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const stream = (name: "stdout" | "stderr"): OutputStream => ({
    get writableNeedDrain() {
      return name === "stdout" && reader?.writableNeedDrain === true;
    },
    once: (event, listener) => reader?.once?.(event, listener),
    write(text) {
      said[name].push(Buffer.from(text));
      if (name === "stdout") onLine?.(Buffer.from(text).toString().trimEnd());
    },
  });
  const listeners = new Map<string, () => void>();
  const cli: Cli = {
    console: new Console({ stdout: stream("stdout"), stderr: stream("stderr"), env }),
    env: { PATH: process.env["PATH"], ...env },
    cwd,
    ...(stdin === undefined ? {} : { stdin }),
    exit: "Ok",
    onSignal(name, listener) {
      listeners.set(name, listener);
      onListening?.((sent) => listeners.get(sent)?.());
      return () => void listeners.delete(name);
    },
    onOutputLost: () => () => {},
    beforeExit: () => () => {},
    exitNow: () => {
      throw new Error("the command wanted to end at once");
    },
  };
  const code = await withNodeOptions(() => main(argv, cli));
  return { code, stdout: Buffer.concat(said.stdout).toString(), stderr: Buffer.concat(said.stderr).toString() };
}

async function withNodeOptions<T>(use: () => Promise<T>): Promise<T> {
  if (runningCount++ === 0) process.env["NODE_OPTIONS"] = NODE_OPTIONS;
  try {
    return await use();
  } finally {
    if (--runningCount === 0) delete process.env["NODE_OPTIONS"];
  }
}
