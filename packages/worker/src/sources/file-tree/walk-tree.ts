import { MAX_KEY_SIZE } from "@gossip/contracts";
import { keySuccessor, prefixSuccessor } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";
import type { ItemBatch, ItemProblem } from "../../source/source.ts";
import type { ReadBounds } from "../read-bounds.ts";
import { SourceReadFailed } from "../source-read-failed.ts";
import { FileItem, joinPath, asText } from "./file-item.ts";
import { listDirectory, type ListRequest, type TreeEntry } from "./list-directory.ts";
import { boundsBelow, concat, type Tree } from "./tree.ts";
import { hasVanished, isShortage, rootError, stopAt, unreadableFolder } from "./tree-failure.ts";

/** Enough that handing them over costs nothing, few enough that they are not kept waiting. */
const ITEMS_PER_BATCH = 256;

/** A folder that is being walked, with as many of its entries as are held at once. */
interface Frame {
  /** Its path below the root: empty, or with a slash at its end. */
  readonly prefix: Uint8Array;
  entries: readonly TreeEntry[];
  next: number;
  hasMore: boolean;
}

/**
 * The files of a tree in the order of their paths' bytes, from the bounds on and only up to them.
 *
 * Folders are listed when their turn comes, and those that lie wholly outside never are: to go on from a key
 * takes one look at each folder above it.
 */
export async function* walkTree(tree: Tree, bounds: ReadBounds, signal: AbortSignal): AsyncGenerator<ItemBatch<FileItem>> {
  signal.throwIfAborted();
  let items: FileItem[] = [];
  let problems: ItemProblem[] = [];
  const take = (): ItemBatch<FileItem> => {
    const batch = { items, problems };
    items = [];
    problems = [];
    return batch;
  };
  const note = (key: Uint8Array, reason: string) => problems.push({ key: clampProblem(key, bounds), reason });

  const stack: Frame[] = [{ prefix: new Uint8Array(0), ...(await list(tree, bounds, { prefix: new Uint8Array(0), signal })) }];
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const entry = frame.entries[frame.next++];
    if (entry === undefined && !frame.hasMore) {
      stack.pop();
      continue;
    }
    if (entry !== undefined && isExcluded(tree, frame.prefix, entry)) continue;
    const key = entry === undefined ? frame.prefix : concat(frame.prefix, entry.name);
    if (key.length > MAX_KEY_SIZE) {
      note(key.subarray(0, MAX_KEY_SIZE), `a path of ${key.length} bytes is too long, ${MAX_KEY_SIZE} are allowed`);
    } else if (entry !== undefined && !entry.isFolder) {
      if (items.push(new FileItem(tree.root, key)) >= ITEMS_PER_BATCH) yield take();
    } else {
      // What is there is handed over before the disk is waited for.
      if (items.length > 0 || problems.length > 0) yield take();
      signal.throwIfAborted();
      await enter(key);
    }
  }
  if (items.length > 0 || problems.length > 0) yield take();

  /** List a folder for the first time, or once more where it was too large to hold. */
  async function enter(prefix: Uint8Array): Promise<void> {
    const top = stack.at(-1)!;
    const isAgain = top.prefix.length === prefix.length;
    const behind = isAgain ? top.entries.at(-1) : undefined;
    try {
      const listed = await list(tree, bounds, { prefix, signal, behind });
      if (isAgain) stack.pop();
      stack.push({ prefix, ...listed });
    } catch (thrown) {
      if (thrown instanceof SourceReadFailed || signal.aborted) throw thrown;
      if (isAgain) stack.pop();
      if (hasVanished(thrown)) return;
      if (tree.onUnreadable === "stop" || isShortage(thrown)) throw stopAt(thrown);
      note(behind === undefined ? prefix : concat(prefix, firstBehind(behind)).subarray(0, MAX_KEY_SIZE), unreadableFolder(thrown));
    }
  }
}

interface FolderRequest {
  readonly prefix: Uint8Array;
  readonly signal: AbortSignal;
  /** The last entry that is known already. */
  readonly behind?: TreeEntry | undefined;
}

async function list(tree: Tree, bounds: ReadBounds, { prefix, signal, behind }: FolderRequest): Promise<Omit<Frame, "prefix">> {
  const { from, end } = boundsBelow(bounds, prefix);
  const request: ListRequest = {
    folder: prefix.length === 0 ? tree.root : joinPath(tree.root, prefix),
    from: behind === undefined ? from : firstBehind(behind),
    end,
    limit: tree.namesHeld,
    signal,
  };
  if (prefix.length > 0) return { ...(await listDirectory(request)), next: 0 };
  try {
    return { ...(await listDirectory(request)), next: 0 };
  } catch (thrown) {
    signal.throwIfAborted();
    throw new SourceReadFailed(rootError(tree.name, thrown), { cause: thrown });
  }
}

/** The least that can follow an entry: behind a folder, that is behind everything below it. */
function firstBehind({ name, isFolder }: TreeEntry): Uint8Array {
  return (isFolder ? prefixSuccessor(name) : keySuccessor(name))!;
}

/** A folder of which only the later part is wanted is unreadable from there on. */
function clampProblem(key: Uint8Array, { from }: ReadBounds): Uint8Array {
  return compareBytes(key, from) < 0 ? from : key;
}

export function isExcluded({ exclude }: Tree, prefix: Uint8Array, { name, isFolder }: TreeEntry): boolean {
  if (exclude === undefined) return false;
  const pathBytes = concat(prefix, isFolder ? name.subarray(0, -1) : name);
  return exclude({ pathBytes, path: asText(pathBytes), isFolder });
}
