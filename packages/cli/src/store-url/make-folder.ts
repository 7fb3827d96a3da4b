import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Make a folder and those above it. The answer is the system's name for what kept it from that; `undefined` where it is there.
 *
 * Step by step, because Node's own recursive form never comes back where a folder cannot be made and says so with ENOENT, as below /proc.
 */
export async function makeFolder(path: string): Promise<string | undefined> {
  const missing: string[] = [];
  for (let folder = path; !(await isThere(folder)) && dirname(folder) !== folder; folder = dirname(folder))
    missing.unshift(folder);
  for (const folder of missing) {
    try {
      await mkdir(folder);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      // Another process made it first.
      if (code !== "EEXIST") return code ?? "UNKNOWN";
    }
  }
  return undefined;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}
