// The sources and tests of our packages and examples, as the check sees them.
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

export function checkSources(): Checked {
  const files = sourceFiles();
  const program = ts.createProgram(files, {
    ...readCompilerOptions(),
    jsx: ts.JsxEmit.ReactJSX,
    jsxImportSource: "preact",
  });
  const unresolved = unresolvedImports(program, files).map((problem) => problem.replace(`${ROOT}/`, ""));
  const dropped = droppedResults(program, files).map((drop) => ({ ...drop, file: relative(ROOT, drop.file) }));
  return { fileCount: files.length, unresolved, dropped };
}

/** Examples are there to be copied: what they drop, others will. */
export function sourceFiles(): string[] {
  return [...PACKAGES.map((name) => join(packageFolder(name), "src")), join(ROOT, "examples")].flatMap(sourcesBelow);
}

/** Not what is installed, nor what tests leave in `.cache`. */
function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return entry.name === "node_modules" || entry.name.startsWith(".") ? [] : sourcesBelow(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}
