import { MAX_KEY_SIZE } from "@gossip/contracts";
import { keySuccessor, prefixSuccessor } from "@gossip/frontier";
import { setTimeout as sleep } from "node:timers/promises";
import { compareBytes } from "@gossip/stdx";
import { pauseAfter } from "../../policy/retry-schedule.ts";
import type { ItemBatch, ItemProblem } from "../source.ts";
import type { ReadBounds } from "../read-bounds.ts";
import { SourceReadFailed } from "../source-read-failed.ts";
import { FileItem } from "./file-item.ts";
import { folderProblemKey, isReported } from "./folder-problem.ts";
import type { Listing, TreeEntry } from "./list-directory.ts";
import { TreeFolders } from "./tree-folders.ts";
import { RootLost } from "./tree-root.ts";
import { boundsBelow, concat, isExcluded, type Tree } from "./tree.ts";
import { hasVanished, isShortage, isTransient, rootError, stopAt, unreadableFolder } from "./tree-failure.ts";

/** Enough to make the cost per batch negligible, few enough that items do not wait long. */
const ITEMS_PER_BATCH = 256;

/** A folder of the walk, with the entries held in memory. */
interface Frame {
  /** Its path below the root: empty, or with a trailing slash. */
  readonly prefix: Uint8Array;
  readonly entries: readonly TreeEntry[];
  readonly hasMore: boolean;
  next: number;
}

const ROOT = /* @__PURE__ */ new Uint8Array(0);

export interface WalkRequest {
  readonly bounds: ReadBounds;
  /** The last key of the reading that this one continues, if any. */
  readonly after?: Uint8Array | undefined;
  readonly signal: AbortSignal;
}

/**
 * The files of a tree in byte order of their paths, within the bounds.
 *
 * Folders are listed when the walk reaches them, and folders wholly outside the bounds are never listed: continuing
 * from a key takes one listing for each folder above it.
 */
export async function* walkTree(tree: Tree, request: WalkRequest): AsyncGenerator<ItemBatch<FileItem>> {
  const { signal } = request;
  signal.throwIfAborted();
  const walk = new TreeWalk(tree, request);
  try {
    await walk.enter(ROOT);
    for (let folder = walk.advance(); folder !== undefined; folder = walk.advance()) {
      // Yield what is there before waiting for the disk.
      if (!walk.isEmpty) yield walk.take();
      signal.throwIfAborted();
      walk.stopIfReplaced();
      if (folder !== "full") await walk.enter(folder);
    }
    if (!walk.isEmpty) yield walk.take();
  } finally {
    walk.close();
  }
}

class TreeWalk {
  readonly #tree: Tree;
  readonly #request: WalkRequest;
  readonly #folders: TreeFolders;
  /** The current folder and its parents. */
  readonly #stack: Frame[] = [];
  #items: FileItem[] = [];
  #problems: ItemProblem[] = [];
  /** The key of the last problem. */
  #notedKey: Uint8Array | undefined;

  constructor(tree: Tree, request: WalkRequest) {
    this.#tree = tree;
    this.#request = request;
    this.#folders = new TreeFolders(tree.root);
  }

  close(): void {
    this.#folders.close();
  }

  /**
   * The walk itself stays in the folder that it has opened. But if `FileItem.open` found another one in its place, all
   * items to come would fail.
   */
  stopIfReplaced(): void {
    const { root, name } = this.#tree;
    if (root.isReplaced) throw new SourceReadFailed(rootError(name, new RootLost("ENOTDIR")));
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

  /** Collect files up to the next folder to list, or until the batch is full. Returns `undefined` at the end. */
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

  /** List a folder for the first time, or continue one that was too large to hold. */
  async enter(prefix: Uint8Array): Promise<void> {
    const { after, bounds, signal } = this.#request;
    const top = this.#stack.at(-1);
    const isAgain = top !== undefined && top.prefix.length === prefix.length;
    if (isAgain) this.#stack.pop();
    const behind = isAgain ? top.entries.at(-1) : undefined;
    try {
      const { entries, hasMore } = await this.#list(prefix, behind);
      this.#stack.push({ prefix, entries, hasMore, next: 0 });
    } catch (thrown) {
      if (thrown instanceof SourceReadFailed || signal.aborted) throw thrown;
      if (hasVanished(thrown)) return;
      if (this.#tree.onUnreadable === "stop" || isShortage(thrown)) throw stopAt(thrown);
      if (isReported(prefix, after)) return;
      const at = behind === undefined ? prefix : concat(prefix, firstBehind(behind));
      this.#note(folderProblemKey(prefix, at, bounds), unreadableFolder(thrown));
    }
  }

  /** Retries transient errors, such as those of an unavailable network file system. */
  async #list(prefix: Uint8Array, behind: TreeEntry | undefined): Promise<Listing> {
    const { name, retry, list, namesHeld } = this.#tree;
    const { bounds, signal } = this.#request;
    const { from, end } = boundsBelow(bounds, prefix);
    const wanted = { from: behind === undefined ? from : firstBehind(behind), end, limit: namesHeld, signal };
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#folders.use(prefix, (folder) => list({ folder, ...wanted }));
      } catch (thrown) {
        signal.throwIfAborted();
        const waitMs = isTransient(thrown)
          ? pauseAfter(retry, { attempt, random: Math.random(), leastMs: 0 })
          : undefined;
        if (waitMs !== undefined) {
          await sleep(waitMs, undefined, { signal });
          continue;
        }
        // A tree without its root is missing, not empty.
        throw prefix.length === 0 || thrown instanceof RootLost
          ? new SourceReadFailed(rootError(name, thrown), { cause: thrown })
          : thrown;
      }
    }
  }

  #note(key: Uint8Array, reason: string): void {
    const { from } = this.#request.bounds;
    const inside = compareBytes(key, from) < 0 ? from : key.subarray(0, MAX_KEY_SIZE);
    const last = this.#notedKey;
    // Paths that are too long may be equal up to the size of a key. One report covers them.
    if (last !== undefined && compareBytes(inside, last) <= 0) return;
    this.#notedKey = inside;
    this.#problems.push({ key: inside, reason });
  }
}

/** The least name that can follow an entry. After a folder, that is after everything below it. */
function firstBehind({ name, isFolder }: TreeEntry): Uint8Array {
  return (isFolder ? prefixSuccessor(name) : keySuccessor(name))!;
}
