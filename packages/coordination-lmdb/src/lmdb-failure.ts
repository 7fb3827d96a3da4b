import { statfs } from "node:fs/promises";
import { getSystemErrorName } from "node:util";
import { InfraError } from "@gossip/coordination-errors";

/** What a store was doing when it failed. */
export type LmdbOperation =
  | "lmdb.readRun"
  | "lmdb.readShard"
  | "lmdb.readHint"
  | "lmdb.readProgress"
  | "lmdb.markStarved"
  | "lmdb.listClaimCandidates"
  | "lmdb.listShards"
  | "lmdb.listRuns"
  | "lmdb.listTenants"
  | "lmdb.commit"
  | "lmdb.sweep"
  | "lmdb.inspect"
  | "lmdb.repair";

/** The engine's own numbers for what can go wrong. Numbers of the operating system are positive. */
const ENGINE_CODES: Readonly<Record<number, string>> = {
  [-30797]: "MDB_PAGE_NOTFOUND",
  [-30796]: "MDB_CORRUPTED",
  [-30795]: "MDB_PANIC",
  [-30794]: "MDB_VERSION_MISMATCH",
  [-30793]: "MDB_INVALID",
  [-30792]: "MDB_MAP_FULL",
  [-30790]: "MDB_READERS_FULL",
  [-30788]: "MDB_TXN_FULL",
  [-30782]: "MDB_BAD_TXN",
};

const CORRUPTION_CODES: ReadonlySet<string> = new Set(["MDB_PAGE_NOTFOUND", "MDB_CORRUPTED", "MDB_INVALID"]);

/** What is thrown at a failed write may be only the news of it: the reason then comes separately. */
interface FailedCommit {
  readonly commitError: Promise<unknown>;
}

/** Below this many free bytes a disk is full: a page of the tree no longer fits with what the file system needs for itself. */
const FULL_BELOW = 64 * 1024;

/** The name of what went wrong, where it has one. */
export function codeOf(thrown: unknown): string | undefined {
  const code = typeof thrown === "object" && thrown !== null ? (thrown as { code?: unknown }).code : undefined;
  if (typeof code === "string") return code;
  if (typeof code !== "number") return undefined;
  return ENGINE_CODES[code] ?? (code > 0 ? getSystemErrorName(-code) : String(code));
}

/** What the driver threw, in our words. */
export function failureFrom(operation: LmdbOperation, cause: unknown): InfraError {
  const code = codeOf(cause);
  // A row that is too short for what its kind holds.
  const isTorn = cause instanceof RangeError;
  if (isTorn || (code !== undefined && CORRUPTION_CODES.has(code))) {
    return InfraError.corruption({ operation, message: "the store's file contradicts itself", code, cause });
  }
  switch (code) {
    case "ENOSPC":
      return InfraError.transient({ operation, message: "the disk is full", code, cause });
    case "EFBIG":
      return InfraError.transient({ operation, message: "the store's file may not grow any further", code, cause });
    case "MDB_MAP_FULL":
      return InfraError.transient({ operation, message: "the store has reached its size limit", code, cause });
    case "MDB_READERS_FULL":
      return InfraError.transient({
        operation,
        message: "more processes read the store than it has room for",
        code,
        cause,
      });
    case "MDB_PANIC":
      return InfraError.transient({
        operation,
        message: "a write to the disk failed before, and the store must be opened again",
        code,
        cause,
      });
    case "EIO":
      return InfraError.transient({ operation, message: "the disk failed", code, cause });
    case undefined:
    default:
      return InfraError.transient({ operation, message: "the engine of the store failed", code, cause });
  }
}

export function closedFailure(operation: LmdbOperation): InfraError {
  return InfraError.transient({ operation, message: "the store is closed" });
}

/** What was thrown at a write, or the reason of it where that is told separately. */
export async function reasonOf(thrown: unknown): Promise<unknown> {
  if (typeof thrown !== "object" || thrown === null || !("commitError" in thrown)) return thrown;
  try {
    await (thrown as FailedCommit).commitError;
    return thrown;
  } catch (reason) {
    return reason;
  }
}

/**
 * The reason, with a full disk called so.
 *
 * On a full disk a write ends short, which the engine can tell no more of than that the disk failed.
 */
export async function withFullDiskNamed(reason: unknown, folder: string): Promise<unknown> {
  if (codeOf(reason) !== "EIO" || !(await isDiskFull(folder))) return reason;
  return Object.assign(new Error("no space is left on the device", { cause: reason }), { code: "ENOSPC" });
}

/** Whether a disk has less than some bytes left. */
export async function isDiskFull(folder: string, fullBelow: number = FULL_BELOW): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize < fullBelow;
  } catch {
    return false;
  }
}
