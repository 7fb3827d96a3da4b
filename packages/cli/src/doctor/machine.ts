import { spawnSync } from "node:child_process";
import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { arch, platform } from "node:os";
import { dirname } from "node:path";
import type { StoreAddress } from "../store-url/store-address.ts";
import { VERSION } from "../version.ts";
import { fine, note, problem, type CheckUp } from "./check-up.ts";

const OLDEST_NODE = [20, 19] as const;
/** File systems of other machines: what the embedded store needs of a disk, they do not have. */
const REMOTE_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0x6969: "NFS",
  0xff534d42: "CIFS",
  0xfe534d42: "SMB",
  0x517b: "SMB",
};
const LITTLE_ROOM = 256 * 1024 * 1024;

export function checkVersions(): CheckUp {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const words = `gossip ${VERSION}, Node ${process.versions.node}, ${platform()} ${arch()}`;
  const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
  return isOld
    ? problem("versions", `${words}: upgrade to Node ${OLDEST_NODE.join(".")} or later`)
    : fine("versions", words);
}

export function checkShell(): CheckUp {
  const asked = spawnSync("/bin/sh", ["-c", "printf %s ok"], { encoding: "utf8" });
  return asked.stdout === "ok"
    ? fine("shell", "/bin/sh works")
    : problem("shell", "/bin/sh does not work, and --exec needs it: install a POSIX shell");
}

/** Where an embedded store lies, or would lie. */
export async function checkFolder(address: StoreAddress): Promise<CheckUp[]> {
  if (address.kind !== "lmdb") return [];
  const folder = await nearestFolder(address.path);
  const isThere = folder === address.path;
  try {
    await access(folder, constants.W_OK | constants.X_OK);
  } catch {
    return [
      problem("folder", `${folder} may not be written to: give this user the right, or name another with --store`),
    ];
  }
  const { type, bavail, bsize } = await statfs(folder);
  const remote = REMOTE_FILE_SYSTEMS[type];
  if (remote !== undefined)
    return [
      problem(
        "folder",
        `${folder} is on ${remote}: the embedded store needs a local disk; use one, or PostgreSQL or etcd`,
      ),
    ];
  const free = bavail * bsize;
  const words = `${isThere ? address.path : `${address.path} is not there yet; ${folder} can be written to`}, ${Math.round(free / 2 ** 20)} MiB free`;
  return [free < LITTLE_ROOM ? note("folder", `${words}: that is little`) : fine("folder", words)];
}

async function nearestFolder(path: string): Promise<string> {
  try {
    await access(path, constants.F_OK);
    return path;
  } catch {
    const parent = dirname(path);
    return parent === path ? path : nearestFolder(parent);
  }
}
