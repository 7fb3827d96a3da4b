// A copy of the work tree in which a test may plant whatever it likes.
import { cpSync, lstatSync, mkdtempSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative, sep } from "node:path";
import { ROOT } from "../layers/layers.ts";

const LEFT_BEHIND = new Set([".git", "dist", ".cache", ".turbo", "coverage"]);

/**
 * Copy the sources into a new temporary folder and answer its path. The caller removes it.
 *
 * Installed packages are linked, not copied: a package's links to its siblings lead into the copy,
 * everything else to the root's own `node_modules`. So nothing may be installed in the copy.
 */
export function copyTree(): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), "gossip-tree-")));
  cpSync(ROOT, copy, { recursive: true, verbatimSymlinks: true, filter: (path) => isCopied(path) });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"), "dir");
  return copy;
}

function isCopied(path: string): boolean {
  const parts = relative(ROOT, path).split(sep);
  if (parts[0] === "node_modules" || LEFT_BEHIND.has(basename(path))) return false;
  const depth = parts.indexOf("node_modules");
  if (depth < 0 || depth === parts.length - 1) return true;
  return lstatSync(path).isSymbolicLink() || (depth === parts.length - 2 && basename(path).startsWith("@"));
}
