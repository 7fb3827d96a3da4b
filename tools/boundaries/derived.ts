// The files that follow from the layer table, held against what is there.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Problem } from "./problem.ts";

/** `expected` is path to text, as `derivedFiles` makes it. */
export function derivedProblems(root: string, expected: ReadonlyMap<string, string>): Problem[] {
  const stale = [...expected].filter(([path, text]) => layoutFree(readIfThere(join(root, path))) !== layoutFree(text));
  return stale.map(([path]) => ({
    rule: "derived-file",
    where: path,
    why: "differs from what the layer table says: run `pnpm layers`",
  }));
}

/** The text without its layout, which is the formatter's: white space, and how long the rule below a table's head is. */
function layoutFree(text: string): string {
  return text.replaceAll(/\s+/g, "").replaceAll(/-+/g, "-");
}

function readIfThere(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
