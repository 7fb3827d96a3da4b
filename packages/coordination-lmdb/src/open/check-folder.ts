import { constants } from "node:fs";
import { access, open, stat, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "@gossip/stdx";
import { isDiskFull } from "../engine/lmdb-failure.ts";
import { RowKind, storeKey } from "../layout/keyspace.ts";
import type { LmdbOpenError } from "./lmdb-open-error.ts";
import { hasLatestCommit, PAGE_SIZES, readMetas, type Meta } from "./meta-pages.ts";
import { isPathWalkable } from "./tree-path.ts";
import { walkInChild } from "../inspect/walk-in-child.ts";

const DATA_FILE = "data.mdb";
const LOCK_FILE = "lock.mdb";

/** The rows that opening a store reads. */
const OPENING_READS = [/* @__PURE__ */ storeKey(RowKind.Format), /* @__PURE__ */ storeKey(RowKind.Unswept)];

/** How often to read again if something seems wrong. */
const RE_READS = 3;

/** Bytes that must be free for a folder to become a store. */
const NEEDED_SIZE = 256 * 1024;

/** Whether the data file exists and is not empty. */
export type FolderState = "Filled" | "Empty";

/**
 * Checks that the engine can open a folder, before it tries.
 *
 * The driver uses freed memory if opening fails, and the engine ends the process if its file is too short or has
 * invalid page numbers, or is no file at all, but a pipe or a device. None of it can be caught, so it is checked here.
 * Throws what the system throws.
 */
export async function checkFolder(folder: string): Promise<Result<FolderState, LmdbOpenError>> {
  if (!(await hasOnlyFiles(folder))) return err({ kind: "NotAStore" });
  const checked = await checkFile(join(folder, DATA_FILE), checkData);
  // Pages may change during the check while other processes write. The engine decides, in a process of its own.
  const confirmed = isDamage(checked) ? await walkInChild(folder) : checked;
  if (confirmed === undefined) return (await hasRoom(folder)) ? ok("Empty") : err({ kind: "DiskFull" });
  if (!confirmed.ok) return confirmed;
  const complete = confirmed === checked ? await checkComplete(folder) : ok();
  if (!complete.ok) return complete;
  const latest = await checkFile(join(folder, DATA_FILE), checkLatest);
  return latest?.ok === false ? latest : ok("Filled");
}

/**
 * Checks that no page is missing at the end of the file. Reading one would end the process.
 *
 * A page that was freed before it was written may be missing. Only the engine knows which pages are free.
 */
async function checkComplete(folder: string): Promise<Result<void, LmdbOpenError>> {
  const sized = (await checkFile(join(folder, DATA_FILE), checkSize)) ?? ok();
  if (sized.ok) return sized;
  const walked = await walkInChild(folder);
  return isDamage(walked) ? sized : walked;
}

/**
 * Checks that the engine can open a folder whose file has no rows, or is missing. Returns `undefined` if it seems
 * damaged; another process may also be making it. Throws what the system throws.
 */
export async function checkEmptyFile(folder: string): Promise<Result<FolderState, LmdbOpenError> | undefined> {
  if (!(await hasOnlyFiles(folder))) return undefined;
  const checked = await checkFile(join(folder, DATA_FILE), checkEmpty);
  if (checked !== undefined) return checked.ok ? ok("Filled") : undefined;
  return (await hasRoom(folder)) ? ok("Empty") : err({ kind: "DiskFull" });
}

async function checkEmpty(file: FileHandle): Promise<Result<void, LmdbOpenError>> {
  const checked = await checkOnce(file);
  if (!checked.ok) return checked;
  const { first, second } = await readMetas(file);
  const isEmpty = first?.entryCount === 0n && second?.entryCount === 0n;
  return isEmpty ? ok() : err({ kind: "NotAStore" });
}

/** Whether what the engine opens are files, or missing. Throws if this process may not write to them. */
async function hasOnlyFiles(folder: string): Promise<boolean> {
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  for (const name of [LOCK_FILE, DATA_FILE]) if (!(await mayBeFile(join(folder, name)))) return false;
  await checkLockFile(join(folder, LOCK_FILE));
  return true;
}

async function hasRoom(folder: string): Promise<boolean> {
  return !(await isDiskFull(folder, NEEDED_SIZE));
}

function isDamage(checked: Result<void, LmdbOpenError> | undefined): boolean {
  return checked?.ok === false && checked.error.kind === "StoreDamaged";
}

/**
 * Whether something is a file or a link to one, or does not exist. A folder passes: the system names its own error when
 * it is opened. Opens nothing: to open a pipe or a device may wait, or change it.
 */
async function mayBeFile(path: string): Promise<boolean> {
  try {
    const found = await stat(path);
    return found.isFile() || found.isDirectory();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") throw thrown;
    return true;
  }
}

/**
 * Throws unless the engine can open its lock file, or the file does not exist yet.
 *
 * Never open the file here. The locks of the engine on it belong to the whole process, and POSIX drops all of them when
 * the process closes any descriptor of the file. The next process would then believe that it is alone.
 */
async function checkLockFile(path: string): Promise<void> {
  try {
    await access(path, constants.R_OK | constants.W_OK);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") throw thrown;
    return;
  }
  if ((await stat(path)).isDirectory()) throw Object.assign(new Error("the lock file is a folder"), { code: "EISDIR" });
}

/**
 * Opens the data file, on which the engine holds no locks, and checks it. Returns `undefined` if it is missing or
 * empty.
 */
async function checkFile(
  path: string,
  check: (file: FileHandle) => Promise<Result<void, LmdbOpenError>>,
): Promise<Result<void, LmdbOpenError> | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, "r+");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
  try {
    const { size } = await file.stat();
    // Another process has just created it.
    return size === 0 ? undefined : await check(file);
  } finally {
    await file.close();
  }
}

