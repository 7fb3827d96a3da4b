// The layer table, typed. Everything that says which package may use which reads it from here.
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

/** The root of the repository. */
export const ROOT = resolve(import.meta.dirname, "../..");

export interface Layer {
  /** The workspace packages that it may import. */
  readonly below: readonly string[];
  /** The npm packages that its `src` may depend on. */
  readonly npm: readonly string[];
  /** Whether it must stay free of clocks, randomness and the console. */
  readonly core: boolean;
  /** A folder of its `src` that holds code for the browser. Vite bundles it; `tsc` only checks it. */
  readonly browser?: string;
  /** Whether it ships the packages below it in one bundle. Its manifest then lists their npm packages, too. */
  readonly bundles?: boolean;
  /** One line for the table in docs/architecture.md. */
  readonly is: string;
}

export const LAYERS: Readonly<Record<string, Layer>> = JSON.parse(
  readFileSync(join(import.meta.dirname, "layers.json"), "utf8"),
) as Record<string, Layer>;

export const PACKAGES: readonly string[] = Object.keys(LAYERS);

/** From the root: builds the page that `@gossip/console` ships, after `tsc` has built the package. */
export const CONSOLE_CONFIG = "packages/console/vite.config.ts";
/** From the root: builds the command that `@gossip/cli` ships, after `tsc` has built the package. */
export const COMMAND_CONFIG = "packages/cli/vite.config.ts";

/** The npm packages that the manifest of a package may list. */
export function manifestNpm({ below, npm, bundles = false }: Layer): readonly string[] {
  return bundles ? [...npm, ...below.flatMap((name) => LAYERS[name]!.npm)] : npm;
}

export interface Manifest {
  readonly name: string;
  readonly version: string;
  /** Name of a command to the file that starts it. */
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly sideEffects?: boolean;
}

export function packageFolder(name: string): string {
  return join(ROOT, "packages", name);
}

export function readManifest(name: string): Manifest {
  return JSON.parse(readFileSync(join(packageFolder(name), "package.json"), "utf8")) as Manifest;
}

/** The folders that exist, whether or not the table knows them. */
export function packageFolders(): string[] {
  return readdirSync(join(ROOT, "packages"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** The public entries of a package that lead to code: `.` and perhaps `./testing`. `./internal` is not public. */
export function codeEntries(manifest: Manifest): string[] {
  return Object.keys(manifest.exports).filter((entry) => entry !== "./package.json" && entry !== "./internal");
}

/** The source file behind an entry: `src/index.ts`, `src/testing.ts` or `src/testing/index.ts`. */
export function entrySource(manifest: Manifest, entry: string): string {
  const target = manifest.exports[entry] as { "@gossip/source": string };
  return target["@gossip/source"];
}
