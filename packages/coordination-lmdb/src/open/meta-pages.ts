import type { FileHandle } from "node:fs/promises";

// The engine's two meta pages, as far as they are checked here. A commit writes one of them, in turn.
const META_SIZE = 160;
const FLAGS_AT = 18;
const MAGIC_AT = 24;
const VERSION_AT = 28;
const PAGE_SIZE_AT = 48;
/** Where the tree of free pages and the tree of rows are described, and the offsets within a description. */
const TREES_AT = [48, 96] as const;
const TREE_FLAGS = 4;
const PAGE_COUNTS = [8, 16, 24] as const;
const ENTRY_COUNT = 32;
const ROOT_PAGE = 40;
const LAST_PAGE_AT = 144;
const TRANSACTION_AT = 152;
const IS_META = 8;
const HAS_VERSIONS = 0x100;
const MAGIC = 0xbeef_c0de;
const VERSION = 2;
/** The root page of an empty tree. */
const NO_PAGE = 2n ** 64n - 1n;
/** Where a page of a tree has the number of the commit that wrote it. */
const WRITTEN_BY_AT = 8;

export const PAGE_SIZES: readonly number[] = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536];

/** How often to read the pages again while other processes commit. */
const MAX_READS = 4;

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

export interface Meta {
  readonly pageSize: number;
  readonly hasVersions: boolean;
  readonly entryCount: bigint;
  /** The root pages of the tree of free pages and of the tree of rows; `NaN` for an empty tree. */
  readonly roots: readonly [number, number];
  /** The fewest pages that a file with these trees can have. */
  readonly leastPages: number;
  /** The pages that were given out. The file may lack some at its end that were freed before they were written. */
  readonly givenPages: number;
  /** The number of the commit that wrote the page. */
  readonly transaction: bigint;
}

export interface MetaPages {
  readonly first: Meta | undefined;
  readonly second: Meta | undefined;
}

/** Read both meta pages. One that is not a meta page is `undefined`. */
export async function readMetas(file: FileHandle): Promise<MetaPages> {
  const first = await readMeta(file, 0);
  const isSized = first !== undefined && PAGE_SIZES.includes(first.pageSize);
  return { first, second: isSized ? await readMeta(file, first.pageSize) : undefined };
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
    hasVersions: (view.getUint16(TREES_AT[1] + TREE_FLAGS, IS_LITTLE_ENDIAN) & HAS_VERSIONS) !== 0,
    entryCount: view.getBigUint64(TREES_AT[1] + ENTRY_COUNT, IS_LITTLE_ENDIAN),
    roots: [rootOf(view, TREES_AT[0]), rootOf(view, TREES_AT[1])],
    leastPages: countLeastPages(view),
    givenPages: Number(view.getBigUint64(LAST_PAGE_AT, IS_LITTLE_ENDIAN)) + 1,
    transaction: view.getBigUint64(TRANSACTION_AT, IS_LITTLE_ENDIAN),
  };
}

function rootOf(view: DataView, tree: number): number {
  const root = view.getBigUint64(tree + ROOT_PAGE, IS_LITTLE_ENDIAN);
  return root === NO_PAGE ? Number.NaN : Number(root);
}

/** The meta pages and the pages of the trees, or more if the root of a tree has a higher number. */
function countLeastPages(view: DataView): number {
  let pages = 2;
  let last = 1;
  for (const tree of TREES_AT) {
    if (view.getBigUint64(tree + ENTRY_COUNT, IS_LITTLE_ENDIAN) === 0n) continue;
    for (const count of PAGE_COUNTS) pages += Number(view.getBigUint64(tree + count, IS_LITTLE_ENDIAN));
    last = Math.max(last, rootOf(view, tree));
  }
  return Math.max(pages, last + 1);
}

/**
 * Whether the meta page that the engine will go by is that of the latest commit.
 *
 * The engine opens the page with the higher number. A flipped bit in one of the numbers can make it open the commit before the last one, which
 * is consistent: acknowledged writes are then gone, and nothing else shows it. It can be detected because:
 *
 * - Even commits write the first page and odd ones the second, so the numbers are neighbors.
 * - Every commit writes the root of a tree, and a page of a tree has the number of the commit that wrote it.
 *
 * A file with an unused meta page is new or a compacted copy, which only the next commit makes fit these rules.
 */
export async function hasLatestCommit(file: FileHandle): Promise<boolean> {
  let before = await readMetas(file);
  for (let read = 0; read < MAX_READS; read++) {
    const isLatest = await areLatest(file, before);
    const after = await readMetas(file);
    // Commits of other processes in between make any combination possible.
    if (isLatest || haveSameNumbers(before, after)) return isLatest;
    before = after;
  }
  return true;
}

async function areLatest(file: FileHandle, { first, second }: MetaPages): Promise<boolean> {
  if (first === undefined || second === undefined) return false;
  const [even, odd] = [first.transaction, second.transaction];
  if (even === 0n || odd === 0n) return true;
  if (even % 2n !== 0n || odd % 2n !== 1n || (even - odd !== 1n && odd - even !== 1n)) return false;
  const [older, latest] = even < odd ? [first, second] : [second, first];
  const [writtenBy, olderWrittenBy] = [await lastWriteOf(file, latest), await lastWriteOf(file, older)];
  if (olderWrittenBy !== undefined && olderWrittenBy > older.transaction) return false;
  return writtenBy === undefined || writtenBy === latest.transaction;
}

function haveSameNumbers(a: MetaPages, b: MetaPages): boolean {
  return a.first?.transaction === b.first?.transaction && a.second?.transaction === b.second?.transaction;
}

/** The number of the last commit that wrote the root of a tree; `undefined` if both trees are empty. */
async function lastWriteOf(file: FileHandle, { roots, pageSize }: Meta): Promise<bigint | undefined> {
  let last: bigint | undefined;
  for (const root of roots) {
    if (Number.isNaN(root)) continue;
    const bytes = new Uint8Array(8);
    await file.read(bytes, 0, bytes.length, root * pageSize + WRITTEN_BY_AT);
    const writtenBy = new DataView(bytes.buffer).getBigUint64(0, IS_LITTLE_ENDIAN);
    if (last === undefined || writtenBy > last) last = writtenBy;
  }
  return last;
}
