import { statfs } from "node:fs/promises";
import { InfraError } from "@gossip/coordination-errors";
import type { StoreOperation } from "@gossip/store-kit";
import { codeOf, isCorruption } from "./engine-codes.ts";

/** What a store was doing when it failed. */
export type LmdbOperation = StoreOperation<"lmdb">;

/** The driver may reject a write with only the fact that it failed. The reason then has a promise of its own. */
interface FailedCommit {
  readonly commitError: Promise<unknown>;
}

/** A disk with fewer free bytes is full: a page of the tree no longer fits beside what the file system needs for itself. */
const FULL_BELOW = 64 * 1024;

/** The `InfraError` for what the driver threw. */
export function failureFrom(operation: LmdbOperation, cause: unknown): InfraError {
  const code = codeOf(cause);
  if (isCorruption(cause)) {
    return InfraError.corruption({ operation, message: "the store's file contradicts itself", code, cause });
  }
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
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

/** The reason why a write failed, which may have a promise of its own. */
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
 * The reason, or `ENOSPC` if the disk is full.
 *
 * On a full disk a write is cut short, which the engine reports as a failure of the disk.
 */
export async function withFullDiskNamed(reason: unknown, folder: string): Promise<unknown> {
  if (codeOf(reason) !== "EIO" || !(await isDiskFull(folder))) return reason;
  return Object.assign(new Error("no space is left on the device", { cause: reason }), { code: "ENOSPC" });
}

/** Whether a disk has less than `fullBelow` bytes left. */
export async function isDiskFull(folder: string, fullBelow: number = FULL_BELOW): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize < fullBelow;
  } catch {
    return false;
  }
}
