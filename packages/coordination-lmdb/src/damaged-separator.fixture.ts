import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase, PAGE_SIZE } from "./engine/open-database.ts";
import { endOf, type RowKind, RUN_KEY_SIZE } from "./layout/keyspace.ts";

// The layout of a page. Offsets of nodes count from the end of the header.
const PAGE_HEADER_SIZE = 24;
const FLAGS_AT = 18;
const LOWER_AT = 20;
const NODE_HEADER_SIZE = 8;
const KEY_SIZE_AT = 6;
const IS_BRANCH = 1;
const IS_LEAF = 2;
const NODE_FLAGS_AT = 4;
const HAS_DUPLICATES = 4;

/**
 * Flips one bit of a key that separates two pages of a closed store, so that a search for what follows some run finds
 * a row of that run again, while a walk from row to row sees nothing. Tries the separators among the rows of a kind, and
 * returns whether one leads such a search astray; otherwise the file stays as it was.
 */
export async function damageSeparator(folder: string, kind: RowKind): Promise<boolean> {
  const path = join(folder, "data.mdb");
  const whole = await readFile(path);
  for (const at of separatorsIn(whole).filter((key) => whole[key] === kind)) {
    const copy = Buffer.from(whole);
    // The separator then follows all rows of the kind.
    copy[at]! ^= 1 << trailingZeros(~kind);
    await writeFile(path, copy);
    if (await isSearchAstray(folder, kind)) return true;
  }
  await writeFile(path, whole);
  return false;
}

/** Where the keys of branch pages begin. The first key of a page is not used. */
function separatorsIn(file: Buffer): number[] {
  const found: number[] = [];
  for (let page = 2 * PAGE_SIZE; page < file.length; page += PAGE_SIZE) {
    // The engine is used on machines with either order of bytes; this fixture only on those with the lower byte first.
    if (file.readBigUInt64LE(page) !== BigInt(page / PAGE_SIZE) || file.readUInt16LE(page + FLAGS_AT) !== IS_BRANCH)
      continue;
    const lower = file.readUInt16LE(page + LOWER_AT);
    for (let at = 2; at < lower; at += 2) {
      const node = page + PAGE_HEADER_SIZE + file.readUInt16LE(page + PAGE_HEADER_SIZE + at);
      if (file.readUInt16LE(node + KEY_SIZE_AT) >= RUN_KEY_SIZE) found.push(node + NODE_HEADER_SIZE);
    }
  }
  return found;
}

/** Whether the engine returns a key that is below the start of a range. */
async function isSearchAstray(folder: string, kind: RowKind): Promise<boolean> {
  const db = openDatabase(folder, "Written");
  try {
    const range = { start: Buffer.of(kind), end: Buffer.of(kind + 1) };
    for (const key of db.getKeys(range)) {
      const start = endOf(Buffer.from(key.subarray(0, RUN_KEY_SIZE)));
      for (const next of db.getKeys({ ...range, start, limit: 1 })) if (Buffer.compare(next, start) < 0) return true;
    }
    return false;
  } finally {
    await db.close();
  }
}

function trailingZeros(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

/** Gives the last row of a kind, in every page of a closed store that ends with one, a flag that no row of a store has. */
export async function damageFlags(folder: string, kind: RowKind): Promise<void> {
  const path = join(folder, "data.mdb");
  const file = await readFile(path);
  for (let page = 2 * PAGE_SIZE; page < file.length; page += PAGE_SIZE) {
    if (file.readBigUInt64LE(page) !== BigInt(page / PAGE_SIZE) || file.readUInt16LE(page + FLAGS_AT) !== IS_LEAF)
      continue;
    const last =
      page + PAGE_HEADER_SIZE + file.readUInt16LE(page + PAGE_HEADER_SIZE - 2 + file.readUInt16LE(page + LOWER_AT));
    if (file[last + NODE_HEADER_SIZE] === kind) file[last + NODE_FLAGS_AT]! |= HAS_DUPLICATES;
  }
  await writeFile(path, file);
}
