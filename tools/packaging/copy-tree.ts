// A copy of the work tree in which a test may plant whatever it likes.
import { cpSync, existsSync, lstatSync, mkdtempSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative, sep } from "node:path";
import { ROOT } from "../layers/layers.ts";

const LEFT_BEHIND = new Set([".git", "dist", ".cache", ".turbo", "coverage"]);

export interface CopyOptions {
  /** Copy also what the compiler has built, as far as its source is still there. */
  readonly withBuild?: boolean;
}

/**
 * Copy the sources into a new temporary folder and answer its path. The caller removes it.
 *
 * Installed packages are linked, not copied: a package's links to its siblings lead into the copy,
 * everything else to the root's own `node_modules`. So nothing may be installed in the copy.
 */
export function copyTree({ withBuild = false }: CopyOptions = {}): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), "gossip-tree-")));
  // The compiler sees by the time of its outputs whether they are up to date.
  const options = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true };
  cpSync(ROOT, copy, { ...options, filter: (path) => isCopied(path) || (withBuild && isBuilt(path)) });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"), "dir");
  return copy;
}

function isCopied(path: string): boolean {
  const parts = relative(ROOT, path).split(sep);
  if (parts[0] === "node_modules" || parts.some((part) => LEFT_BEHIND.has(part))) return false;
  const depth = parts.indexOf("node_modules");
  if (depth < 0 || depth === parts.length - 1) return true;
  return lstatSync(path).isSymbolicLink() || (depth === parts.length - 2 && basename(path).startsWith("@"));
}

/** Outputs of the compiler, and what it knows of them. The files that Vite makes are made again. */
function isBuilt(path: string): boolean {
  const [root, name = "", folder, ...rest] = relative(ROOT, path).split(sep);
  if (root !== "packages" || !existsSync(join(ROOT, root, name, "dist"))) return false;
  if (folder === ".cache") return rest.length === 0 || rest.join(sep) === "build.tsbuildinfo";
  if (folder !== "dist") return false;
  const source = join(ROOT, root, name, "src", ...rest).replace(/(?:\.d\.ts|\.js|\.js\.map)$/, ".ts");
  return existsSync(source) || existsSync(`${source}x`);
}
