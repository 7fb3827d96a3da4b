import { closeSync, constants, existsSync, open as openWithCallback } from "node:fs";
import { lstat, open, realpath, type FileHandle } from "node:fs/promises";
import { promisify } from "node:util";
import { startsWith } from "@gossip/stdx";
import { joinPath } from "./path-bytes.ts";
import type { TreeRoot } from "./tree-root.ts";

const SLASH = 0x2f;
const ROOT = /* @__PURE__ */ new Uint8Array(0);
/** Where Linux lists the open files of this process. */
const DESCRIPTORS = "/proc/self/fd";
/** Parent folders that stay open. In a deeper tree some are opened again. */
const MAX_HELD = 64;

const FOLDER_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Opening a pipe must not wait for a writer. */
const FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A plain descriptor, because closing it does not need a turn of the event loop. A walk opens very many folders. */
const openDescriptor = promisify(openWithCallback) as (path: Buffer, flags: number) => Promise<number>;

interface HeldFolder {
  readonly prefix: Uint8Array;
  readonly fd: number;
}

/**
 * The folders of a tree, opened without following links, so that a folder that is replaced by a link is not entered.
 *
 * Each folder is opened from its parent's descriptor: no name above it is looked up a second time. Without
 * `/proc/self/fd`, folders are compared by device and inode before and after they are read. That detects a replacement,
 * unless it is undone in between.
 */
export class TreeFolders {
  readonly #root: TreeRoot;
  readonly #hasDescriptors: boolean;
  /** The folder opened last, and its parents. */
  readonly #held: HeldFolder[] = [];

  constructor(
    root: TreeRoot,
    {
      hasDescriptors = process.platform === "linux" && existsSync(DESCRIPTORS),
    }: { readonly hasDescriptors?: boolean } = {},
  ) {
    this.#root = root;
    this.#hasDescriptors = hasDescriptors;
  }

  /**
   * Call `use` with a path that keeps referring to the same folder. Rejects with `ENOTDIR` if `prefix` is a link now, and
   * with `RootLost` if the root is gone or was replaced.
   */
  async use<T>(prefix: Uint8Array, use: (folder: Buffer) => Promise<T>): Promise<T> {
    if (this.#hasDescriptors) return use(pathOf(await this.#open(prefix)));
    const root = await this.#root.find();
    const before = await identify(root, prefix);
    const used = await use(prefix.length === 0 ? root : joinPath(root, prefix));
    if ((await identify(await this.#root.find(), prefix)) !== before) throw replaced();
    return used;
  }

  close(): void {
    for (const { fd } of this.#held.splice(0)) closeSync(fd);
  }

  async #open(prefix: Uint8Array): Promise<number> {
    let held = this.#held.at(-1);
    for (; held !== undefined && !startsWith(prefix, held.prefix); held = this.#held.at(-1)) {
      this.#held.pop();
      closeSync(held.fd);
    }
    if (held === undefined) held = this.#hold(ROOT, await this.#root.open());
    while (held.prefix.length < prefix.length) {
      const slash = prefix.indexOf(SLASH, held.prefix.length);
      const name = prefix.subarray(held.prefix.length, slash);
      const fd = await openDescriptor(joinPath(pathOf(held.fd), name), FOLDER_FLAGS);
      if (this.#held.length >= MAX_HELD) closeSync(this.#held.pop()!.fd);
      held = this.#hold(prefix.subarray(0, slash + 1), fd);
    }
    return held.fd;
  }

  #hold(prefix: Uint8Array, fd: number): HeldFolder {
    const held = { prefix, fd };
    this.#held.push(held);
    return held;
  }
}

/** Device and inode of a folder and of its parents below the root. */
async function identify(root: Buffer, prefix: Uint8Array): Promise<string> {
  let identity = "";
  for (let slash = prefix.indexOf(SLASH); slash !== -1; slash = prefix.indexOf(SLASH, slash + 1)) {
    const folder = await lstat(joinPath(root, prefix.subarray(0, slash)), { bigint: true });
    if (!folder.isDirectory()) throw replaced();
    identity += `/${folder.dev}:${folder.ino}`;
  }
  return identity;
}

/** Open a file of a tree for reading, without following links on the way. */
export async function openInTree(root: TreeRoot, key: Uint8Array): Promise<FileHandle> {
  const folders = new TreeFolders(root);
  const nameStart = key.lastIndexOf(SLASH) + 1;
  try {
    return await folders.use(key.subarray(0, nameStart), async (folder) => {
      const handle = await open(joinPath(folder, key.subarray(nameStart)), FILE_FLAGS);
      if ((await handle.stat()).isFile()) return handle;
      await handle.close();
      throw Object.assign(new Error("EINVAL: not a regular file any more"), { code: "EINVAL" });
    });
  } finally {
    folders.close();
  }
}

/** Check that the path of a file, as a program would open it, leads to the root and from there through no link. */
export async function checkPathInTree(root: TreeRoot, key: Uint8Array): Promise<void> {
  const folder = await root.resolve();
  const found = await realpath(joinPath(root.path, key), { encoding: "buffer" });
  if (!found.equals(joinPath(folder, key)))
    throw Object.assign(new Error("ENOTDIR: the file, or a folder above it, was replaced by a link"), {
      code: "ENOTDIR",
    });
}

function pathOf(fd: number): Buffer {
  return Buffer.from(`${DESCRIPTORS}/${fd}`);
}

function replaced(): Error {
  return Object.assign(new Error("ENOTDIR: a folder was replaced"), { code: "ENOTDIR" });
}
