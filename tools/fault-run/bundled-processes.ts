// TypeScript files of a package as processes of their own.
import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const CONDITIONS = ["@gossip/source", "node"];

export interface ProcessLimits {
  /** Blocks, of half a kilobyte or a whole one, that a file may have. */
  readonly maxFileBlocks?: number;
  /** Whom to run it as. Only the superuser may say so. */
  readonly user?: number;
}

/**
 * Runs TypeScript files beside a module as processes, each with one argument.
 *
 * They are bundled first, once: a process that compiles two hundred files before it begins takes seconds to start, and
 * tests that kill processes need many.
 */
export class BundledProcesses {
  readonly #base: string;
  readonly #external: readonly string[];
  readonly #bundles = new Map<string, Promise<string>>();

  /** `base`: the `import.meta.url` of a module in `packages/NAME/src`. `external`: what is not bundled but found from there. */
  constructor(base: string, { external }: { readonly external: readonly string[] }) {
    this.#base = base;
    this.#external = external;
  }

  async start(file: string, config: unknown, { maxFileBlocks, user }: ProcessLimits = {}): Promise<ChildProcess> {
    const command = [process.execPath, "--no-warnings", await this.prepare(file), JSON.stringify(config)];
    const options: SpawnOptions = {
      stdio: ["ignore", "pipe", "pipe"],
      ...(user === undefined ? {} : { uid: user, gid: user }),
    };
    if (maxFileBlocks === undefined) return spawn(command[0]!, command.slice(1), options);
    return spawn("sh", ["-c", `ulimit -f ${maxFileBlocks}; exec "$@"`, "sh", ...command], options);
  }

  /** The script that `start` runs, for callers that start it in another way. */
  prepare(file: string): Promise<string> {
    const made = this.#bundles.get(file) ?? this.#bundle(file);
    this.#bundles.set(file, made);
    return made;
  }

  /** Remove what was bundled. */
  async remove(): Promise<void> {
    for (const made of this.#bundles.values()) await rm(dirname(await made), { recursive: true, force: true });
    this.#bundles.clear();
  }

  async #bundle(file: string): Promise<string> {
    // Within the package, so that drivers are found from there.
    const out = fileURLToPath(new URL("../.cache/processes/", this.#base));
    // One of its own: test files run in threads of one process, and each removes what it has bundled when it is done.
    const folder = join(out, `${basename(file, ".fixture.ts")}-${randomUUID()}`);
    await build({
      configFile: false,
      logLevel: "error",
      root: out,
      resolve: { conditions: CONDITIONS },
      ssr: { noExternal: [/^@gossip\//], resolve: { conditions: CONDITIONS } },
      build: {
        ssr: fileURLToPath(new URL(file, this.#base)),
        outDir: folder,
        minify: false,
        target: "node20",
        rolldownOptions: { external: [...this.#external], output: { entryFileNames: "main.mjs" } },
      },
    });
    return join(folder, "main.mjs");
  }
}

/** What a process wrote, and how it ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
  readonly errors: string;
}

export async function waitFor(child: ChildProcess): Promise<Ended> {
  let output = "";
  let errors = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, output, errors };
}
