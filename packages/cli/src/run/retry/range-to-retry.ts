import type { ItemFailure } from "@gossip/coordination";
import { keySuccessor, prefixSuccessor } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";

export interface KeyRange {
  readonly start: Uint8Array;
  /** Exclusive. Empty for the end of all keys. */
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
export function rangeToRetry(
  sourceName: string | undefined,
  { key, reason }: Pick<ItemFailure, "key" | "reason">,
): RetryRange {
  const folder = mayHaveFolders(sourceName) && reason === "Unreadable" ? folderOf(key) : undefined;
  const end = folder === undefined ? keySuccessor(key) : prefixSuccessor(folder);
  const mark = folder === undefined ? -1 : key.indexOf(MARK);
  const start = mark === -1 ? key : key.subarray(0, mark);
  return { start, end: end ?? new Uint8Array(0), isFolder: folder !== undefined };
}

/** The name of a run's source, given the source in its settings. */
export function sourceNameOf(source: string | undefined): string | undefined {
  return source === undefined ? undefined : /^[a-z0-9]+(?=:)/.exec(source)?.[0];
}

/** Whether a failure may stand for a folder. */
export function mayHaveFolders(sourceName: string | undefined): boolean {
  return sourceName === "fs";
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

/** The part of a range that is in another one, too. */
export function commonRange(range: RetryRange, within: KeyRange): RetryRange {
  return { ...range, start: later(range.start, within.start), end: earlierEnd(range.end, within.end) };
}

export function later(a: Uint8Array, b: Uint8Array): Uint8Array {
  return compareBytes(a, b) >= 0 ? a : b;
}

export function earlierEnd(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  return b.length > 0 && compareBytes(b, a) < 0 ? b : a;
}

export function laterEnd(a: Uint8Array, b: Uint8Array): Uint8Array {
  return earlierEnd(a, b) === a ? b : a;
}

/** Whether a range with this end has no key from `key` on. */
export function endsBy(end: Uint8Array, key: Uint8Array): boolean {
  return end.length > 0 && compareBytes(end, key) <= 0;
}
