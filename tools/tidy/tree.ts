// The files that are, or could be, committed. Read from the disk, so that a download without git is checked too.
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";

const IGNORED_FOLDERS = new Set([".git", "node_modules", "dist", ".cache", ".turbo", "coverage"]);
/** `.git` is a file in a second work tree of one repository. */
const IGNORED_FILES = /\.(tsbuildinfo|tgz|log)$|^\.git$/;

/** Paths from `root`, in order. */
export function treeFiles(root: string): string[] {
  const found: string[] = [];
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && !IGNORED_FOLDERS.has(entry.name)) walk(join(folder, entry.name));
      if (entry.isFile() && !IGNORED_FILES.test(entry.name))
        found.push(relative(root, join(folder, entry.name)).replaceAll("\\", "/"));
    }
  };
  walk(root);
  return found.sort();
}

export interface SourceText {
  /** From the root. */
  readonly file: string;
  readonly text: string;
}

export function readText(root: string, file: string): SourceText {
  return { file, text: readFileSync(join(root, file), "utf8") };
}

const PARSED = new WeakMap<SourceText, ts.SourceFile>();

/** Several checks read the same file, so its syntax is kept for as long as its text is. */
export function parse(source: SourceText): ts.SourceFile {
  const parsed = PARSED.get(source) ?? ts.createSourceFile(source.file, source.text, ts.ScriptTarget.Latest, true);
  PARSED.set(source, parsed);
  return parsed;
}

export function lineOf(node: ts.Node): number {
  const source = node.getSourceFile();
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}
