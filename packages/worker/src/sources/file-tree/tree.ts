import { startsWith } from "@gossip/stdx";
import type { RetrySchedule } from "../../policy/retry-schedule.ts";
import type { ReadBounds } from "../read-bounds.ts";
import { asText } from "./path-bytes.ts";
import type { listDirectory, TreeEntry } from "./list-directory.ts";
import type { TreeRoot } from "./tree-root.ts";

/** The argument of `exclude`. */
export interface TreeCandidate {
  /** The path below the root, without a trailing slash. */
  readonly pathBytes: Uint8Array;
  /** The same as text, or `undefined` if it is not valid UTF-8. */
  readonly path: string | undefined;
  readonly isFolder: boolean;
}

/** A tree of files, and how to read it. */
export interface Tree {
  /** The root as it was given, for messages. */
  readonly name: string;
  readonly root: TreeRoot;
  readonly onUnreadable: "skip" | "stop";
  readonly exclude: ((candidate: TreeCandidate) => boolean) | undefined;
  /** The most names of one folder to hold at a time. */
  readonly namesHeld: number;
  /** How many names of a folder to sample when cutting the tree. */
  readonly namesSampled: number;
  /** For folders that cannot be listed because of a transient error. */
  readonly retry: RetrySchedule;
  readonly list: typeof listDirectory;
}

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);

/** Turn bounds of paths into bounds of what follows `prefix` in the paths that start with it. */
export function boundsBelow({ from, end }: ReadBounds, prefix: Uint8Array): ReadBounds {
  return { from: restOf(from, prefix), end: restOf(end, prefix) };
}

/** No bound if the bound lies elsewhere: a folder outside the bounds is not entered at all. */
function restOf(bound: Uint8Array, prefix: Uint8Array): Uint8Array {
  return startsWith(bound, prefix) ? bound.subarray(prefix.length) : NO_BYTES;
}

export function concat(prefix: Uint8Array, name: Uint8Array): Uint8Array {
  const joined = new Uint8Array(prefix.length + name.length);
  joined.set(prefix);
  joined.set(name, prefix.length);
  return joined;
}

/** Whether an entry of the folder `prefix` is excluded. */
export function isExcluded({ exclude }: Tree, prefix: Uint8Array, { name, isFolder }: TreeEntry): boolean {
  if (exclude === undefined) return false;
  const pathBytes = concat(prefix, isFolder ? name.subarray(0, -1) : name);
  return exclude({ pathBytes, path: asText(pathBytes), isFolder });
}
