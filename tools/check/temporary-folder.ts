// Where the steps of `npm test` keep their temporary files: in memory, if there is room.
//
// Tests make and delete tens of thousands of files. Some disks make that slow: ext4 without a journal reads the inodes
// that were deleted in the last minutes again whenever a file is made. Tests that are run by hand, and `npm run explore`,
// use the disk.
import { accessSync, chmodSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** Several times what all steps need at a time. */
const ROOM_BYTES = 4 * 2 ** 30;

export interface TemporaryFolder {
  /** `undefined` if the system's folder is used. */
  readonly path: string | undefined;
  readonly remove: () => void;
}

export function openTemporaryFolder(): TemporaryFolder {
  if (process.env["TMPDIR"] !== undefined || !hasRoom()) return { path: undefined, remove: () => undefined };
  const path = mkdtempSync(join(MEMORY, "gossip-test-"));
  // As open as the system's folder: PostgreSQL runs as another user.
  chmodSync(path, 0o1777);
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Whether there is a file system in memory on which programs may be started, and enough memory for it. */
function hasRoom(): boolean {
  try {
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    const options = mounts.map((line) => line.split(" ")).findLast(([, path]) => path === MEMORY);
    if (options?.[2] !== "tmpfs" || options[3]!.split(",").includes("noexec")) return false;
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES && freemem() >= ROOM_BYTES;
  } catch {
    return false;
  }
}
