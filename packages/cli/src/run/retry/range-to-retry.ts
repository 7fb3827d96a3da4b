import type { ItemFailure } from "@gossip/coordination";
import { keySuccessor, prefixSuccessor } from "@gossip/frontier";

export interface KeyRange {
  readonly start: Uint8Array;
  /** Exclusive. */
  readonly end: Uint8Array;
}

export interface RetryRange extends KeyRange {
  /** A folder may hold any number of items; otherwise it is one. */
  readonly isFolder: boolean;
}

const SLASH = 0x2f;
const MARK = 0x00;
const MAX_DEPTH = 0xffff;

/**
 * The keys to read again for a failure: those of the item, or of the whole folder if a folder of a tree could not be
 * read.
 */
export function rangeToRetry(sourceName: string, { key, reason }: Pick<ItemFailure, "key" | "reason">): RetryRange {
  const folder = sourceName === "fs" && reason === "Unreadable" ? folderOf(key) : undefined;
  const end = folder === undefined ? keySuccessor(key) : prefixSuccessor(folder);
  const mark = folder === undefined ? -1 : key.indexOf(MARK);
  const start = mark === -1 ? key : key.subarray(0, mark);
  return { start, end: end ?? new Uint8Array(0), isFolder: folder !== undefined };
}

/**
 * The folder that could not be read, given the key of its failure. `undefined` if it was no folder.
 *
 * A folder that was read in part has as its key the path where reading stopped, a zero byte, and the number of folders
 * above, counted down from the greatest number in two bytes.
 */
function folderOf(key: Uint8Array): Uint8Array | undefined {
  const mark = key.indexOf(MARK);
  if (mark === -1) return key.at(-1) === SLASH ? key : undefined;
  let depth = MAX_DEPTH - ((key[mark + 1]! << 8) | key[mark + 2]!);
  let size = 0;
  while (depth > 0 && size < mark) if (key[size++] === SLASH) depth--;
  return key.subarray(0, size);
}
