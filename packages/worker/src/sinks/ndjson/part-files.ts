import { mkdir, open, rename, rm, rmdir, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";

/** A file that is being written. */
export interface WrittenFile {
  /** All of the bytes, at a place. Where it fails, any number of them may have been written. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** What was written is on the disk when this is done. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A file that is being read. */
export interface ReadFile {
  /** As many bytes as `out` has room for, fewer only where the file ends. */
  read(out: Buffer, position: number): Promise<number>;
  close(): Promise<void>;
}

/** What the sink asks of a file system. A test takes its place with one that crashes. */
export interface PartFiles {
  /** Make a folder and those above it, all of them on the disk. */
  makeFolder(path: string): Promise<void>;
  /** A file that was not there before. `EEXIST` where it was. */
  create(path: string): Promise<WrittenFile>;
  /** The names in a folder are on the disk when this is done. */
  syncFolder(path: string): Promise<void>;
  open(path: string): Promise<ReadFile>;
  rename(from: string, to: string): Promise<void>;
  /** With everything in it; nothing, where it is not there. */
  removeFolder(path: string): Promise<void>;
  /** Nothing, where it is not empty or not there. */
  removeEmptyFolder(path: string): Promise<void>;
}

/** The file system itself. */
export const PART_FILES: PartFiles = {
  async makeFolder(path) {
    const first = await mkdir(path, { recursive: true });
    if (first === undefined) return;
    // Each new folder is a name in the one above it.
    for (let folder = path; folder.length >= first.length; folder = dirname(folder))
      await PART_FILES.syncFolder(dirname(folder));
  },

  async create(path) {
    return writing(await open(path, "wx"));
  },

  async syncFolder(path) {
    const folder = await open(path, "r");
    try {
      await folder.sync();
    } catch (thrown) {
      // Some file systems know no such thing for folders, and have nothing to make up for it.
      if ((thrown as NodeJS.ErrnoException).code !== "EINVAL") throw thrown;
    } finally {
      await folder.close();
    }
  },

  async open(path) {
    return reading(await open(path, "r"));
  },

  rename,

  removeFolder: (path) => rm(path, { recursive: true, force: true }),

  async removeEmptyFolder(path) {
    try {
      await rmdir(path);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOENT") throw thrown;
    }
  },
};

function writing(handle: FileHandle): WrittenFile {
  return {
    async write(bytes, position) {
      for (let written = 0; written < bytes.length;) {
        written += (await handle.write(bytes, written, bytes.length - written, position + written)).bytesWritten;
      }
    },
    sync: () => handle.datasync(),
    close: () => handle.close(),
  };
}

function reading(handle: FileHandle): ReadFile {
  return {
    async read(out, position) {
      let filled = 0;
      while (filled < out.length) {
        const { bytesRead } = await handle.read(out, filled, out.length - filled, position + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return filled;
    },
    close: () => handle.close(),
  };
}
