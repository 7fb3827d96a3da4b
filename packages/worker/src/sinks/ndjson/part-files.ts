import { mkdir, open, rename, rm, rmdir, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";

/** A file open for writing. */
export interface WrittenFile {
  /** Write all bytes at an offset. If it fails, any number of them may have been written. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Resolves when everything written is on disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A file open for reading. */
export interface ReadFile {
  /** Fill `out`. Reads fewer bytes only at the end of the file. */
  read(out: Buffer, position: number): Promise<number>;
  close(): Promise<void>;
}

/** The file system operations that the sink needs. Tests replace them with a file system that crashes. */
export interface PartFiles {
  /** Create a folder and its parents, and sync all of them. */
  makeFolder(path: string): Promise<void>;
  /** Create a new file. Fails with `EEXIST` if it exists. */
  create(path: string): Promise<WrittenFile>;
  /** Resolves when the names in a folder are on disk. */
  syncFolder(path: string): Promise<void>;
  open(path: string): Promise<ReadFile>;
  rename(from: string, to: string): Promise<void>;
  /** Remove a folder and its contents. Does nothing if it does not exist. */
  removeFolder(path: string): Promise<void>;
  /** Remove a folder. Does nothing if it is not empty or does not exist. */
  removeEmptyFolder(path: string): Promise<void>;
}

/** The real file system. */
export const PART_FILES: PartFiles = {
  async makeFolder(path) {
    const first = await mkdir(path, { recursive: true });
    if (first === undefined) return;
    // Each new folder is a name in its parent, which has to be synced.
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
      // Some file systems cannot sync folders and have no replacement.
      if ((thrown as NodeJS.ErrnoException).code !== "EINVAL") throw thrown;
    } finally {
      await folder.close();
    }
  },

  async open(path) {
    return reading(await open(path, "r"));
  },

  rename,

  // Another process may move a folder to this name while the one before it is removed. Then its files are removed, too.
  removeFolder: (path) => rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }),

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
