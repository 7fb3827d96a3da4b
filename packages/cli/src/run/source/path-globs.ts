import picomatch from "picomatch";
import type { TreeCandidate } from "@gossip/worker";

export interface PathGlobs {
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
}

type Matches = (path: string, name: string, isFolder: boolean) => boolean;

/**
 * Returns a function that excludes files and folders of a tree by globs. `undefined` without globs.
 *
 * A glob with a slash is matched against the path below the root, one without a slash against the name alone, at any
 * depth. A glob with a slash at its end matches folders only. `*` does not match a slash, `**` does, and both match a
 * dot at the start of a name. An excluded folder is not entered. `include` applies to files.
 */
export function excludeByGlobs({ include, exclude }: PathGlobs): ((candidate: TreeCandidate) => boolean) | undefined {
  if (include === undefined && exclude === undefined) return undefined;
  const included = (include ?? []).map(matcher);
  const excluded = (exclude ?? []).map(matcher);
  return ({ path, pathBytes, isFolder }) => {
    // Bytes that are not UTF-8 become replacement characters, so that `*` matches them.
    const text = path ?? Buffer.from(pathBytes).toString("utf8");
    const name = text.slice(text.lastIndexOf("/") + 1);
    if (excluded.some((matches) => matches(text, name, isFolder))) return true;
    return !isFolder && included.length > 0 && !included.some((matches) => matches(text, name, isFolder));
  };
}

function matcher(glob: string): Matches {
  const isForFolders = glob.endsWith("/");
  const trimmed = glob.replace(/^\.?\/+/, "").replace(/\/+$/, "");
  const isMatch = picomatch(trimmed, { dot: true, nonegate: true });
  const isForNames = !trimmed.includes("/") && !/^\.?\//.test(glob);
  return (path, name, isFolder) => (isFolder || !isForFolders) && isMatch(isForNames ? name : path);
}
