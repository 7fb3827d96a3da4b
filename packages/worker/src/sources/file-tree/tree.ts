import { startsWith } from "@gossip/stdx";
import type { RetryPolicy } from "../../policy/retry-policy.ts";
import type { ReadBounds } from "../read-bounds.ts";
import { asText } from "./path-bytes.ts";
import type { listDirectory, TreeEntry } from "./list-directory.ts";

/** What an exclusion is asked about. */
export interface TreeCandidate {
  /** Its path below the root, without a slash at its end. */
  readonly pathBytes: Uint8Array;
  /** The same as text, or `undefined` where it is not valid UTF-8. */
  readonly path: string | undefined;
  readonly isFolder: boolean;
}

/** A tree of files, and how it is read. */
export interface Tree {
  /** As it was given, for people. */
  readonly name: string;
  /** Absolute. */
  readonly root: Buffer;
  readonly onUnreadable: "skip" | "stop";
  readonly exclude: ((candidate: TreeCandidate) => boolean) | undefined;
  /** Most names of one folder to hold at once. */
  readonly namesHeld: number;
  /** Names a folder is judged by when the tree is cut. */
  readonly namesSampled: number;
  /** For a folder that cannot be listed because of what may pass. */
  readonly retry: RetryPolicy;
  readonly list: typeof listDirectory;
}

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);

/** Bounds of paths, as bounds of what follows `prefix` in those paths that begin with it. */
export function boundsBelow({ from, end }: ReadBounds, prefix: Uint8Array): ReadBounds {
  return { from: restOf(from, prefix), end: restOf(end, prefix) };
}

/** No bound, where the bound lies elsewhere: a folder is not entered where nothing of it is inside. */
function restOf(bound: Uint8Array, prefix: Uint8Array): Uint8Array {
  return startsWith(bound, prefix) ? bound.subarray(prefix.length) : NO_BYTES;
}

export function concat(prefix: Uint8Array, name: Uint8Array): Uint8Array {
  const joined = new Uint8Array(prefix.length + name.length);
  joined.set(prefix);
  joined.set(name, prefix.length);
  return joined;
}

/** Whether an entry of the folder `prefix` is not wanted. */
export function isExcluded({ exclude }: Tree, prefix: Uint8Array, { name, isFolder }: TreeEntry): boolean {
  if (exclude === undefined) return false;
  const pathBytes = concat(prefix, isFolder ? name.subarray(0, -1) : name);
  return exclude({ pathBytes, path: asText(pathBytes), isFolder });
}
