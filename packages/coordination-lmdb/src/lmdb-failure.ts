import { statfs } from "node:fs/promises";
import { InfraError } from "@gossip/coordination-errors";
import { codeOf, isCorruption } from "./engine-codes.ts";

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
  | "lmdb.listNotes"
  | "lmdb.countNotes"
  | "lmdb.commit"
  | "lmdb.sweep"
  | "lmdb.inspect"
  | "lmdb.repair";

/** What is thrown at a failed write may be only the news of it: the reason then comes separately. */
interface FailedCommit {
  readonly commitError: Promise<unknown>;
}

/** Below this many free bytes a disk is full: a page of the tree no longer fits with what the file system needs for itself. */
const FULL_BELOW = 64 * 1024;

/** The `InfraError` for what the driver threw. */
export function failureFrom(operation: LmdbOperation, cause: unknown): InfraError {
  const code = codeOf(cause);
  if (isCorruption(cause)) {
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
