import type { FileHandle } from "node:fs/promises";
import type { Item } from "../source.ts";
import { asText, joinPath } from "./path-bytes.ts";
import { codeOf } from "../system-words.ts";
import { checkPathInTree, openInTree } from "./tree-folders.ts";
import { TreeRoot } from "./tree-root.ts";

/**
 * A regular file of a tree.
 *
 * Its key is its path below the root as the file system stores it, byte for byte. Names need not be text, so the text
 * forms may be `undefined`. `pathBytes` works with every function of `node:fs`.
 */
export class FileItem implements Item {
  readonly key: Uint8Array;
  readonly #root: TreeRoot;

  constructor(root: Buffer | TreeRoot, key: Uint8Array) {
    this.key = key;
    this.#root = root instanceof TreeRoot ? root : new TreeRoot(root);
  }

  /** The absolute path. */
  get pathBytes(): Buffer {
    return joinPath(this.#root.path, this.key);
  }

  /** The absolute path, or `undefined` if it is not valid UTF-8. */
  get path(): string | undefined {
    return asText(this.pathBytes);
  }

  /**
   * Open the file for reading, without following a link at its name or at a folder above it, and only below the root
   * that the source found first in this process. Opening a path looks it up again: users who can write to the tree, or
   * to the folder above it, could redirect it in the meantime.
   */
  open(): Promise<FileHandle> {
    return openInTree(this.#root, this.key);
  }

  /**
   * Check the path before a program gets it that opens it itself, and follows links. Rejects if another folder has taken
   * the place of the root, or a link that of a folder or of the file. Resolves if the file is gone: the program notices.
   *
   * A link that takes a place after the check is followed all the same.
   */
  async checkPath(): Promise<void> {
    try {
      await checkPathInTree(this.#root, this.key);
    } catch (thrown) {
      if (codeOf(thrown) !== "ENOENT") throw thrown;
    }
  }

  /** The path below the root of the tree, or `undefined` if it is not valid UTF-8. */
  get relativePath(): string | undefined {
    return asText(this.key);
  }
}
