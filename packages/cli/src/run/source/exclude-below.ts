import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import type { TreeCandidate } from "@gossip/worker";

/**
 * Says of what lies below `root` whether it is one of `own`: a store must not be an item of the run that it
 * keeps, nor its results. `undefined` where none of them is below it.
 *
 * Paths are compared as they are without links. A file that is not there yet is taken to come where its folder is.
 */
export async function excludeBelow(
  root: string,
  own: readonly string[],
): Promise<((candidate: TreeCandidate) => boolean) | undefined> {
  const realRoot = await realpath(root);
  const excluded = new Set<string>();
  for (const path of own) {
    const below = relative(realRoot, await realPathOf(path));
    if (below !== "" && below !== ".." && !below.startsWith(`..${sep}`)) excluded.add(below);
  }
  if (excluded.size === 0) return undefined;
  return ({ path }) => path !== undefined && excluded.has(path);
}

async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(await realPathOf(folder), basename(path));
  }
}
