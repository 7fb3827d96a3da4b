import { constants } from "node:fs";
import { access, open, stat, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "@gossip/stdx";
import { isDiskFull } from "./lmdb-failure.ts";
import { RowKind, storeKey } from "./keyspace.ts";
import type { LmdbOpenError } from "./lmdb-open-error.ts";
import { isPathWalkable } from "./tree-path.ts";
import { walkInChild } from "./walk-in-child.ts";

const DATA_FILE = "data.mdb";
const LOCK_FILE = "lock.mdb";

// How a page of the engine's that says where everything is begins, and what of it we look at.
const META_SIZE = 160;
const FLAGS_AT = 18;
const MAGIC_AT = 24;
const VERSION_AT = 28;
const PAGE_SIZE_AT = 48;
/** Where the descriptions of the tree of free pages and of the tree of rows are, and what of each. */
const TREES_AT = [48, 96] as const;
const TREE_FLAGS = 4;
const PAGE_COUNTS = [8, 16, 24] as const;
const ENTRY_COUNT = 32;
const ROOT_PAGE = 40;
const TRANSACTION_AT = 152;
const IS_META = 8;
const HAS_VERSIONS = 0x100;
const MAGIC = 0xbeef_c0de;
const VERSION = 2;

const PAGE_SIZES: readonly number[] = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536];
/** What is read while a store is opened. */
const OPENING_READS = [/* @__PURE__ */ storeKey(RowKind.Format), /* @__PURE__ */ storeKey(RowKind.Unswept)];

/** How often to look again where something seems to be wrong. */
const RE_READS = 3;

/** Bytes that must be free for a folder to become a store. */
const NEEDED_SIZE = 256 * 1024;

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Whether there is a data file with something in it. */
export type FolderState = "Filled" | "Empty";

/**
 * Check that the engine can open a folder, before it tries.
 *
 * The driver uses freed memory when opening fails, and the engine ends the process when its file is too short or leads nowhere. Neither can be
 * caught. So what can be foreseen is found here. Throws what the system throws.
 */
export async function checkFolder(folder: string): Promise<Result<FolderState, LmdbOpenError>> {
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  await checkLockFile(join(folder, LOCK_FILE));
  const checked = await checkFile(join(folder, DATA_FILE), checkData);
  // Pages may change under this look while other processes write. The engine itself, in a process of its own, has the last word.
  const confirmed = isDamage(checked) ? await walkInChild(folder) : checked;
  if (confirmed !== undefined) return confirmed.ok ? ok("Filled") : confirmed;
  return (await isDiskFull(folder, NEEDED_SIZE)) ? err({ kind: "DiskFull" }) : ok("Empty");
}

function isDamage(checked: Result<void, LmdbOpenError> | undefined): boolean {
  return checked?.ok === false && checked.error.kind === "StoreDamaged";
}

/**
 * Throw unless the engine can open its lock file, or there is none yet.
 *
 * The file must never be opened here. The engine's locks on it belong to the whole process, and POSIX drops all of them as soon as the
 * process closes any descriptor of the file. The next process would then believe that it is alone.
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

/** Open the data file, on which the engine holds no locks, and check it. `undefined` if it is missing or empty. */
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
    // One that another process has just made, and is about to fill.
    return size === 0 ? undefined : await check(file);
  } finally {
    await file.close();
  }
}

async function checkData(file: FileHandle): Promise<Result<void, LmdbOpenError>> {
  let checked = await checkOnce(file);
  // Another process may write while we read, and then what was read may be of two moments.
  for (let again = 0; !checked.ok && again < RE_READS; again++) checked = await checkOnce(file);
  return checked;
}

async function checkOnce(file: FileHandle): Promise<Result<void, LmdbOpenError>> {
  const first = await readMeta(file, 0);
  if (first === undefined) return err({ kind: "NotAStore" });
  if (!PAGE_SIZES.includes(first.pageSize)) return err({ kind: "StoreDamaged" });
  const second = await readMeta(file, first.pageSize);
  // The engine goes by the one that was written last.
  const latest = second !== undefined && second.transaction > first.transaction ? second : first;
  // Our rows have versions. Opening a tree of rows that have none would mark it as one whose rows do.
  if (latest.entryCount > 0n && (latest.treeFlags & HAS_VERSIONS) === 0) return err({ kind: "NotAStore" });
  // At least. The engine does not write pages that it has taken and given back at once, so the last ones may be missing by right.
  const expected = latest.leastPages * latest.pageSize;
  // Only now: the file grows before what it says does.
  const { size } = await file.stat();
  if (size < expected) return err({ kind: "Truncated", size, expected });
  // The engine gives up on a file in which one of the two is not right, and the driver does not survive that.
  if (second === undefined || second.pageSize !== first.pageSize) return err({ kind: "StoreDamaged" });
  if (latest.entryCount === 0n) return ok();
  const tree = { root: latest.root, pageSize: latest.pageSize, pageCount: Math.floor(size / latest.pageSize) };
  for (const target of OPENING_READS)
    if (!(await isPathWalkable(file, tree, target))) return err({ kind: "StoreDamaged" });
  return ok();
}

interface Meta {
  readonly pageSize: number;
  readonly treeFlags: number;
  readonly entryCount: bigint;
  readonly root: number;
  /** The fewest pages that a file with these trees can have. */
  readonly leastPages: number;
  readonly transaction: bigint;
}

async function readMeta(file: FileHandle, at: number): Promise<Meta | undefined> {
  const bytes = new Uint8Array(META_SIZE);
  const { bytesRead } = await file.read(bytes, 0, META_SIZE, at);
  const view = new DataView(bytes.buffer);
  if (bytesRead < META_SIZE || (view.getUint16(FLAGS_AT, IS_LITTLE_ENDIAN) & IS_META) === 0) return undefined;
  if (view.getUint32(MAGIC_AT, IS_LITTLE_ENDIAN) !== MAGIC) return undefined;
  if ((view.getUint32(VERSION_AT, IS_LITTLE_ENDIAN) & 0xffff) !== VERSION) return undefined;
  return {
    pageSize: view.getUint32(PAGE_SIZE_AT, IS_LITTLE_ENDIAN),
    treeFlags: view.getUint16(TREES_AT[1] + TREE_FLAGS, IS_LITTLE_ENDIAN),
    entryCount: view.getBigUint64(TREES_AT[1] + ENTRY_COUNT, IS_LITTLE_ENDIAN),
    root: Number(view.getBigUint64(TREES_AT[1] + ROOT_PAGE, IS_LITTLE_ENDIAN)),
    leastPages: countLeastPages(view),
    transaction: view.getBigUint64(TRANSACTION_AT, IS_LITTLE_ENDIAN),
  };
}

/** Two pages like this one and those of the trees; and as many as the numbers of the trees' roots say. */
function countLeastPages(view: DataView): number {
  let pages = 2;
  let last = 1;
  for (const tree of TREES_AT) {
    if (view.getBigUint64(tree + ENTRY_COUNT, IS_LITTLE_ENDIAN) === 0n) continue;
    for (const count of PAGE_COUNTS) pages += Number(view.getBigUint64(tree + count, IS_LITTLE_ENDIAN));
    last = Math.max(last, Number(view.getBigUint64(tree + ROOT_PAGE, IS_LITTLE_ENDIAN)));
  }
  return Math.max(pages, last + 1);
}
