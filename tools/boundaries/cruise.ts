// One run of dependency-cruiser over a tree, with the tree's own rules.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../layers/layers.ts";
import type { Problem } from "./problem.ts";

const CRUISER = join(ROOT, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");

export interface Cruise {
  /** Every module that was read, from the root. */
  readonly modules: readonly string[];
  readonly importCount: number;
  readonly violations: readonly { readonly rule: string; readonly from: string; readonly to: string }[];
}

/** Throws where dependency-cruiser itself fails: a crash must not pass for "no violations". */
export function cruise(root: string): Cruise {
  const args = [CRUISER, "packages", "examples", "--config", ".dependency-cruiser.cjs", "--output-type", "json"];
  const run = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 30 });
  if (run.status !== 0) throw new Error(`dependency-cruiser failed:\n${run.stderr}${run.stdout.slice(0, 2000)}`);
  return parseCruise(run.stdout);
}

interface CruiserOutput {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly totalDependenciesCruised: number;
    readonly violations: readonly {
      readonly rule: { readonly name: string };
      readonly from: string;
      readonly to: string;
    }[];
  };
}

function parseCruise(output: string): Cruise {
  const { modules, summary } = JSON.parse(output) as CruiserOutput;
  return {
    modules: modules.map((module) => module.source),
    importCount: summary.totalDependenciesCruised,
    violations: summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to })),
  };
}

/**
 * What a cruise found, and whether it looked at all.
 *
 * A compiler without a JavaScript API makes dependency-cruiser read no TypeScript, find nothing and call
 * that a success. So every package must have been read, and imports must have been seen.
 */
export function cruiseProblems({ modules, importCount, violations }: Cruise, packages: readonly string[]): Problem[] {
  const unread = packages.filter((name) => !modules.some((module) => module.startsWith(`packages/${name}/src/`)));
  const problems: Problem[] = unread.map((name) => ({
    rule: "no-modules-cruised",
    where: `packages/${name}`,
    why: "dependency-cruiser read no module of its src",
  }));
  if (importCount === 0)
    problems.push({
      rule: "no-imports-cruised",
      where: "packages",
      why: "dependency-cruiser saw no import in the whole tree",
    });
  for (const { rule, from, to } of violations) problems.push({ rule, where: from, why: `imports ${to}` });
  return problems;
}

/** Sources that the cruise did not read: nothing is known of their imports. */
export function unreadProblems({ modules }: Pick<Cruise, "modules">, sources: readonly string[]): Problem[] {
  const read = new Set(modules);
  return sources
    .filter((source) => !read.has(source))
    .map((source) => ({ rule: "source-not-cruised", where: source, why: "dependency-cruiser did not read it" }));
}