async function checkData(file: FileHandle): Promise<Result<void, LmdbOpenError>> {
  let checked = await checkOnce(file);
  // Another process may write during the check, which then sees two commits.
  for (let again = 0; !checked.ok && again < RE_READS; again++) checked = await checkOnce(file);
  return checked;
}

/** Whether the file has all pages that were given out. */
async function checkSize(file: FileHandle): Promise<Result<void, LmdbOpenError>> {
  const { first, second } = await readMetas(file);
  // Read the size last: the file grows before its meta pages change.
  const { size } = await file.stat();
  if (first === undefined) return ok();
  const { givenPages, pageSize } = latestOf(first, second);
  const expected = givenPages * pageSize;
  return size < expected ? err({ kind: "Truncated", size, expected }) : ok();
}

/** The meta page that the engine uses: the one that was written last. */
function latestOf(first: Meta, second: Meta | undefined): Meta {
  return second !== undefined && second.transaction > first.transaction ? second : first;
}

/** The engine opens an older commit without an error, so it cannot decide here. */
async function checkLatest(file: FileHandle): Promise<Result<void, LmdbOpenError>> {
  return (await hasLatestCommit(file)) ? ok() : err({ kind: "StoreDamaged" });
}

async function checkOnce(file: FileHandle): Promise<Result<void, LmdbOpenError>> {
  const { first, second } = await readMetas(file);
  if (first === undefined) return err({ kind: "NotAStore" });
  if (!PAGE_SIZES.includes(first.pageSize)) return err({ kind: "StoreDamaged" });
  const latest = latestOf(first, second);
  // Rows of this store have versions. Opening a tree without versions would mark it as one with versions.
  if (latest.entryCount > 0n && !latest.hasVersions) return err({ kind: "NotAStore" });
  // At least: the engine does not write pages that it allocated and freed in the same transaction.
  const expected = latest.leastPages * latest.pageSize;
  // Read the size last: the file grows before its meta pages change.
  const { size } = await file.stat();
  if (size < expected) return err({ kind: "Truncated", size, expected });
  // The engine refuses a file with one bad meta page, and the driver does not survive that.
  if (second === undefined || second.pageSize !== first.pageSize) return err({ kind: "StoreDamaged" });
  if (latest.entryCount === 0n) return ok();
  const tree = { root: latest.roots[1], pageSize: latest.pageSize, pageCount: Math.floor(size / latest.pageSize) };
  for (const target of OPENING_READS)
    if (!(await isPathWalkable(file, tree, target))) return err({ kind: "StoreDamaged" });
  return ok();
}
