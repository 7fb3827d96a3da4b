import {
  closeSync,
  constants,
  fstat,
  lstatSync,
  open as openWithCallback,
  realpathSync,
  type BigIntStats,
} from "node:fs";
import { lstat, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { codeOf } from "../system-words.ts";

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A plain descriptor, like those of the folders below. */
const openDescriptor = promisify(openWithCallback) as (path: Buffer, flags: number) => Promise<number>;
const statDescriptor = promisify(fstat) as unknown as (
  fd: number,
  options: { readonly bigint: true },
) => Promise<BigIntStats>;

interface PinnedFolder {
  /** Without links, as it was when it was pinned. */
  readonly path: Buffer;
  readonly dev: bigint;
  readonly ino: bigint;
}

/**
 * The root of a tree: the folder that was at a path first.
 *
 * The path may lead through links. They are resolved once, when the folder is pinned. From then on a link in its place
 * is not followed, and another folder in its place (another device or inode) is refused: a user who can write to the
 * folder above could otherwise redirect the whole tree. Both may change with a reboot or a mount, so nothing of this is
 * stored, and every process pins what it finds.
 *
 * A deleted folder's inode may be used again. That gives an attacker nothing: a new folder holds only what its owner
 * could also have put into the old one.
 */
export class TreeRoot {
  /** The absolute path as it was given. */
  readonly path: Buffer;
  #pinned: PinnedFolder | undefined;
  #isReplaced = false;

  constructor(path: Buffer) {
    this.path = path;
  }

  /** Pin the folder that is there now. If there is none, the first use that finds one pins it. */
  tryPin(): boolean {
    try {
      this.#pin();
      return true;
    } catch (thrown) {
      if (codeOf(thrown) === undefined) throw thrown;
      return false;
    }
  }

  /** Whether the last use found another folder or a link. */
  get isReplaced(): boolean {
    return this.#isReplaced;
  }

  /** Open the folder. Rejects with `RootLost` if it is gone or was replaced. */
  async open(): Promise<number> {
    const pinned = this.#pin();
    const fd = await this.#found(openDescriptor(pinned.path, FLAGS));
    try {
      this.#compare(pinned, await statDescriptor(fd, { bigint: true }));
      return fd;
    } catch (thrown) {
      closeSync(fd);
      throw thrown;
    }
  }

  /** The path of the folder, after a look at what is there. Rejects with `RootLost` if it is gone or was replaced. */
  async find(): Promise<Buffer> {
    const pinned = this.#pin();
    this.#compare(pinned, await this.#found(lstat(pinned.path, { bigint: true })));
    return pinned.path;
  }

  /** Where the path as it was given leads. Rejects with `RootLost` if that is not the folder. */
  async resolve(): Promise<Buffer> {
    const pinned = this.#pin();
    this.#compare(pinned, await this.#found(stat(this.path, { bigint: true })));
    return pinned.path;
  }

  #pin(): PinnedFolder {
    if (this.#pinned !== undefined) return this.#pinned;
    const path = realpathSync.native(this.path, { encoding: "buffer" });
    const stats = lstatSync(path, { bigint: true });
    if (!stats.isDirectory()) throw Object.assign(new Error("ENOTDIR: not a folder"), { code: "ENOTDIR" });
    this.#pinned = { path, dev: stats.dev, ino: stats.ino };
    return this.#pinned;
  }

  #compare({ dev, ino }: PinnedFolder, found: BigIntStats): void {
    this.#isReplaced = found.dev !== dev || found.ino !== ino;
    if (this.#isReplaced) throw new RootLost("ENOTDIR");
  }

  async #found<T>(looking: Promise<T>): Promise<T> {
    try {
      return await looking;
    } catch (thrown) {
      const code = codeOf(thrown);
      if (code === "ENOENT") throw new RootLost("ENOENT", { cause: thrown });
      // A link or a file. Systems differ in what they return for a link.
      this.#isReplaced = code === "ENOTDIR" || code === "ELOOP" || code === "EMLINK";
      throw this.#isReplaced ? new RootLost("ENOTDIR", { cause: thrown }) : thrown;
    }
  }
}

/** The root of a tree is gone (`ENOENT`), or something else has its place (`ENOTDIR`, as for folders below it). */
export class RootLost extends Error {
  override readonly name = "RootLost";
  readonly code: "ENOENT" | "ENOTDIR";

  constructor(code: "ENOENT" | "ENOTDIR", options?: ErrorOptions) {
    super(`${code}: the root of the tree ${code === "ENOENT" ? "is gone" : "was replaced"}`, options);
    this.code = code;
  }
}
