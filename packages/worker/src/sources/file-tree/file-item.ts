import type { FileHandle } from "node:fs/promises";
import type { Item } from "../../source/source.ts";
import { asText, joinPath } from "./path-bytes.ts";
import { openInTree } from "./tree-folders.ts";

/**
 * A regular file of a tree.
 *
 * Its key is its path below the root as the file system has it, byte for byte. Names need not be text, so
 * what is text may be `undefined`; `pathBytes` always works, for every function of `node:fs`.
 */
export class FileItem implements Item {
  readonly key: Uint8Array;
  readonly #root: Buffer;

  constructor(root: Buffer, key: Uint8Array) {
    this.key = key;
    this.#root = root;
  }

  /** The whole path, from the root of the file system on. */
  get pathBytes(): Buffer {
    return joinPath(this.#root, this.key);
  }

  /** The whole path, or `undefined` where it is not valid UTF-8. */
  get path(): string | undefined {
    return asText(this.pathBytes);
  }

  /**
   * Open the file for reading, without following a link at its name or at a folder above it. A path is looked up again by
   * whatever opens it: if others can write to the tree, they can make it lead elsewhere in the meantime.
   */
  open(): Promise<FileHandle> {
    return openInTree(this.#root, this.key);
  }

  /** The path below the root of the tree, or `undefined` where it is not valid UTF-8. */
  get relativePath(): string | undefined {
    return asText(this.key);
  }
}
