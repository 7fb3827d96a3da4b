// Which test files a new seed changes.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../layers/layers.ts";
import { treeFiles } from "../tidy/tree.ts";

/** A file whose runs get longer with `effort`. */
const SOAKS = /@gossip\/tools\/effort|\bFAULT_SECONDS\b/;
/** A file that draws its cases from fast-check's seed. */
const DRAWS = /from "(?:fast-check|@fast-check\/vitest|@gossip\/tools\/store-proof)"/;
const OWN_IMPORT = /from "(\.[^"]+)"/g;

export interface ExploringFiles {
  /** From the root, in order. */
  readonly soaks: readonly string[];
  readonly properties: readonly string[];
}

/** Sorts test files by what they import, directly or through their fixtures. */
export function exploringFiles(root: string = ROOT): ExploringFiles {
  const tests = treeFiles(root).filter((file) => /^packages\/.*\.test\.ts$/.test(file));
  const soaks = tests.filter((file) => reaches(root, file, SOAKS));
  const properties = tests.filter((file) => !soaks.includes(file) && reaches(root, file, DRAWS));
  return { soaks, properties };
}

function reaches(root: string, file: string, what: RegExp, seen: Set<string> = new Set()): boolean {
  if (seen.has(file) || !existsSync(join(root, file))) return false;
  seen.add(file);
  const text = readFileSync(join(root, file), "utf8");
  if (what.test(text)) return true;
  const imports = [...text.matchAll(OWN_IMPORT)].map(([, path]) => join(dirname(file), path!));
  // Tests reach what they share through fixtures; sources import neither.
  return imports.some((path) => path.endsWith(".fixture.ts") && reaches(root, path, what, seen));
}
