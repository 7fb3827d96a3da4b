import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCode } from "../output/system-code.ts";

/**
 * Create a folder and its parents. Returns the system's error code, or `undefined` if the folder exists.
 *
 * It creates them one by one, because Node's recursive mkdir never returns if a folder cannot be created with ENOENT,
 * as below /proc.
 */
export async function makeFolder(path: string): Promise<string | undefined> {
  const missing: string[] = [];
  for (let folder = path; !(await isThere(folder)) && dirname(folder) !== folder; folder = dirname(folder))
    missing.unshift(folder);
  for (const folder of missing) {
    try {
      await mkdir(folder);
    } catch (thrown) {
      const code = systemCode(thrown);
      // Another process created it first.
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
