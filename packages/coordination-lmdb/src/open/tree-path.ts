import type { FileHandle } from "node:fs/promises";
import { compareBytes } from "@gossip/stdx";

// The layout of a page, as far as it is checked here. Offsets of nodes count from the end of the header.
const PAGE_HEADER_SIZE = 24;
const FLAGS_AT = 18;
const LOWER_AT = 20;
const UPPER_AT = 22;
const NODE_HEADER_SIZE = 8;
const NODE_FLAGS_AT = 4;
const KEY_SIZE_AT = 6;
const IS_BRANCH = 1;
const IS_LEAF = 2;
const IS_OVERFLOW = 4;
const IN_OVERFLOW_PAGES = 1;
const VERSION_SIZE = 8;

/** Maximum depth: the engine refuses to go deeper. */
const MAX_DEPTH = 32;

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** A tree in the file of the engine. */
export interface Tree {
  readonly root: number;
  readonly pageSize: number;
  readonly pageCount: number;
}

/**
 * Whether the engine can read every page on the path to a key.
 *
 * The engine trusts its file. A page number or an offset outside of the file ends the process, which nothing can catch.
 * So the paths that opening a store takes are checked first. `verifyLmdbFolder` tries all others in a process of its
 * own.
 */
export async function isPathWalkable(file: FileHandle, tree: Tree, target: Uint8Array): Promise<boolean> {
  let page = tree.root;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const view = await readPage(file, tree, page);
    if (view === undefined) return false;
    const nodes = readNodes(view);
    if (nodes === undefined) return false;
    if ((flagsOf(view) & IS_LEAF) !== 0) return areValuesWithin(view, nodes, tree);
    page = childFor(view, nodes, target);
  }
  return false;
}

/** A page, if it has the right number and is a branch or a leaf. */
async function readPage(file: FileHandle, { pageSize, pageCount }: Tree, page: number): Promise<DataView | undefined> {
  if (page < 2 || page >= pageCount) return undefined;
  const bytes = new Uint8Array(pageSize);
  const { bytesRead } = await file.read(bytes, 0, pageSize, page * pageSize);
  const view = new DataView(bytes.buffer);
  if (bytesRead < pageSize || view.getBigUint64(0, IS_LITTLE_ENDIAN) !== BigInt(page)) return undefined;
  const kind = flagsOf(view) & (IS_BRANCH | IS_LEAF | IS_OVERFLOW);
  return kind === IS_BRANCH || kind === IS_LEAF ? view : undefined;
}

function flagsOf(view: DataView): number {
  return view.getUint16(FLAGS_AT, IS_LITTLE_ENDIAN);
}

/** The offsets of the nodes of a page; `undefined` if a node or its key lies outside of it. */
function readNodes(view: DataView): readonly number[] | undefined {
  const room = view.byteLength - PAGE_HEADER_SIZE;
  const lower = view.getUint16(LOWER_AT, IS_LITTLE_ENDIAN);
  const upper = view.getUint16(UPPER_AT, IS_LITTLE_ENDIAN);
  if (lower % 2 !== 0 || lower > upper || upper > room) return undefined;
  const nodes: number[] = [];
  for (let at = 0; at < lower; at += 2) {
    const node = view.getUint16(PAGE_HEADER_SIZE + at, IS_LITTLE_ENDIAN);
    if (node < upper || node + NODE_HEADER_SIZE > room) return undefined;
    const start = PAGE_HEADER_SIZE + node;
    if (start + NODE_HEADER_SIZE + keySizeOf(view, start) > view.byteLength) return undefined;
    nodes.push(start);
  }
  // A branch has at least two children, and a leaf at least one row.
  return nodes.length < ((flagsOf(view) & IS_BRANCH) !== 0 ? 2 : 1) ? undefined : nodes;
}

function keySizeOf(view: DataView, node: number): number {
  return view.getUint16(node + KEY_SIZE_AT, IS_LITTLE_ENDIAN);
}

/**
 * The child of a branch that contains `target`. The first node covers everything below the second, whatever its key.
 */
function childFor(view: DataView, nodes: readonly number[], target: Uint8Array): number {
  let chosen = nodes[0]!;
  for (const node of nodes.slice(1)) {
    const key = new Uint8Array(view.buffer, node + NODE_HEADER_SIZE, keySizeOf(view, node));
    if (compareBytes(key, target) > 0) break;
    chosen = node;
  }
  return view.getUint32(chosen, IS_LITTLE_ENDIAN) + view.getUint16(chosen + NODE_FLAGS_AT, IS_LITTLE_ENDIAN) * 2 ** 32;
}

/** Whether the values of a leaf lie within it, or within pages of the file. */
function areValuesWithin(view: DataView, nodes: readonly number[], { pageCount, pageSize }: Tree): boolean {
  return nodes.every((node) => {
    const size = view.getUint32(node, IS_LITTLE_ENDIAN);
    const value = node + NODE_HEADER_SIZE + keySizeOf(view, node);
    const flags = view.getUint16(node + NODE_FLAGS_AT, IS_LITTLE_ENDIAN);
    if ((flags & IN_OVERFLOW_PAGES) === 0)
      return flags === 0 && size >= VERSION_SIZE && value + size <= view.byteLength;
    if (value + 8 > view.byteLength) return false;
    const first = view.getBigUint64(value, IS_LITTLE_ENDIAN);
    return first >= 2n && first + BigInt(Math.ceil((size + PAGE_HEADER_SIZE) / pageSize)) <= BigInt(pageCount);
  });
}
