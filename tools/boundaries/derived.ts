// The files that follow from the layer table, held against what is there.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Problem } from "./problem.ts";

/** `expected` is path to text, as `derivedFiles` makes it. */
export function derivedProblems(root: string, expected: ReadonlyMap<string, string>): Problem[] {
  const stale = [...expected].filter(([path, text]) => readIfThere(join(root, path)) !== text);
  return stale.map(([path]) => ({ rule: "derived-file", where: path, why: "differs from what the layer table says: run `pnpm layers`" }));
}

function readIfThere(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
