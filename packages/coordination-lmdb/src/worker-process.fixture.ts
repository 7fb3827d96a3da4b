import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

// Within the package, so that the driver is found from there.
const OUT = fileURLToPath(new URL("../.cache/processes/", import.meta.url));
const CONDITIONS = ["@gossip/source", "node"];
const bundles = new Map<string, Promise<string>>();

/**
 * Run a TypeScript file of ours as a process of its own, with one argument.
 *
 * It is bundled first, once: a process that compiles two hundred files before it begins takes seconds to start, and
 * those who kill processes need many.
 */
export async function startProcess(file: string, config: unknown, { maxFileBlocks, user }: ProcessLimits = {}): Promise<ChildProcess> {
  const command = [process.execPath, "--no-warnings", await prepareProcess(file), JSON.stringify(config)];
  const options: SpawnOptions = { stdio: ["ignore", "pipe", "pipe"], ...(user === undefined ? {} : { uid: user, gid: user }) };
  if (maxFileBlocks === undefined) return spawn(command[0]!, command.slice(1), options);
  return spawn("sh", ["-c", `ulimit -f ${maxFileBlocks}; exec "$@"`, "sh", ...command], options);
}

export interface ProcessLimits {
  /** Blocks, of half a kilobyte or a whole one, that a file may have. */
  readonly maxFileBlocks?: number;
  /** Whom to run it as. Only the superuser may say so. */
  readonly user?: number;
}

/** The script that `startProcess` runs, for whoever starts it otherwise. */
export function prepareProcess(file: string): Promise<string> {
  const made = bundles.get(file) ?? bundle(file);
  bundles.set(file, made);
  return made;
}

async function bundle(file: string): Promise<string> {
  const name = `${basename(file, ".fixture.ts")}-${process.pid}`;
  await build({
    configFile: false,
    logLevel: "error",
    root: OUT,
    resolve: { conditions: CONDITIONS },
    ssr: { noExternal: [/^@gossip\//], resolve: { conditions: CONDITIONS } },
    build: {
      ssr: fileURLToPath(new URL(file, import.meta.url)),
      outDir: join(OUT, name),
      minify: false,
      target: "node20",
      rolldownOptions: { external: ["lmdb"], output: { entryFileNames: "main.mjs" } },
    },
  });
  return join(OUT, name, "main.mjs");
}

/** Remove what was bundled. */
export async function removeBundles(): Promise<void> {
  for (const made of bundles.values()) await rm(dirname(await made), { recursive: true, force: true });
  bundles.clear();
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
