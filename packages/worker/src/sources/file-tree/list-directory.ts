import type { Dirent } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { compareBytes, startsWith } from "@gossip/stdx";
import { isBelowEnd } from "../read-bounds.ts";
import { joinPath } from "./path-bytes.ts";

/**
 * A regular file or a folder. Entries sort by `name`. A folder's name ends with a slash, as it does in the paths below
 * it.
 */
export interface TreeEntry {
  readonly name: Uint8Array;
  readonly isFolder: boolean;
}

export interface ListRequest {
  readonly folder: Buffer;
  /** Entries from `from` up to but not including `end`. An empty bound is no bound. */
  readonly from: Uint8Array;
  readonly end: Uint8Array;
  /** The most entries to hold at a time. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** The first entries of a folder, in order. */
export interface Listing {
  readonly entries: readonly TreeEntry[];
  /** Whether more entries follow. */
  readonly hasMore: boolean;
}

/** Names per system call. More is not faster; the default of 32 is three times slower. */
const NAMES_PER_READ = 1024;
const SLASH = 0x2f;

/**
 * List the wanted entries of a folder in the order of the paths below it, at most `limit`.
 *
 * File systems return names in no particular order, so the lowest ones have to be selected from all. Names above the
 * selected ones are dropped on the way. A folder of any size thus takes the memory of `limit` names, at the cost of one
 * more pass for every `limit` names.
 */
export async function listDirectory(request: ListRequest): Promise<Listing> {
  const { limit, end } = request;
  let kept: TreeEntry[] = [];
  let below = end;
  let hasMore = false;
  const keepLowest = () => {
    kept.sort((a, b) => compareBytes(a.name, b.name));
    if (kept.length <= limit) return;
    below = kept[limit]!.name;
    kept = kept.slice(0, limit);
    hasMore = true;
  };
  await forEachEntry(request, (entry) => {
    if (!isBelowEnd(entry.name, below)) return;
    kept.push(entry);
    if (kept.length >= 2 * limit) keepLowest();
  });
  keepLowest();
  return { entries: kept, hasMore };
}

/**
 * About `limit` entries of a folder, in order, evenly distributed if it has more. This is enough to find its middle.
 */
export async function sampleDirectory(
  request: ListRequest,
): Promise<{ readonly entries: readonly TreeEntry[]; readonly stride: number }> {
  let kept: TreeEntry[] = [];
  let stride = 1;
  let seen = 0;
  await forEachEntry(request, (entry) => {
    if (seen++ % stride !== 0) return;
    kept.push(entry);
    if (kept.length < 2 * request.limit) return;
    kept = kept.filter((_, index) => index % 2 === 0);
    stride *= 2;
  });
  kept.sort((a, b) => compareBytes(a.name, b.name));
  return { entries: kept, stride };
}

async function forEachEntry(
  { folder, from, end, signal }: ListRequest,
  visit: (entry: TreeEntry) => void,
): Promise<void> {
  const directory = await opendir(folder, { encoding: "buffer" as BufferEncoding, bufferSize: NAMES_PER_READ });
  try {
    for (;;) {
      // Its declared type assumes names as text.
      let entry = (await directory.read()) as unknown as Dirent<Buffer> | null;
      signal?.throwIfAborted();
      // The first read buffered the others. Awaiting each of them would take longer than everything else.
      for (
        let left = NAMES_PER_READ;
        entry !== null;
        entry = directory.readSync() as unknown as Dirent<Buffer> | null
      ) {
        const answer = classify(folder, entry);
        const seen = answer instanceof Promise ? await answer : answer;
        if (seen !== undefined && isWanted(seen, from, end)) visit(seen);
        if (--left === 0) break;
      }
      if (entry === null) return;
    }
  } finally {
    directory.closeSync();
  }
}

/** Regular files and folders; not links, sockets, pipes and devices. */
function classify(folder: Buffer, entry: Dirent<Buffer>): TreeEntry | undefined | Promise<TreeEntry | undefined> {
  const { name } = entry;
  if (entry.isFile()) return { name, isFolder: false };
  if (entry.isDirectory()) return { name: withSlash(name), isFolder: true };
  const isKnown =
    entry.isSymbolicLink() || entry.isSocket() || entry.isFIFO() || entry.isBlockDevice() || entry.isCharacterDevice();
  return isKnown ? undefined : lookAt(folder, name);
}

/** Some file systems do not report the type of an entry. */
async function lookAt(folder: Buffer, name: Buffer): Promise<TreeEntry | undefined> {
  try {
    const stats = await lstat(joinPath(folder, name));
    if (stats.isFile()) return { name, isFolder: false };
    return stats.isDirectory() ? { name: withSlash(name), isFolder: true } : undefined;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
}

function withSlash(name: Uint8Array): Uint8Array {
  const longer = new Uint8Array(name.length + 1);
  longer.set(name);
  longer[name.length] = SLASH;
  return longer;
}

/** A folder is also wanted if only some of the paths below it are. */
function isWanted({ name, isFolder }: TreeEntry, from: Uint8Array, end: Uint8Array): boolean {
  if (!isBelowEnd(name, end)) return false;
  return compareBytes(name, from) >= 0 || (isFolder && startsWith(from, name));
}
