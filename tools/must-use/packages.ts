// The sources and tests of our packages, as the check sees them.
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { readCompilerOptions } from "../api/program.ts";
import { PACKAGES, ROOT, packageFolder } from "../layers/layers.ts";
import { droppedResults, unresolvedImports, type DroppedResult } from "./dropped-results.ts";

export interface Checked {
  readonly fileCount: number;
  readonly unresolved: readonly string[];
  /** With paths from the root. */
  readonly dropped: readonly DroppedResult[];
}

export function checkPackages(): Checked {
  const files = PACKAGES.flatMap(sourcesOf);
  const program = ts.createProgram(files, readCompilerOptions());
  const unresolved = unresolvedImports(program, files).map((problem) => problem.replace(`${ROOT}/`, ""));
  const dropped = droppedResults(program, files).map((drop) => ({ ...drop, file: relative(ROOT, drop.file) }));
  return { fileCount: files.length, unresolved, dropped };
}

function sourcesOf(name: string): string[] {
  const folder = join(packageFolder(name), "src");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => join(folder, path));
}
