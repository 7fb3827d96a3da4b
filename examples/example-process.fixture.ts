// An example as a process of its own, for tests that watch it, kill it and start it again.
import { spawn, type ChildProcess } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "vite";

const CONDITIONS = ["@gossip/source", "node"];

/** Longest wait for a line. Never reached unless something is broken: the machine may be busy. */
const PATIENCE_MS = 50_000;

/**
 * Make one script of `main.ts` in `folder` and of the sources of every package that it uses.
 *
 * A process that compiles three hundred files before it begins takes seconds to start, and one that runs what
 * was built before may run something old. The answer is the script and how to remove it.
 */
export async function bundleExample(folder: string): Promise<{ readonly script: string; remove(): Promise<void> }> {
  const outDir = join(folder, ".cache", `bundle-${process.pid}`);
  await build({
    configFile: false,
    logLevel: "error",
    root: folder,
    plugins: [someStayOutside()],
    ssr: { noExternal: true, resolve: { conditions: CONDITIONS } },
    build: {
      ssr: join(folder, "main.ts"),
      outDir,
      minify: false,
      target: "node20",
      rolldownOptions: { output: { entryFileNames: "main.mjs", codeSplitting: false } },
    },
  });
  return { script: join(outDir, "main.mjs"), remove: () => rm(outDir, { recursive: true, force: true }) };
}

/** What cannot be in the script: native code, and what finds its files by where it is itself. */
const OUTSIDE = /^(lmdb|pg|@gossip\/tools\/.+)$/;

/** Those are imported from where they are installed, which is not where the script could see it. */
function someStayOutside(): Plugin {
  return {
    name: "some-stay-outside",
    enforce: "pre",
    async resolveId(id, importer) {
      if (!OUTSIDE.test(id)) return undefined;
      const found = await this.resolve(id, importer, { skipSelf: true });
      return found === null ? undefined : { id: pathToFileURL(found.id).href, external: true };
    },
  };
}

export interface ExampleOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** For Node itself. */
  readonly nodeArgs?: readonly string[];
  readonly cwd?: string;
}

export class ExampleProcess {
  readonly child: ChildProcess;
  /** What it printed, a line each, errors among the rest. */
  readonly lines: string[] = [];
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly #watchers = new Set<() => void>();
  #isOver = false;

  constructor(script: string, { args = [], env = {}, nodeArgs = [], cwd }: ExampleOptions = {}) {
    this.child = spawn(process.execPath, [...nodeArgs, script, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
      ...(cwd === undefined ? {} : { cwd }),
    });
    for (const input of [this.child.stdout!, this.child.stderr!])
      createInterface({ input }).on("line", (line) => this.#tell(() => this.lines.push(line)));
    this.ended = new Promise((resolve) => {
      // Not `exit`: its children may still print, and they have its pipes.
      this.child.once("close", (code, signal) => this.#tell(() => resolve(((this.#isOver = true), { code, signal }))));
    });
  }

  get text(): string {
    return this.lines.join("\n");
  }

  /** The first line that matches, printed already or to come. */
  async line(pattern: RegExp): Promise<RegExpExecArray> {
    const overdue = setTimeout(() => this.#tell(() => (this.#isOver = true)), PATIENCE_MS);
    try {
      for (;;) {
        for (const line of this.lines) {
          const match = pattern.exec(line);
          if (match !== null) return match;
        }
        if (this.#isOver) throw new Error(`no line like ${String(pattern)} came:\n${this.text}`);
        await new Promise<void>((resolve) => this.#watchers.add(resolve));
      }
    } finally {
      clearTimeout(overdue);
    }
  }

  /** End it at once, if it has not ended. */
  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended;
  }

  #tell(change: () => void): void {
    change();
    for (const wake of this.#watchers) wake();
    this.#watchers.clear();
  }
}
