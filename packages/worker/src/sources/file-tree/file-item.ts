import { isUtf8 } from "node:buffer";
import type { Item } from "../../source/source.ts";

const SLASH = 0x2f;

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

  /** The path below the root of the tree, or `undefined` where it is not valid UTF-8. */
  get relativePath(): string | undefined {
    return asText(this.key);
  }
}

/** The path of something below a folder. */
export function joinPath(folder: Buffer, below: Uint8Array): Buffer {
  const separator = folder.length > 0 && folder[folder.length - 1] === SLASH ? 0 : 1;
  const joined = Buffer.allocUnsafe(folder.length + separator + below.length);
  joined.set(folder);
  if (separator === 1) joined[folder.length] = SLASH;
  joined.set(below, folder.length + separator);
  return joined;
}

export function asText(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8") : undefined;
}
