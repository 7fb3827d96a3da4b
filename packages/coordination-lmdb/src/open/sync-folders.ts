import { open, realpath } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Put on disk that the store's file is in its folder, and the folder where it is.
 *
 * The engine flushes what is in the file. Where the file is to be found is the folder's, and nothing else flushes that. `firstMade` is the
 * outermost folder that had to be made for it, if any had.
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
    // Not every system lets a folder be opened, and those that do not have no such step.
  }
}
