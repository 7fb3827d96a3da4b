import { MAX_KEY_SIZE } from "@gossip/contracts";
import { keySuccessor, prefixSuccessor } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";
import type { ItemBatch, ItemProblem } from "../../source/source.ts";
import type { ReadBounds } from "../read-bounds.ts";
import { SourceReadFailed } from "../source-read-failed.ts";
import { FileItem, joinPath } from "./file-item.ts";
import { listDirectory, type Listing, type TreeEntry } from "./list-directory.ts";
import { boundsBelow, concat, isExcluded, type Tree } from "./tree.ts";
import { hasVanished, isShortage, rootError, stopAt, unreadableFolder } from "./tree-failure.ts";

/** Enough that handing them over costs nothing, few enough that they are not kept waiting. */
const ITEMS_PER_BATCH = 256;

/** A folder that is being walked, with as many of its entries as are held at once. */
interface Frame {
  /** Its path below the root: empty, or with a slash at its end. */
  readonly prefix: Uint8Array;
  readonly entries: readonly TreeEntry[];
  readonly hasMore: boolean;
  next: number;
}

const ROOT = /* @__PURE__ */ new Uint8Array(0);

/**
 * The files of a tree in the order of their paths' bytes, from the bounds on and only up to them.
 *
 * Folders are listed when their turn comes, and those that lie wholly outside never are: to go on from a key
 * takes one look at each folder above it.
 */
export async function* walkTree(
  tree: Tree,
  bounds: ReadBounds,
  signal: AbortSignal,
): AsyncGenerator<ItemBatch<FileItem>> {
  signal.throwIfAborted();
  const walk = new TreeWalk(tree, bounds, signal);
  await walk.enter(ROOT);
  for (let folder = walk.advance(); folder !== undefined; folder = walk.advance()) {
    // What is there is handed over before the disk is waited for.
    if (!walk.isEmpty) yield walk.take();
    signal.throwIfAborted();
    if (folder !== "full") await walk.enter(folder);
  }
  if (!walk.isEmpty) yield walk.take();
}

class TreeWalk {
  readonly #tree: Tree;
  readonly #bounds: ReadBounds;
  readonly #signal: AbortSignal;
  /** The folder that is walked, and those above it. */
  readonly #stack: Frame[] = [];
  #items: FileItem[] = [];
  #problems: ItemProblem[] = [];

  constructor(tree: Tree, bounds: ReadBounds, signal: AbortSignal) {
    this.#tree = tree;
    this.#bounds = bounds;
    this.#signal = signal;
  }

  get isEmpty(): boolean {
    return this.#items.length === 0 && this.#problems.length === 0;
  }

  take(): ItemBatch<FileItem> {
    const batch = { items: this.#items, problems: this.#problems };
    this.#items = [];
    this.#problems = [];
    return batch;
  }

  /** Gather files up to the next folder that must be listed, or until there are enough. `undefined` at the end. */
  advance(): Uint8Array | "full" | undefined {
    for (let frame = this.#stack.at(-1); frame !== undefined; frame = this.#stack.at(-1)) {
      const entry = frame.entries[frame.next++];
      if (entry === undefined) {
        if (frame.hasMore) return frame.prefix;
        this.#stack.pop();
        continue;
      }
      if (isExcluded(this.#tree, frame.prefix, entry)) continue;
      const key = concat(frame.prefix, entry.name);
      if (key.length > MAX_KEY_SIZE)
        this.#note(key, `a path of ${key.length} bytes is too long, ${MAX_KEY_SIZE} are allowed`);
      else if (entry.isFolder) return key;
      else if (this.#items.push(new FileItem(this.#tree.root, key)) >= ITEMS_PER_BATCH) return "full";
    }
    return undefined;
  }

  /** List a folder for the first time, or go on where it was too large to hold. */
  async enter(prefix: Uint8Array): Promise<void> {
    const top = this.#stack.at(-1);
    const isAgain = top !== undefined && top.prefix.length === prefix.length;
    if (isAgain) this.#stack.pop();
    const behind = isAgain ? top.entries.at(-1) : undefined;
    try {
      const { entries, hasMore } = await listFolder(this.#tree, this.#bounds, { prefix, behind, signal: this.#signal });
      this.#stack.push({ prefix, entries, hasMore, next: 0 });
    } catch (thrown) {
      if (thrown instanceof SourceReadFailed || this.#signal.aborted) throw thrown;
      if (hasVanished(thrown)) return;
      if (this.#tree.onUnreadable === "stop" || isShortage(thrown)) throw stopAt(thrown);
      this.#note(behind === undefined ? prefix : concat(prefix, firstBehind(behind)), unreadableFolder(thrown));
    }
  }

  /** A folder of which only the later part is wanted is a problem from there on. */
  #note(key: Uint8Array, reason: string): void {
    const { from } = this.#bounds;
    this.#problems.push({ key: compareBytes(key, from) < 0 ? from : key.subarray(0, MAX_KEY_SIZE), reason });
  }
}

interface FolderRequest {
  readonly prefix: Uint8Array;
  readonly signal: AbortSignal;
  /** The last entry that is known already. */
  readonly behind?: TreeEntry | undefined;
}

async function listFolder(tree: Tree, bounds: ReadBounds, { prefix, behind, signal }: FolderRequest): Promise<Listing> {
  const { from, end } = boundsBelow(bounds, prefix);
  const isRoot = prefix.length === 0;
  try {
    return await listDirectory({
      folder: isRoot ? tree.root : joinPath(tree.root, prefix),
      from: behind === undefined ? from : firstBehind(behind),
      end,
      limit: tree.namesHeld,
      signal,
    });
  } catch (thrown) {
    signal.throwIfAborted();
    // Without its root a tree is not empty but missing.
    throw isRoot ? new SourceReadFailed(rootError(tree.name, thrown), { cause: thrown }) : thrown;
  }
}

/** The least that can follow an entry: behind a folder, that is behind everything below it. */
function firstBehind({ name, isFolder }: TreeEntry): Uint8Array {
  return (isFolder ? prefixSuccessor(name) : keySuccessor(name))!;
}
