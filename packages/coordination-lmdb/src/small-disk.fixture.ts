import { spawnSync } from "node:child_process";
import { makeFolder } from "./temporary-store.fixture.ts";

/** A file system of a few megabytes, where this process may make one. */
export async function mountSmallDisk(
  sizeKb: number,
): Promise<{ readonly path: string; readonly dispose: () => Promise<void> } | undefined> {
  const folder = await makeFolder();
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${sizeKb}k`, "tmpfs", folder.path]);
  if (mounted.status !== 0) {
    await folder.dispose();
    return undefined;
  }
  const dispose = async () => {
    // Lazily: the driver may close its files a moment after the store.
    spawnSync("umount", ["-l", folder.path]);
    await folder.dispose();
  };
  return { path: folder.path, dispose };
}
