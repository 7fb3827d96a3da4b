import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import type { TreeCandidate } from "@gossip/worker";

/**
 * Returns a function that excludes the paths in `own` from the tree at `root`: the store and the results of a run must
 * not be items of it. Returns `undefined` if none of them is below `root`.
 *
 * Paths are compared with links resolved. A file that does not exist yet is resolved by its folder.
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
