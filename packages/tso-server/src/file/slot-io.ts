import { open, rename, type FileHandle } from "node:fs/promises";
import { join } from "node:path";

/** What the driver does to its open state file. A seam: crash and disk-error tests put faults here. */
export interface SlotIo {
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Resolves when what was written survives a loss of power. */
  datasync(): Promise<void>;
  close(): Promise<void>;
}

export async function openSlotIo(path: string): Promise<{ readonly bytes: Buffer; readonly io: SlotIo }> {
  const handle = await open(path, "r+");
  try {
    return { bytes: await handle.readFile(), io: slotIo(handle) };
  } catch (thrown) {
    await handle.close();
    throw thrown;
  }
}

function slotIo(handle: FileHandle): SlotIo {
  return {
    async write(bytes, position) {
      const { bytesWritten } = await handle.write(bytes, 0, bytes.length, position);
      if (bytesWritten !== bytes.length) throw new Error(`the disk took ${bytesWritten} of ${bytes.length} bytes`);
    },
    datasync: () => handle.datasync(),
    close: () => handle.close(),
  };
}

/**
 * Put a file in place whole: a reader sees all of it or nothing, also after a loss of power.
 *
 * `step` is called before each step, for tests that crash there.
 */
export async function createAtomically(
  target: { readonly directory: string; readonly name: string },
  bytes: Uint8Array,
  step: (name: "write" | "sync" | "rename" | "sync directory") => void = () => {},
): Promise<void> {
  const path = join(target.directory, target.name);
  const temporary = `${path}.tmp`;
  const handle = await open(temporary, "w", 0o644);
  try {
    step("write");
    await handle.writeFile(bytes);
    step("sync");
    await handle.sync();
  } finally {
    await handle.close();
  }
  step("rename");
  await rename(temporary, path);
  step("sync directory");
  const directory = await open(target.directory, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
