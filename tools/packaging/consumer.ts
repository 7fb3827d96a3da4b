// A user's project: empty, outside the workspace, with nothing but the tarballs that it was given.
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { ApiExport } from "../api/api-list.ts";
import { ROOT } from "../layers/layers.ts";
import { run, runOrThrow } from "./run.ts";

const INSTALL = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"];

/** Install the tarballs into a new project and answer its folder. The caller removes it; after a failure nothing is left. */
export async function installInto(tarballs: readonly string[], flags: readonly string[] = []): Promise<string> {
  const project = realpathSync(mkdtempSync(join(tmpdir(), "gossip-consumer-")));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  try {
    await runOrThrow("npm", [...INSTALL, ...flags, ...tarballs], project);
  } catch (error) {
    rmSync(project, { recursive: true, force: true });
    throw error;
  }
  return project;
}

/**
 * Makes a project of what a package needs out of one in which npm has installed more, and returns its folder: the package,
 * the packages that its manifest asks for, what theirs ask for, and nothing else. Files are linked, not copied.
 * Resolving once and linking finds what seventeen installs would find, in a tenth of their time.
 */
export function projectWith(installed: string, name: string): string {
  const project = realpathSync(mkdtempSync(join(tmpdir(), "gossip-consumer-")));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  for (const needed of neededBy(join(installed, "node_modules"), name))
    linkTree(join(installed, "node_modules", needed), join(project, "node_modules", needed));
  linkCommands(join(installed, "node_modules/.bin"), join(project, "node_modules/.bin"));
  return project;
}

/** The package and everything that it asks for, directly or not, as far as npm has installed it. */
function neededBy(modules: string, name: string, found: Set<string> = new Set()): Set<string> {
  const manifest = join(modules, name, "package.json");
  if (found.has(name) || !existsSync(manifest)) return found;
  found.add(name);
  const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
    readFileSync(manifest, "utf8"),
  ) as Partial<Record<string, Record<string, string>>>;
  for (const asked of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
    neededBy(modules, asked, found);
  return found;
}

/** The commands that npm made of the packages that are there. */
function linkCommands(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(to, { recursive: true });
  for (const command of readdirSync(from)) {
    const target = readlinkSync(join(from, command));
    if (existsSync(join(to, target))) symlinkSync(target, join(to, command));
  }
}

function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.isDirectory()) linkTree(join(from, entry.name), join(to, entry.name));
    else if (entry.isFile()) linkSync(join(from, entry.name), join(to, entry.name));
  }
}

/** All that npm put into the project: `@gossip/stdx`, `@noble/hashes`, … */
export function installedPackages(project: string): string[] {
  const folders = (path: string): string[] =>
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
      .map((entry) => entry.name);
  const modules = join(project, "node_modules");
  return folders(modules).flatMap((name) =>
    name.startsWith("@") ? folders(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
  );
}

/** The entries that `exports` speak of, as the project imports them. */
function specifierOf({ package: name, entry }: ApiExport): string {
  return `@gossip/${name}${entry.slice(1)}`;
}

/** Import every entry, and answer what differs between what it offers and what the list says. */
export async function importAll(
  project: string,
  specifiers: readonly string[],
  exports: readonly ApiExport[],
): Promise<string[]> {
  const script = `const found = {}; for (const name of ${JSON.stringify(specifiers)}) found[name] = Object.keys(await import(name)); process.stdout.write(JSON.stringify(found));`;
  const { exitCode, stdout, stderr } = await run(process.execPath, ["--input-type=module", "--eval", script], project);
  if (exitCode !== 0) return [`the import fails: ${stderr}`];
  const found = JSON.parse(stdout) as Record<string, string[]>;
  return specifiers.flatMap((specifier) => {
    const listed = exports
      .filter((line) => line.kind !== "type" && specifierOf(line) === specifier)
      .map((line) => line.name);
    const missing = listed
      .filter((name) => !found[specifier]!.includes(name))
      .map((name) => `${specifier} does not offer ${name}`);
    const unlisted = found[specifier]!.filter((name) => !listed.includes(name)).map(
      (name) => `${specifier} offers ${name}, which the sources do not export`,
    );
    return [...missing, ...unlisted];
  });
}

/** The oldest TypeScript that users of our packages may have. `docs/guide/write-a-job.md` states it. */
export const OLDEST_TYPESCRIPT = join(ROOT, "tools/node_modules/typescript-oldest/bin/tsc");

/** Found in another's declarations. What of ours depends on them is reported in ours. */
const FOREIGN = /^node_modules\/(?!@gossip\/)/;

/** A project, what it uses, and whether it has the types of Node. */
export interface Usage {
  readonly project: string;
  readonly exports: readonly ApiExport[];
  /** Without them a package has to make do with what the language and the browser have in common. */
  readonly needsNode: boolean;
}

/** Type-check a module that uses every export, libraries included. Returns the problems. */
export async function typeCheckAll(usage: Usage, compiler: string = COMPILER): Promise<string[]> {
  writeUsage(usage);
  const { exitCode, stdout } = await run(compiler, ["-p", "."], usage.project);
  return exitCode === 0 ? [] : problemsIn(stdout).filter((problem) => !FOREIGN.test(problem));
}

/**
 * The same for many projects beside each other, in one process: the compiler reads what they have in common once. Returns
 * the problems of each project.
 */
export async function typeCheckEach(usages: readonly Usage[]): Promise<Map<string, string[]>> {
  for (const usage of usages) writeUsage(usage);
  const names = usages.map(({ project }) => basename(project));
  const { exitCode, stdout } = await run(COMPILER, ["-b", "--builders", "1", ...names], dirname(usages[0]!.project));
  const found = new Map(usages.map(({ project }) => [project, [] as string[]]));
  const problems = problemsIn(stdout);
  if (exitCode !== 0 && problems.length === 0) throw new Error(`the compiler ended with ${exitCode}`);
  for (const problem of problems) {
    const usage = usages.find((_, index) => problem.startsWith(`${names[index]}/`));
    if (usage === undefined) throw new Error(`of no project: ${problem}`);
    const inProject = problem.slice(basename(usage.project).length + 1);
    if (!FOREIGN.test(inProject)) found.get(usage.project)!.push(inProject);
  }
  return found;
}

const COMPILER = join(ROOT, "node_modules/.bin/tsc");

/** A problem goes on in the lines below it that are indented. */
function problemsIn(stdout: string): string[] {
  return stdout
    .trim()
    .split(/\n(?=\S)/)
    .filter((problem) => problem !== "");
}

function writeUsage({ project, exports, needsNode }: Usage): void {
  const uses = exports.map(
    (line, index) =>
      `export ${line.kind === "type" ? "type " : ""}{ ${line.name} as use${index} } from "${specifierOf(line)}";\n`,
  );
  const environment = needsNode ? { types: ["node"], typeRoots: [join(ROOT, "node_modules/@types")] } : { types: [] };
  const compilerOptions = {
    module: "nodenext",
    moduleResolution: "nodenext",
    // The oldest compiler knows no later target. No `lib`: many projects set none, and our types have to bring what they need.
    target: "es2022",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    // The compiler's own libraries are not ours to check, and take as long as everything else.
    skipDefaultLibCheck: true,
    noEmit: true,
    ...environment,
  };
  mkdirSync(join(project, "src"), { recursive: true });
  writeFileSync(join(project, "src/uses.ts"), uses.join("") + "export {};\n");
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }));
}
