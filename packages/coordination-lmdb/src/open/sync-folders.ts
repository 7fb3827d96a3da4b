import { open, realpath } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Flushes the entry of the store's file in its folder, and those of the folders that were created.
 *
 * The engine flushes the file, but not the folder that names it. `firstMade` is the outermost folder that was created,
 * if any.
 */
export async function syncFolders(folder: string, firstMade: string | undefined): Promise<void> {
  const last = firstMade === undefined ? folder : dirname(await realpath(firstMade));
  for (let at = folder; ; at = dirname(at)) {
    await syncFolder(at);
    if (at === last || at === dirname(at)) return;
  }
}

async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Some systems cannot open a folder. They need no flush either.
  }
}
